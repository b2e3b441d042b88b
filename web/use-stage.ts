// Ties the stage to the browser's history: each stage is an entry at the same address, so Back and
// Forward move between stages and a reload comes back to the one that was shown.
import { useEffect, useEffectEvent, useReducer, useRef } from 'react';

import { keepEntry } from '#web/kept-entry.ts';
import { INITIAL_STATE, stageReducer, type Stage, type StageEvent, type StageState } from '#web/stage.ts';
import { withTransition } from '#web/stage-transition.ts';

const STAGES: readonly string[] = ['landing', 'form', 'verification', 'content'] satisfies Stage[];

type HistoryEntry = { readonly stage: Stage; readonly challengeId: string | null };

/** The state in an entry of the browser's history; the landing page where the entry is not ours. */
function readEntry(state: unknown): HistoryEntry {
  if (typeof state === 'object' && state !== null && 'stage' in state && isStage(state.stage)) {
    const challengeId =
      'challengeId' in state && typeof state.challengeId === 'string' ? state.challengeId : null;
    return { stage: state.stage, challengeId };
  }
  return { stage: 'landing', challengeId: null };
}

const isStage = (value: unknown): value is Stage => typeof value === 'string' && STAGES.includes(value);

const entryOf = (state: StageState): HistoryEntry => ({
  stage: state.stage,
  challengeId: state.waiting?.challenge.id ?? ('challengeId' in state ? state.challengeId : null),
});

/**
 * The state a page starts with: the landing page, or after a reload the stage that was shown. A code screen is
 * restored from the server (verification/restoring.tsx); nothing is sent again.
 */
export function initialStageState(): StageState {
  const entry = readEntry(history.state);
  // From here on every entry that is a stage of ours says so; one that does not is a link within the page.
  history.replaceState({ ...(history.state as object | null), ...entry }, '');
  return stageReducer(INITIAL_STATE, { type: 'history moved', ...entry });
}

/** From the landing page to the form, before anything is shown: for a press that was made before there was an application. */
export function formStageState(): StageState {
  const next = stageReducer(INITIAL_STATE, { type: 'call to action pressed' });
  history.pushState(entryOf(next), '');
  return next;
}

export type StageControl = {
  readonly state: StageState;
  readonly send: (event: StageEvent) => void;
  /** Whether another stage was shown before this one. */
  readonly hasMoved: () => boolean;
};

/** The stage and how to change it. */
export function useStage(initial: StageState): StageControl {
  const [state, dispatch] = useReducer(stageReducer, initial);
  const moved = useRef(false);
  // Answers come at their own time: what they change is the state of then, not the one they were asked in.
  const latest = useRef(state);
  useEffect(() => {
    latest.current = state;
    keepEntry(state.stage === 'verification' || state.stage === 'content' ? entryOf(state) : null);
  }, [state]);

  // The state that a fade will show once it begins. Later changes start from it, or the fade would undo them.
  const unshown = useRef<StageEvent | null>(null);
  const catchUp = () => {
    const event = unshown.current;
    unshown.current = null;
    if (event) dispatch(event);
  };

  const onPopState = useEffectEvent((event: PopStateEvent) => {
    catchUp();
    if (event.state === null) {
      // A link such as "#" was followed: the same stage, one entry further.
      history.replaceState(entryOf(latest.current), '');
      return;
    }
    moved.current = true;
    dispatch({ type: 'history moved', ...readEntry(event.state) });
  });
  useEffect(() => {
    window.addEventListener('popstate', onPopState);
    return () => window.removeEventListener('popstate', onPopState);
  }, []);

  const send = (event: StageEvent): void => {
    catchUp();
    const current = latest.current;
    const next = stageReducer(current, event);
    // A used code screen is not worth coming back to, so the article takes its place.
    const inPlace =
      next.stage === current.stage || event.type === 'code verified' || event.type === 'restored';
    if (inPlace) history.replaceState({ ...(history.state as object | null), ...entryOf(next) }, '');
    else history.pushState(entryOf(next), '');
    moved.current = true;
    // Before it is shown, which a fade puts off: a second press means what the first one leads to.
    latest.current = next;
    // The visitor has waited for the article: a fade would prolong the wait.
    if (next.stage === current.stage || next.stage === 'content') dispatch(event);
    else {
      unshown.current = event;
      withTransition(catchUp);
    }
  };
  return { state, send, hasMoved: () => moved.current };
}
