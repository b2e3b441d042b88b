// The mail contains no link, no picture and none of the visitor's words, so strangers cannot use it to send messages and it
// rarely triggers filters.
import { codeDigits, codeReference } from '#server/codes/digits.ts';
import { findCodeById, isLive, prolongCode } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { addMail, type Lanes } from '#server/jobs/mail-jobs.ts';
import {
  composeLetter,
  largeDigits,
  type Letter,
  type LetterKind,
  type Branding,
  brandingOf,
  paragraph,
  smallPrint,
} from '#server/mail/templates/letter.ts';
import type { CodeEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

/** A code mailed later than this gets a new lifetime. */
const LATE_MS = 1_000;

export const queueCodeMail = (
  tx: Db,
  mail: {
    readonly id: string;
    readonly codeId: string;
    readonly recipient: string;
    readonly place: Lanes & { readonly turnAt: number };
    readonly now: number;
  },
): Promise<void> => addMail(tx, { ...mail, kind: 'code', payload: {} });

export const codeKind: LetterKind = {
  maxAgeMs: ({ config }) => config.codeTtlSeconds * 1000,
  respectsSuppression: false,

  compose: async ({ database: { db }, secrets, config, campaign }, mail, now) => {
    const code = mail.code_id === null ? undefined : await findCodeById(db, mail.code_id);
    if (code === undefined || !isLive(code, now)) return null;
    const lifeMs = config.codeTtlSeconds * 1000;
    const lateMs = now - code.created_at;
    // Updated before sending, so the mail states the right time. The mail is sent at most one lifetime after the code was
    // created, so a code is valid for at most two lifetimes.
    const expiresAt = Math.max(code.expires_at, lateMs > LATE_MS ? now + lifeMs : 0);
    if (expiresAt > code.expires_at) await prolongCode(db, code, { expiresAt, now });
    const validForMs = expiresAt - now;
    const digits = codeDigits(secrets, code);
    if (digits === null) return null;
    const reference = codeReference(secrets, code);
    return composeCodeEmail(campaign.codeEmail, { ...brandingOf(campaign), digits, reference, validForMs });
  },
};

type Facts = Branding & {
  readonly digits: string;
  readonly reference: string;
  readonly validForMs: number;
};

const MINUTES = { style: 'unit', unit: 'minute', unitDisplay: 'long' } as const;

export function composeCodeEmail(words: CodeEmail, facts: Facts): Letter {
  const values = {
    code: facts.digits,
    reference: facts.reference,
    // Given as a duration, because the reader's clock and time zone are unknown.
    lifetime: Math.max(1, Math.ceil(facts.validForMs / 60_000)).toLocaleString(facts.language, MINUTES),
    title: facts.title,
  };
  const filled = (text: string) => fill(text, values);
  return composeLetter(facts, {
    subject: filled(words.subject),
    preview: filled(words.preview),
    headline: facts.title,
    blocks: [
      largeDigits(facts.digits),
      paragraph(filled(words.instruction)),
      smallPrint(filled(words.validity)),
      smallPrint(filled(words.notYou)),
    ],
  });
}
