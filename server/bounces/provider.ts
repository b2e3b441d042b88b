import type { IncomingHttpHeaders } from 'node:http';

import * as z from 'zod/mini';

import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import type { MailReport, Once } from '#server/bounces/accept-report.ts';
import { meaningOfAll } from '#server/platform/mail-server-answers.ts';

type ProviderCall = {
  /** Raw bytes, because signatures cover them. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type Verdict =
  | {
      readonly type: 'reports';
      readonly reports: readonly MailReport[];
      /** Set if the signature doesn't cover the reports, so it may be used once. */
      readonly once?: Once;
      /** Number of bounces and complaints in an unknown shape. */
      readonly unread?: number;
    }
  | { readonly type: 'unsigned' }
  | { readonly type: 'unreadable' }
  /** A certificate cannot be fetched now. */
  | { readonly type: 'later' };

export type Provider = {
  readonly name: string;
  readonly bodyLimitBytes: number;
  readonly read: (call: ProviderCall) => Promise<Verdict> | Verdict;
};

export const UNSIGNED: Verdict = { type: 'unsigned' };
export const UNREADABLE: Verdict = { type: 'unreadable' };
export const NOTHING: Verdict = { type: 'reports', reports: [] };

/** More than any provider sends in a call, except SendGrid's batches. */
export const BODY_LIMIT_BYTES = 256 * 1024;

/** Maximum age, in either direction, because an older signature may have been overheard. */
const FRESH_FOR_MS = 15 * 60_000;

/** @param signedAt milliseconds since 1970; NaN is never fresh */
export const isFresh = (signedAt: number, now: number): boolean => Math.abs(now - signedAt) <= FRESH_FOR_MS;

/** For every process. Milliseconds since 1970. */
export const freshUntil = (signedAt: number): number => signedAt + FRESH_FOR_MS + CLOCKS_DIFFER_MS;

/** @returns null for invalid JSON, or if it doesn't fit the schema */
export function readJson<Shape>(schema: z.ZodMiniType<Shape>, json: string): Shape | null {
  try {
    return schema.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null;
  }
}

export const IsoTime = z.pipe(
  z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))),
  z.transform((text) => Date.parse(text)),
);

/**
 * Reports a dead e-mail address unless the mail server's reply contradicts the provider.
 * @param bounce isSure: the provider calls the bounce final and about the address
 */
export function bounced(
  email: string,
  {
    answers,
    isSure,
    happenedAt,
  }: { answers: readonly (string | undefined)[]; isSure: boolean; happenedAt: number },
): MailReport[] {
  const given = answers.filter((answer) => answer !== undefined);
  const meaning = meaningOfAll(given);
  const isDead = meaning === 'no such address' || (isSure && meaning === 'unclear');
  const note = given.join(' ') || null;
  return isDead ? [{ reason: 'bounced', email: withoutName(email), note, happenedAt }] : [];
}

export const complained = (email: string, happenedAt: number): MailReport[] => [
  { reason: 'complained', email: withoutName(email), note: null, happenedAt },
];

/** SES may report the full mailbox: "Ada" <ada@example.com> */
const withoutName = (text: string): string => /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text;
