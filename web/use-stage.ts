// Connects the stage to the browser's history: each stage is an entry with the same URL.
import { useEffect, useEffectEvent, useReducer, useRef } from 'react';
import { flushSync } from 'react-dom';

import * as site from '#campaign/site.yaml';
import { keepEntry } from '#web/kept-entry.ts';
import { INITIAL_STATE, stageReducer, type Stage, type StageEvent, type StageState } from '#web/stage.ts';
import { goTo } from '#web/ui/go-to.ts';

/** The build checks that links such as "#questions" lead to a section of the landing page. */
const LINKS = [...site.footerLinks, site.readOn];

/** Returns the landing page, or after a reload the previous stage. The server restores code screens (verification/restoring.tsx). */
export function initialStageState(): StageState {
  const entry = readEntry(history.state);
  // From now on, an entry without a stage comes from a link within the page.
  history.replaceState({ ...(history.state as object | null), ...entry }, '');
  return stageReducer(INITIAL_STATE, { type: 'history moved', ...entry });
}

export function formStageState(): StageState {
  const next = stageReducer(INITIAL_STATE, { type: 'call to action pressed' });
  history.pushState(entryOf(next), '');
  return next;
}

export function useStage(initial: StageState) {
  const [state, dispatch] = useReducer(stageReducer, initial);
  const moved = useRef(false);
  // Responses change the current state, not the one at the time of the request.
  const latest = useRef(state);
  useEffect(() => {
    latest.current = state;
    keepEntry(state.stage === 'verification' || state.stage === 'content' ? entryOf(state) : null);
  }, [state]);

  // The event of a fade that has not begun. It is applied before any later event, which the fade would otherwise undo.
  const pendingEvent = useRef<StageEvent | null>(null);
  const applyPending = () => {
    const event = pendingEvent.current;
    pendingEvent.current = null;
    if (event) dispatch(event);
  };

  const onPopState = useEffectEvent((event: PopStateEvent) => {
    applyPending();
    if (event.state === null) {
      // A link such as "#" adds an entry within the same stage. Only the landing page has the sections of the operator's links.
      const section = () => document.getElementById(location.hash.slice(1));
      const leadsToLanding = LINKS.some((link) => link?.href === location.hash) && section() === null;
      if (leadsToLanding) {
        // Otherwise, the landing page would scroll to its top.
        moved.current = false;
        flushSync(() => dispatch({ type: 'history moved', stage: 'landing' }));
      }
      history.replaceState(entryOf(latest.current), '');
      const target = leadsToLanding ? section() : null;
      if (target) goTo(target);
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
    applyPending();
    const current = latest.current;
    const next = stageReducer(current, event);
    // Nobody needs to return to a used code screen, so the article replaces it.
    const inPlace =
      next.stage === current.stage || event.type === 'code verified' || event.type === 'restored';
    if (inPlace) history.replaceState({ ...(history.state as object | null), ...entryOf(next) }, '');
    else history.pushState(entryOf(next), '');
    moved.current = true;
    // Set before the fade, so a second press sees the new stage.
    latest.current = next;
    // A fade would prolong the wait for the article.
    if (next.stage === current.stage || next.stage === 'content') dispatch(event);
    else {
      pendingEvent.current = event;
      withTransition(applyPending);
    }
  };
  return { state, send, hasMoved: () => moved.current };
}

type HistoryEntry = { readonly stage: Stage; readonly challengeId: string | null };

const STAGES: readonly string[] = ['landing', 'form', 'verification', 'content'] satisfies Stage[];

function readEntry(state: unknown): HistoryEntry {
  const { stage, challengeId } = (state ?? {}) as Readonly<Record<string, unknown>>;
  if (!isStage(stage)) return { stage: 'landing', challengeId: null };
  return { stage, challengeId: typeof challengeId === 'string' ? challengeId : null };
}

const isStage = (value: unknown): value is Stage => typeof value === 'string' && STAGES.includes(value);

const entryOf = (state: StageState): HistoryEntry => ({
  stage: state.stage,
  challengeId: state.waiting?.challenge.id ?? ('challengeId' in state ? state.challengeId : null),
});

/**
 * Changes the stage with a fade, unless the browser lacks view transitions or the visitor prefers reduced motion. Use it only for presses:
 * on Back and Forward, browsers restore the scroll position themselves.
 */
function withTransition(update: () => void): void {
  if (
    !('startViewTransition' in document) ||
    matchMedia('(prefers-reduced-motion:reduce)').matches ||
    // An early press, replayed by boot.ts, has waited long enough.
    document.querySelector('[aria-busy]') !== null
  ) {
    update();
    return;
  }
  // Browsers refuse it for a hidden page, but still run the update.
  document.startViewTransition(() => flushSync(update)).ready.catch(() => {});
}
