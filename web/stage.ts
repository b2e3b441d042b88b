// Which screen the page shows, and what it remembers for it. A plain reducer: what the browser's history has to do
// with it is in use-stage.ts.
import type { CodeRequested, OpenChallenge } from '#shared/api.ts';
import type { Lead } from '#shared/lead.ts';
import { RESEND_COUNTDOWN_SECONDS } from '#shared/lengths-and-resend-seconds.ts';

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
  /** The address the mail comes from; empty when the server did not say. */
  readonly sender: string;
};

/** What a code screen waits for: the form that was sent, and the challenge that answers it. */
export type Waiting = { readonly lead: Lead; readonly challenge: Challenge };

/** A code screen waits for a code; on other stages there may be one to come back to. */
export type StageState =
  | { readonly stage: 'verification'; readonly waiting: Waiting }
  /** After a reload: the server has to be asked which code it waits for. */
  | { readonly stage: 'verification'; readonly waiting: null; readonly challengeId: string }
  | {
      readonly stage: Exclude<Stage, 'verification'>;
      readonly waiting: Waiting | null;
      /** On the content stage: the code was right a moment ago. If the article is locked all the same, the browser refused the cookie. */
      readonly justVerified?: boolean;
    };

export type StageEvent =
  | { readonly type: 'call to action pressed' }
  /** The server took the form. */
  | { readonly type: 'code requested'; readonly waiting: Waiting }
  /** A resend was answered; the visitor may have left the code screen since. */
  | { readonly type: 'code sent again'; readonly waiting: Waiting }
  /** The server answered what a reloaded code screen waits for, or that it waits for nothing. */
  | { readonly type: 'restored'; readonly state: StageState }
  | { readonly type: 'address to be corrected' }
  | { readonly type: 'code verified' }
  | { readonly type: 'article left' }
  /** The browser's Back or Forward. */
  | { readonly type: 'history moved'; readonly stage: Stage; readonly challengeId?: string | null };

export const INITIAL_STATE = { stage: 'landing', waiting: null } as const satisfies StageState;
/** The article, for a browser that has a session. */
export const OPEN_ARTICLE = { stage: 'content', waiting: null } as const satisfies StageState;

/** A code screen of which only the challenge is known; without one, the visitor starts from the form. */
const forgottenState = (challengeId: string | null | undefined): StageState =>
  typeof challengeId === 'string'
    ? { stage: 'verification', waiting: null, challengeId }
    : { stage: 'form', waiting: null };

/** The next state (specification, section 4). */
export function stageReducer(state: StageState, event: StageEvent): StageState {
  switch (event.type) {
    case 'call to action pressed':
    case 'address to be corrected':
      return { stage: 'form', waiting: state.waiting };
    case 'code requested':
      return { stage: 'verification', waiting: event.waiting };
    case 'code sent again':
      return state.waiting?.lead === event.waiting.lead ? { ...state, waiting: event.waiting } : state;
    case 'restored':
      return event.state;
    case 'code verified':
      return { ...OPEN_ARTICLE, justVerified: true };
    case 'article left':
      return INITIAL_STATE;
    case 'history moved':
      if (event.stage !== 'verification') return { stage: event.stage, waiting: state.waiting };
      return state.waiting === null
        ? forgottenState(event.challengeId)
        : { stage: 'verification', waiting: state.waiting };
  }
}

/**
 * When another code may be asked for: after the specification's countdown, or the server's where an operator set a longer
 * one. One rule for a fresh answer and for a reload, so that a reload goes on where it was.
 * @param askedAt when the code was asked for; this and the rest in milliseconds since 1970
 * @param serverSaysAt when the server will send another one; 0 when it did not say
 */
export const resendAt = (askedAt: number, serverSaysAt = 0): number =>
  Math.max(askedAt + RESEND_COUNTDOWN_SECONDS * 1000, serverSaysAt);

/**
 * The challenge the server's answer describes.
 * @param answer null when the answer was a success without a readable body
 * @param consentVersion of the form that was sent
 * @param now milliseconds since 1970
 */
export function challengeOf(answer: CodeRequested | null, consentVersion: string, now: number): Challenge {
  return {
    id: answer?.challengeId ?? '',
    reference: answer?.reference ?? null,
    resendAt: resendAt(now, now + (answer?.resendSeconds ?? 0) * 1000),
    askedAt: now,
    consentVersion,
    sender: answer?.sender ?? '',
  };
}

/**
 * The state of a code screen that was reloaded: its countdown goes on where it was, or its code was entered and the article opens.
 * Null: there is nothing to wait for.
 */
export function restoredState(open: OpenChallenge | null, id: string, now: number): StageState {
  if (open === null) return forgottenState(null);
  if (open.verified) return OPEN_ARTICLE;
  const { name, company, email, answers } = open;
  const askedAt = now - open.askedSecondsAgo * 1000;
  return {
    stage: 'verification',
    waiting: {
      lead: { name, company, email, consent: true, ...(answers && { answers }) },
      challenge: {
        id,
        reference: open.reference,
        resendAt: resendAt(askedAt, now + open.resendSeconds * 1000),
        askedAt,
        consentVersion: open.consentVersion,
        sender: open.sender ?? '',
      },
    },
  };
}
