// The e-mail that brings the guide. No picture and no pixel: who reads it is nobody's business. Both parts say the same.
import { escapeHtml } from '#server/platform/escape-html.ts';
import { footnote, letterHtml, paragraph } from '#server/mail/letters/letter.ts';
import type { GuideEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

type Facts = {
  readonly title: string;
  readonly language: string;
  /** Of the public page. */
  readonly host: string;
  /** What opens the guide; null when it is attached. */
  readonly link: string | null;
  /** How long the link works. */
  readonly days: number;
  readonly unsubscribe: string;
};

/** Composes subject, plain text and HTML from the operator's words. */
export function composeGuideEmail(
  words: GuideEmail,
  { title, language, host, link, days, unsubscribe }: Facts,
): { subject: string; text: string; html: string } {
  const filled = (text: string) => fill(text, { title, host, days: String(days) });
  const greeting = filled(words.greeting);
  const how = filled(link === null ? words.attached : words.linkNote);
  const [why, way, signature] = [words.why, words.unsubscribe, words.signature].map(filled) as [
    string,
    string,
    string,
  ];
  const button = filled(words.link);
  const text = [
    greeting,
    ...(link === null ? [] : [`${button}:\n${link}`]),
    how,
    signature,
    `-- \n${why}\n${way}: ${unsubscribe}`,
  ].join('\n\n');
  const anchor = (href: string, label: string, style: string) =>
    `<a href="${escapeHtml(href)}" style="${style}">${escapeHtml(label)}</a>`;
  const body = [
    paragraph(greeting),
    ...(link === null ? [] : [`<p style="margin:24px 0">${anchor(link, button, BUTTON)}</p>`]),
    paragraph(how),
    paragraph(signature),
    footnote(`${escapeHtml(why)}<br>${anchor(unsubscribe, way, 'color:inherit')}`),
  ];
  return { subject: filled(words.subject), text: `${text}\n`, html: letterHtml({ title, language, body }) };
}

/** Of one colour in both themes: mail programs that turn pages dark leave a button with both colours set alone. */
const BUTTON =
  'display:inline-block;padding:12px 24px;border-radius:6px;background:#0e5a43;color:#ffffff;font-weight:600;text-decoration:none';
