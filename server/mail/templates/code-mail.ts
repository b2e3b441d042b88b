// The mail that carries a one-time code. Its row names the code (code_id) and holds nothing else; the digits are derived when the
// mail is composed. The mail holds no link, no picture and nothing a visitor typed: it never carries a stranger's words, and gives
// filters nothing to object to.
import { codeDigits, codeReference } from '#server/codes/digits.ts';
import { findCodeById, isLive, prolongCode } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { addMail, type Lane } from '#server/jobs/mail-jobs.ts';
import { letterhead, letterHtml, paragraph } from '#server/mail/templates/letter-html.ts';
import type { Letter, LetterKind } from '#server/mail/templates/letter-kind.ts';
import type { CodeEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

/** A code that is mailed later than this lives for its whole lifetime from then on. A shorter delay does not matter. */
const LATE_MS = 1_000;

/** Queues the e-mail that carries a code. */
export const queueCodeMail = (
  tx: Db,
  mail: {
    readonly id: string;
    readonly codeId: string;
    readonly recipient: string;
    readonly place: Lane & { readonly turnAt: number };
    readonly now: number;
  },
): Promise<void> => addMail(tx, { ...mail, kind: 'code', payload: {} });

export const codeKind: LetterKind = {
  mayWaitMs: ({ codeTtlSeconds }) => codeTtlSeconds * 1000,
  respectsSuppression: false,

  compose: async ({ db, engine, secrets, codeEmail, title, language, codeTtlSeconds }, mail, now) => {
    const code = mail.code_id === null ? undefined : await findCodeById(db, mail.code_id);
    if (code === undefined || !isLive(code, now)) return null;
    const lifeMs = codeTtlSeconds * 1000;
    const lateMs = now - code.created_at;
    // Before the mail is sent, not after: whatever happens next, it says what is true. It is never sent later than a lifetime
    // after the code was made, so a code lives for two lifetimes at most.
    const expiresAt = Math.max(code.expires_at, lateMs > LATE_MS ? now + lifeMs : 0);
    if (expiresAt > code.expires_at) await prolongCode({ db, engine }, code, { expiresAt, now });
    const validForMs = expiresAt - now;
    const key = { id: code.id, secretId: code.secret_id };
    const digits = codeDigits(secrets, key);
    if (digits === null) return null;
    const reference = codeReference(secrets, key);
    return composeCodeEmail(codeEmail, { digits, reference, validForMs, title, language });
  },
};

type Facts = {
  readonly digits: string;
  readonly reference: string;
  /** Milliseconds until the code expires. */
  readonly validForMs: number;
  readonly title: string;
  /** Of the words; screen readers and translators use it. */
  readonly language: string;
};

let minutes: { readonly language: string; readonly format: Intl.NumberFormat } | undefined;

/** Formats minutes in a language. Kept for the next mail, because making a format costs more than the mail. */
function minutesIn(language: string): Intl.NumberFormat {
  if (minutes?.language !== language) {
    const format = new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' });
    minutes = { language, format };
  }
  return minutes.format;
}

/** Composes subject, plain text and HTML from the operator's words. */
export function composeCodeEmail(words: CodeEmail, facts: Facts): Letter {
  const values = {
    code: facts.digits,
    reference: facts.reference,
    // How long, never until when: we do not know the reader's clock and time zone.
    lifetime: minutesIn(facts.language).format(Math.max(1, Math.ceil(facts.validForMs / 60_000))),
    title: facts.title,
  };
  const filled = (text: string) => fill(text, values);
  const before = [words.greeting];
  const after = [words.instruction, words.validity, words.notYou, words.signature].map(filled);

  const text = [facts.title, ...before.map(filled), `    ${facts.digits}`, ...after].join('\n\n');
  const html = letterHtml({
    title: facts.title,
    language: facts.language,
    body: [
      letterhead(facts.title),
      ...before.map(filled).map(paragraph),
      `<p style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px">${facts.digits}</p>`,
      ...after.map(paragraph),
    ],
  });
  return { subject: filled(words.subject), text: `${text}\n`, html };
}
