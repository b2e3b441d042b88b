import * as z from 'zod/mini';

import { get, post, type Nothing, type Role } from '#desk/endpoints/endpoint.ts';

/**
 * Headers that replace cookies on plain http, where other ports of the host would receive cookies. The browser stores their
 * values in sessionStorage; an empty value deletes the stored one.
 */
export const COOKIE_HEADERS = {
  session: 'x-desk-session',
  signIn: 'x-desk-sign-in',
  passkey: 'x-desk-passkey',
} as const;

export type Me = {
  /** Null for the person at the machine, who signed in with the link from `desk open`. */
  readonly email: string | null;
  readonly role: Role;
  readonly title: string;
  readonly publicUrl: string;
  /** Not a time, because the browser's clock may be wrong. */
  readonly sessionEndsInMs: number;
  readonly fields: readonly {
    readonly id: string;
    readonly label: string;
    readonly options: readonly string[] | null;
    readonly areSeveral: boolean;
  }[];
  readonly variants: readonly string[];
  /** The form has a box for news, or somebody ticked an earlier one. */
  readonly hasNews: boolean;
  readonly hasWebhooks: boolean;
  /** IANA name of the time zone of all days. */
  readonly timeZone: string;
};

/** Error without a session: 401 `no-session`. */
export const me = get<Me>()('/api/me', 'read');

/** Mails a code to an e-mail address in DESK_PEOPLE. The response is the same for any other address. */
export const requestCode = post<{ readonly resendSeconds: number }>()(
  '/api/sign-in',
  null,
  z.object({ email: z.string().check(z.minLength(3), z.maxLength(254)) }),
);

/** Works only in the browser that requested the code. Errors: 400 `wrong-code`, 429 `too-many-tries`. */
export const enterCode = post<Nothing>()(
  '/api/sign-in/code',
  null,
  z.object({ code: z.string().check(z.regex(/^\d{6}$/)) }),
);

/** The token from `desk open` works once, within ten minutes. Otherwise the error is 401 `no-session`. */
export const enterLink = post<Nothing>()(
  '/api/sign-in/link',
  null,
  z.object({ token: z.string().check(z.maxLength(200)) }),
);

export const signOut = post<Nothing>()('/api/sign-out', 'read');

export type Session = {
  readonly id: string;
  readonly isThis: boolean;
  /** In ISO 8601 and UTC, like all times. */
  readonly begunAt: string;
  readonly endsAt: string;
  readonly from: string;
  readonly browser: string;
};

export const sessions = get<{ readonly sessions: readonly Session[] }>()('/api/sessions', 'read');
export const endSession = post<Nothing>()('/api/sessions/end', 'read', z.object({ id: z.string() }));

export type DeskAction =
  | 'signed-in'
  | 'signed-out'
  | 'refused'
  | 'added-passkey'
  | 'removed-passkey'
  | 'viewed'
  | 'exported'
  | 'imported'
  | 'corrected'
  | 'erased'
  | 'suppressed'
  | 'unsuppressed'
  | 'sent-guide'
  | 'retried-webhooks'
  | 'downloaded-report'
  | 'sent-report';

export type LogEntry = {
  readonly id: string;
  readonly at: string;
  /** An e-mail address, "at the machine" (`desk open`) or "command line". */
  readonly who: string;
  readonly action: DeskAction;
  /** An e-mail address, or the pseudonym of an erased one; null if the action concerned nobody. */
  readonly about: string | null;
  /** Contains no personal data. */
  readonly details: string;
  readonly from: string;
};

export const log = get<{ readonly entries: readonly LogEntry[]; readonly next: string | null }>()(
  '/api/log',
  'all',
  z.object({ after: z.optional(z.string()) }),
);
