import type { CodeRequested, OpenChallenge } from '#shared/api.ts';
import type { LeadForm } from '#shared/lead.ts';
import { RESEND_COUNTDOWN_SECONDS } from '#shared/lengths-and-resend.ts';

/** Specification, section 2. */
export type Stage = 'landing' | 'form' | 'verification' | 'content';

export type Challenge = {
  readonly id: string;
  /** Null if the response was unreadable. */
  readonly reference: string | null;
  /** Milliseconds since 1970, of the earliest resend. */
  readonly resendAt: number;
  /** Milliseconds since 1970. */
  readonly askedAt: number;
  /** The version shown at the checkbox, for a resend; empty if unknown. */
  readonly consentVersion: string;
  /** Empty if unknown. */
  readonly sender: string;
};

export type Waiting = { readonly lead: LeadForm; readonly challenge: Challenge };

export type StageState =
  | { readonly stage: 'verification'; readonly waiting: Waiting }
  /** The state after a reload, before the server has returned the challenge. */
  | { readonly stage: 'verification'; readonly waiting: null; readonly challengeId: string }
  | {
      readonly stage: Exclude<Stage, 'verification'>;
      readonly waiting: Waiting | null;
      /** True right after the code was verified. If the article is still locked, the browser refused the cookie. */
      readonly justVerified?: boolean;
    };

export type StageEvent =
  | { readonly type: 'call to action pressed' }
  | { readonly type: 'code requested'; readonly waiting: Waiting }
  /** The visitor may have left the code screen in the meantime. */
  | { readonly type: 'code sent again'; readonly waiting: Waiting }
  | { readonly type: 'restored'; readonly state: StageState }
  | { readonly type: 'email to be corrected' }
  | { readonly type: 'code verified' }
  | { readonly type: 'article left' }
  | { readonly type: 'history moved'; readonly stage: Stage; readonly challengeId?: string | null };

export const INITIAL_STATE = { stage: 'landing', waiting: null } as const satisfies StageState;
export const OPEN_ARTICLE = { stage: 'content', waiting: null } as const satisfies StageState;

const restoringOrForm = (challengeId: string | null | undefined): StageState =>
  typeof challengeId === 'string'
    ? { stage: 'verification', waiting: null, challengeId }
    : { stage: 'form', waiting: null };

/** Specification, section 4. */
export function stageReducer(state: StageState, event: StageEvent): StageState {
  switch (event.type) {
    case 'call to action pressed':
    case 'email to be corrected':
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
        ? restoringOrForm(event.challengeId)
        : { stage: 'verification', waiting: state.waiting };
  }
}

/** All times are milliseconds since 1970. The server's earliest time is 0 if unknown. */
export const resendAt = (askedAt: number, earliestAt = 0): number =>
  Math.max(askedAt + RESEND_COUNTDOWN_SECONDS * 1000, earliestAt);

/** @param response null if it was unreadable */
export function challengeOf(response: CodeRequested | null, consentVersion: string, now: number): Challenge {
  return {
    id: response?.challengeId ?? '',
    reference: response?.reference ?? null,
    resendAt: resendAt(now, now + (response?.resendSeconds ?? 0) * 1000),
    askedAt: now,
    consentVersion,
    sender: response?.sender ?? '',
  };
}

export function restoredState(open: OpenChallenge | null, id: string, now: number): StageState {
  if (open === null) return restoringOrForm(null);
  if (open.verified) return OPEN_ARTICLE;
  const { name, company, email, answers } = open;
  const askedAt = now - open.askedSecondsAgo * 1000;
  return {
    stage: 'verification',
    waiting: {
      lead: { name, company, email, consent: true, newsConsentVersion: open.newsConsentVersion, answers },
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
