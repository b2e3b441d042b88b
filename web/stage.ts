// Which screen the page shows, and what it remembers for it. A plain reducer: what the browser's history has to do
// with it is in use-stage.ts.
import type { CodeRequested, OpenChallenge } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { RESEND_COUNTDOWN_SECONDS } from '#shared/limits.ts';

/** Specification, section 2: the page holds one of these. */
export type Stage = 'landing' | 'form' | 'verification' | 'content';

/** The code a visitor is waiting for. */
export type Challenge = {
  readonly id: string;
  /** Null when the server's answer named none. */
  readonly reference: string | null;
  /** When another code may be asked for; milliseconds since 1970. */
  readonly resendAt: number;
  /** When this code was asked for; milliseconds since 1970. */
  readonly askedAt: number;
  /** The wording that stood beside the box when it was ticked, for a resend; empty when none was stated. */
  readonly consentVersion: string;
};

export type StageState = {
  readonly stage: Stage;
  /** What was submitted last. Kept until Back leaves the article. */
  readonly lead: Lead | null;
  readonly challenge: Challenge | null;
};

export type StageEvent =
  | { readonly type: 'call to action pressed' }
  /** The server took the form, or took it again from the code screen. */
  | { readonly type: 'code requested'; readonly lead: Lead; readonly challenge: Challenge }
  | { readonly type: 'address to be corrected' }
  | { readonly type: 'code verified' }
  | { readonly type: 'article left' }
  /** The browser's Back or Forward. */
  | { readonly type: 'history moved'; readonly stage: Stage };

export const INITIAL_STATE: StageState = { stage: 'landing', lead: null, challenge: null };

/** The next state (specification, section 4). */
export function stageReducer(state: StageState, event: StageEvent): StageState {
  switch (event.type) {
    case 'call to action pressed':
    case 'address to be corrected':
      return { ...state, stage: 'form' };
    case 'code requested':
      return { stage: 'verification', lead: event.lead, challenge: event.challenge };
    case 'code verified':
      return { ...state, stage: 'content', challenge: null };
    case 'article left':
      return INITIAL_STATE;
    case 'history moved':
      // A code screen without a code to wait for is of no use: its visitor starts from the form.
      return {
        ...state,
        stage: event.stage === 'verification' && state.challenge === null ? 'form' : event.stage,
      };
  }
}

/**
 * The challenge the server's answer describes.
 * @param answer null when the answer was a success without a readable body
 * @param consentVersion of the form that was sent
 * @param now milliseconds since 1970
 */
export function challengeOf(answer: CodeRequested | null, consentVersion: string, now: number): Challenge {
  // The specification's countdown, or the server's where an operator set a longer one.
  const seconds = Math.max(RESEND_COUNTDOWN_SECONDS, answer?.resendSeconds ?? 0);
  return {
    id: answer?.challengeId ?? '',
    reference: answer?.reference ?? null,
    resendAt: now + seconds * 1000,
    askedAt: now,
    consentVersion,
  };
}

/** The state of a code screen that was reloaded: its countdown goes on where it was. */
export function restoredState(open: OpenChallenge, id: string, now: number): StageState {
  return {
    stage: 'verification',
    lead: { name: open.name, company: open.company, email: open.email, consent: true },
    challenge: {
      id,
      reference: open.reference,
      resendAt: now + open.resendSeconds * 1000,
      askedAt: now - Math.max(0, RESEND_COUNTDOWN_SECONDS - open.resendSeconds) * 1000,
      consentVersion: open.consentVersion,
    },
  };
}
