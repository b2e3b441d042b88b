// What the mail providers have in common: each proves that it is who it says it is, and tells of mail that came back and of
// complaints.
import type { IncomingHttpHeaders } from 'node:http';

import * as z from 'zod/mini';

import { CLOCKS_DIFFER_MS } from '#server/db/engine/clocks.ts';
import type { MailReport, Once } from '#server/mail-events/take-report.ts';
import { meaningOfAll } from '#server/mail/hard-bounces.ts';
import { asciiAddress } from '#shared/lead.ts';

/** One call. */
type Delivery = {
  /** As it came: signatures are over the bytes. */
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type Verdict =
  | {
      readonly type: 'reports';
      readonly reports: readonly MailReport[];
      /** For a signature that does not cover the reports: one call with it counts. */
      readonly once?: Once;
    }
  /** It does not come from the provider, or it is too old to be sure of it. */
  | { readonly type: 'unsigned' }
  | { readonly type: 'unreadable' }
  /** What it takes to check it cannot be had just now. */
  | { readonly type: 'later' };

export type Provider = {
  /** The end of its address. */
  readonly name: string;
  readonly bodyLimitBytes: number;
  readonly read: (delivery: Delivery) => Promise<Verdict> | Verdict;
};

export const UNSIGNED: Verdict = { type: 'unsigned' };
export const UNREADABLE: Verdict = { type: 'unreadable' };
export const NOTHING: Verdict = { type: 'reports', reports: [] };

/** More than any of them sends; a batch of SendGrid's is larger. */
export const BODY_LIMIT_BYTES = 256 * 1024;

/** What is signed longer ago is not taken: it may have been overheard. Nor what comes from the future, by as much. */
const FRESH_FOR_MS = 15 * 60_000;

/** @param signedAt milliseconds since 1970; NaN is never fresh */
export const isFresh = (signedAt: number, now: number): boolean => Math.abs(now - signedAt) <= FRESH_FOR_MS;

/** When something signed stops being fresh for every process. Milliseconds since 1970, both. */
export const freshUntil = (signedAt: number): number => signedAt + FRESH_FOR_MS + CLOCKS_DIFFER_MS;

/** Reads JSON by a schema. @returns null when it is none, or another one */
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
 * That an address is dead, by the word of a provider: unless the answer that it was given says something else. It has looked
 * at more than a code, so that one which does not say is no objection.
 * @param isSure whether the provider itself says that it is for good, and about the address
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
  return isDead && isAddress(email) ? [{ reason: 'bounced', email, note, happenedAt }] : [];
}

/** That the reader of a mail called it spam. */
export const complained = (email: string, happenedAt: number): MailReport[] =>
  isAddress(email) ? [{ reason: 'complained', email, note: null, happenedAt }] : [];

const isAddress = (text: string): boolean => asciiAddress(text.trim()) !== null;
