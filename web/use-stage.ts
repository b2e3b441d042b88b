// Connects the stage to the browser's history: each stage is an entry with the same URL.
import { useEffect, useEffectEvent, useReducer, useRef } from 'react';
import { flushSync } from 'react-dom';

import * as site from '#campaign/site.yaml';
import { keepEntry } from '#web/kept-entry.ts';
import { INITIAL_STATE, stageReducer, type Stage, type StageEvent, type StageState } from '#web/stage.ts';
import { goTo } from '#web/ui/go-to.ts';

/**
 * The operator's links, below the page and after the article. The build checks that one such as "#questions" leads to a section.
 */
const SITE_LINKS = [...site.footerLinks, site.readOn];

/**
 * Returns the history entry's stage and stores it there; an entry without a stage becomes the landing page. The server restores
 * code screens (verification/restoring.tsx).
 */
export function initialStageState(): StageState {
  const entry = readEntry(history.state);
  // From now on, an entry without a stage comes from a link within the page.
  history.replaceState({ ...(history.state as object | null), ...entry }, '');
  return stageReducer(INITIAL_STATE, { type: 'history moved', ...entry });
}

/** For a press of the call to action before the application ran (entry-client.tsx). */
export function openFormStage(): StageState {
  const next = stageReducer(INITIAL_STATE, { type: 'call to action pressed' });
  history.pushState(entryOf(next), '');
  return next;
}

export function useStage(initial: StageState) {
  const [state, dispatch] = useReducer(stageReducer, initial);
  // True if the visitor has been at another stage or entry. If so, the landing page restores its focus and scroll position
  // (useReturnFocus).
  const moved = useRef(false);
  // The state, or the one that a pending event leads to. For handlers of responses, which may have been created in an earlier
  // state.
  const latest = useRef(state);
  useEffect(() => {
    latest.current = state;
    // Code screens and articles survive a failed reload (kept-entry.ts).
    keepEntry(state.stage === 'verification' || state.stage === 'content' ? entryOf(state) : null);
  }, [state]);

  // The event that a fade applies once it begins. A later event applies it first, or the fade would undo the later event.
  const pendingEvent = useRef<StageEvent | null>(null);
  const applyPending = () => {
    const event = pendingEvent.current;
    pendingEvent.current = null;
    if (event) dispatch(event);
  };

  const onPopState = useEffectEvent((event: PopStateEvent) => {
    applyPending();
    if (event.state === null) {
      // A link within the page was pressed. The sections of the operator's links exist only on the landing page, which is
      // rendered first if another stage is shown.
      const section = () => document.getElementById(location.hash.slice(1));
      const leadsToLanding = SITE_LINKS.some((link) => link?.href === location.hash) && section() === null;
      if (leadsToLanding) {
        // Otherwise, useReturnFocus would scroll.
        moved.current = false;
        flushSync(() => dispatch({ type: 'history moved', stage: 'landing' }));
      }
      // flushSync has also run the effect that sets `latest`.
      history.replaceState(entryOf(latest.current), '');
      const target = leadsToLanding ? section() : null;
      if (target) goTo(target);
      return;
    }
    moved.current = true;
    const move = { type: 'history moved', ...readEntry(event.state) } as const;
    // The code screen of an earlier address shows the corrected one, and a reload must show it again.
    history.replaceState({ ...(event.state as object), ...entryOf(stageReducer(latest.current, move)) }, '');
    dispatch(move);
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
    const replacesEntry =
      next.stage === current.stage || event.type === 'code verified' || event.type === 'restored';
    if (replacesEntry) history.replaceState({ ...(history.state as object | null), ...entryOf(next) }, '');
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

/** While a code screen is being restored, the state contains only the challenge's ID. */
const entryOf = (state: StageState): HistoryEntry => ({
  stage: state.stage,
  challengeId: state.waiting?.challenge.id ?? ('challengeId' in state ? state.challengeId : null),
});

/**
 * Runs an update with a fade, unless the browser lacks view transitions or the visitor prefers reduced motion. Only for presses,
 * because on Back and Forward, browsers restore the scroll position themselves.
 */
function withTransition(update: () => void): void {
  if (
    !('startViewTransition' in document) ||
    matchMedia('(prefers-reduced-motion:reduce)').matches ||
    // boot.ts is replaying the press of a busy button, for which the visitor has waited long enough.
    document.querySelector('[aria-busy]') !== null
  ) {
    update();
    return;
  }
  // Browsers refuse it for a hidden page, but still run the update.
  document.startViewTransition(() => flushSync(update)).ready.catch(() => {});
}
