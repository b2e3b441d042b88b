// The e-mail that carries a one-time code. It holds no link, no picture and nothing a visitor typed: a stranger's
// words never travel in our mail, and filters find nothing to dislike.
import { letterHtml, paragraph } from '#server/mail/letters/letter.ts';
import { fill } from '#shared/words.ts';
import type { CodeEmail } from '#shared/campaign-schema.ts';

type Facts = {
  readonly digits: string;
  readonly reference: string;
  /** Milliseconds until the code expires. */
  readonly validForMs: number;
  readonly title: string;
  /** Of the words: screen readers and translators go by it. */
  readonly language: string;
};

let minutes: { readonly language: string; readonly format: Intl.NumberFormat } | undefined;

/** How a language says a number of minutes. Kept for the next mail: making a format costs more than the mail. */
function minutesIn(language: string): Intl.NumberFormat {
  if (minutes?.language !== language) {
    const format = new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' });
    minutes = { language, format };
  }
  return minutes.format;
}

/** Composes subject, plain text and HTML from the operator's words. */
export function composeCodeEmail(
  words: CodeEmail,
  facts: Facts,
): { subject: string; text: string; html: string } {
  const values = {
    code: facts.digits,
    reference: facts.reference,
    // How long, never until when: the reader's clock and zone are not ours.
    lifetime: minutesIn(facts.language).format(Math.max(1, Math.ceil(facts.validForMs / 60_000))),
    title: facts.title,
  };
  const filled = (text: string) => fill(text, values);
  const before = [words.greeting];
  const after = [words.instruction, words.validity, words.notYou, words.signature].map(filled);

  const text = [...before.map(filled), `    ${facts.digits}`, ...after].join('\n\n');
  const html = letterHtml({
    title: facts.title,
    language: facts.language,
    body: [
      ...before.map(filled).map(paragraph),
      `<p style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px">${facts.digits}</p>`,
      ...after.map(paragraph),
    ],
  });
  return { subject: filled(words.subject), text: `${text}\n`, html };
}
