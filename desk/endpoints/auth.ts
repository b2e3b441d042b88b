// Signing in and out, the sessions of the person who is signed in, and the record of who did what.
import * as z from 'zod/mini';

import { get, post, type Role } from '#desk/endpoints/endpoint.ts';

const NOTHING = z.object({});

/**
 * At plain http, where cookies would reach every other server of the host, the browser keeps these values in sessionStorage: an answer
 * sets one in this header (empty: forget it), and each request sends it in the same one.
 */
export const KEPT_BY_BROWSER = {
  session: 'x-desk-session',
  signIn: 'x-desk-sign-in',
  passkey: 'x-desk-passkey',
} as const;

/** The person who is signed in. */
export type Me = {
  /** Null for the person at the machine, who came by the link of `desk open`. */
  readonly email: string | null;
  readonly role: Role;
  /** The campaign's title, and the address of the page. */
  readonly title: string;
  readonly publicUrl: string;
  /** When this session ends. ISO 8601, UTC, as all times. */
  readonly sessionEndsAt: string;
  /** The campaign's own questions. */
  readonly fields: readonly {
    readonly id: string;
    readonly label: string;
    /** What can be chosen; null for a question that takes a text. */
    readonly options: readonly string[] | null;
    /** Whether several can be chosen. */
    readonly areSeveral: boolean;
  }[];
  /** Variants of the page; one or none where it has one. */
  readonly variants: readonly string[];
  readonly hasWebhooks: boolean;
};

/** 401 `no-session` for a person who is not signed in. */
export const me = get<Me>()({ path: '/api/me', needs: 'read', asked: NOTHING });

/** Has a code mailed to an address of DESK_PEOPLE. The answer is the same for any other address. */
export const askCode = post<{ readonly resendSeconds: number }>()({
  path: '/api/sign-in',
  needs: null,
  asked: z.object({ email: z.string().check(z.minLength(3), z.maxLength(254)) }),
});

/** Signs in with the mailed code, in the browser that asked for it. 400 `wrong-code`, 429 `too-many-tries`. */
export const enterCode = post<Record<string, never>>()({
  path: '/api/sign-in/code',
  needs: null,
  asked: z.object({ code: z.string().check(z.regex(/^\d{6}$/)) }),
});

/** Signs in with the token of the link that `desk open` shows: it works once, and for ten minutes. 401 `no-session` otherwise. */
export const enterLink = post<Record<string, never>>()({
  path: '/api/sign-in/link',
  needs: null,
  asked: z.object({ token: z.string().check(z.maxLength(200)) }),
});

export const signOut = post<Record<string, never>>()({
  path: '/api/sign-out',
  needs: 'read',
  asked: NOTHING,
});

export type Session = {
  readonly id: string;
  readonly isThis: boolean;
  readonly begunAt: string;
  readonly endsAt: string;
  readonly from: string;
  /** What the browser calls itself. */
  readonly browser: string;
};

/** The sessions of this person that have not ended. */
export const sessions = get<{ readonly sessions: readonly Session[] }>()({
  path: '/api/sessions',
  needs: 'read',
  asked: NOTHING,
});
export const endSession = post<Record<string, never>>()({
  path: '/api/sessions/end',
  needs: 'read',
  asked: z.object({ id: z.string() }),
});

export const DEEDS = [
  'signed-in',
  'signed-out',
  'refused',
  'added-passkey',
  'removed-passkey',
  'looked',
  'exported',
  'imported',
  'corrected',
  'erased',
  'suppressed',
  'unsuppressed',
  'sent-guide',
  'retried-webhooks',
  'downloaded-report',
] as const;
export type Deed = (typeof DEEDS)[number];

export type LogEntry = {
  readonly id: string;
  readonly at: string;
  /** The address of the person; "at the machine" for the link of `desk open`, "command line" for a command. */
  readonly who: string;
  readonly deed: Deed;
  /** The address that it was about, or the pseudonym of an erased one; null where it was about none. */
  readonly about: string | null;
  /** Such as the filter and format of an export. Never personal. */
  readonly details: string;
  readonly from: string;
};

/** Who did what, the newest first. */
export const log = get<{ readonly entries: readonly LogEntry[]; readonly next: string | null }>()({
  path: '/api/log',
  needs: 'all',
  asked: z.object({ after: z.optional(z.string()) }),
});
