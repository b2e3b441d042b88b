// What all mail providers have in common: a call proves its origin, and reports bounces and complaints.
import type { IncomingHttpHeaders } from 'node:http';

import * as z from 'zod/mini';

import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { MailReport, Once } from '#server/bounces/accept-report.ts';
import { meaningOfAll } from '#server/platform/mail-server-answers.ts';

/** A call of a provider. */
type ProviderCall = {
  /** The bytes as they came, because signatures cover the bytes. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type Verdict =
  | {
      readonly type: 'reports';
      readonly reports: readonly MailReport[];
      /** For a signature that does not cover the reports: only one call with it counts. */
      readonly once?: Once;
      /** How many bounces and complaints came in a shape that is not known. */
      readonly unread?: number;
    }
  /** Not from the provider, or too old to be sure. */
  | { readonly type: 'unsigned' }
  | { readonly type: 'unreadable' }
  /** It cannot be checked now, because a certificate cannot be fetched. */
  | { readonly type: 'later' };

export type Provider = {
  /** The last part of its route. */
  readonly name: string;
  readonly bodyLimitBytes: number;
  readonly read: (call: ProviderCall) => Promise<Verdict> | Verdict;
};

export const UNSIGNED: Verdict = { type: 'unsigned' };
export const UNREADABLE: Verdict = { type: 'unreadable' };
export const NOTHING: Verdict = { type: 'reports', reports: [] };

/** More than any provider sends in a call, but for SendGrid's batches. */
export const BODY_LIMIT_BYTES = 256 * 1024;

/** How old, or how far in the future, a signature may be. An older one may have been overheard. */
const FRESH_FOR_MS = 15 * 60_000;

/** @param signedAt milliseconds since 1970; NaN is never fresh */
export const isFresh = (signedAt: number, now: number): boolean => Math.abs(now - signedAt) <= FRESH_FOR_MS;

/** When a signature stops being fresh for every process. Both in milliseconds since 1970. */
export const freshUntil = (signedAt: number): number => signedAt + FRESH_FOR_MS + CLOCKS_DIFFER_MS;

/** Reads JSON by a schema. @returns null when it is no JSON, or does not fit the schema */
export function readJson<Shape>(schema: z.ZodMiniType<Shape>, json: string): Shape | null {
  try {
    return schema.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null;
  }
}

/** A time in ISO 8601, as milliseconds since 1970. */
export const IsoTime = z.pipe(
  z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))),
  z.transform((text) => Date.parse(text)),
);

/**
 * Reports a dead address that a provider names, unless the mail server's reply says otherwise. The provider has looked at more
 * than the reply's code, so an unclear code is no objection.
 * @param bounce answers: the mail server's replies; isSure: whether the provider calls the bounce final and about the address
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

/** Reports that the reader of a mail called it spam. */
export const complained = (email: string, happenedAt: number): MailReport[] => [
  { reason: 'complained', email: withoutName(email), note: null, happenedAt },
];

/** SES may report the address as it stood in the mail: "Ada" <ada@example.com> */
const withoutName = (text: string): string => /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text;
