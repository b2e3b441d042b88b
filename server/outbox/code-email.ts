// The e-mail that carries a one-time code. It holds no link, no picture and nothing a visitor typed: a stranger's
// words never travel in our mail, and filters find nothing to dislike.
import { escapeHtml } from '#server/escape-html.ts';
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
  const paragraph = (content: string) => `<p style="margin:0 0 16px">${escapeHtml(content)}</p>`;
  const html = `<!doctype html>
<html lang="${escapeHtml(facts.language)}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(facts.title)}</title></head>
<body style="margin:0;padding:32px 20px">
<div style="max-width:480px;margin:0 auto;font:16px/1.5 Georgia,serif">
${before.map(filled).map(paragraph).join('\n')}
<p style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px">${facts.digits}</p>
${after.map(paragraph).join('\n')}
</div>
</body>
</html>
`;
  return { subject: filled(words.subject), text: `${text}\n`, html };
}
