import type { Campaign } from '#server/campaign/campaign.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { MailJob } from '#server/jobs/mail-jobs.ts';
import type { Mail } from '#server/mail/mailer.ts';
import { escapeHtml } from '#server/platform/text.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { ACCENT, type ColourPair, middleOf } from '#shared/colours.ts';
import { isRightToLeft, languageAttributes } from '#shared/words.ts';

export type Letter = Omit<Mail, 'id' | 'to' | 'kind'>;

export type LetterParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly config: Config;
  readonly campaign: Campaign;
};

export type LetterKind = {
  /** Older mail is dropped. */
  readonly maxAgeMs: (parts: LetterParts) => number;
  /** False for mail that its reader has just requested, and for mail to the operator. */
  readonly respectsSuppression: boolean;
  /**
   * Called at each attempt.
   * @returns null if the mail is no longer wanted
   */
  readonly compose: (parts: LetterParts, mail: MailJob, now: number) => Promise<Letter | null>;
};

/** One part of a mail, as plain text and as HTML. */
export type Block = { readonly text: string; readonly html: string };

export type Branding = { readonly language: string; readonly accent: ColourPair; readonly title: string };

export const brandingOf = ({ site }: Campaign): Branding => ({
  title: site.title,
  language: site.language,
  accent: site.colors?.accent ?? ACCENT,
});

type LetterContent = {
  readonly subject: string;
  /** Shown by inboxes after the subject, and hidden in the mail. */
  readonly preview: string;
  readonly headline: string;
  readonly blocks: readonly Block[];
  /** Tells the reader why they get the mail. */
  readonly footnote?: Block;
};

/** Every mail begins with a headline above a rule in the accent colour. Both parts of the mail have the same order. */
export function composeLetter({ language, accent }: Branding, content: LetterContent): Letter {
  const { subject, preview, headline, blocks, footnote } = content;
  const text = [
    headline,
    ...blocks.map((block) => block.text),
    ...(footnote === undefined ? [] : [`-- \n${footnote.text}`]),
  ];
  const html = [
    // Mail programs may show the mail on a light or a dark background, and some do not say which.
    headlineHtml(headline, middleOf(accent)),
    ...blocks.map((block) => block.html),
    ...(footnote === undefined ? [] : [footnoteHtml(footnote.html)]),
  ];
  return {
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html>
<html ${languageAttributes(language)}>
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><meta name="format-detection" content="telephone=no"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:32px 20px">
<div aria-hidden="true" style="${HIDDEN}">${escapeHtml(preview)}${FILLER}</div>
<!--[if mso]><table role="presentation" align="center" width="${WIDTH}"><tr><td><![endif]-->
<div ${languageAttributes(language)} style="max-width:${WIDTH}px;margin:0 auto;${FONT};overflow-wrap:anywhere">
${html.join('\n')}
</div>
<!--[if mso]></td></tr></table><![endif]-->
</body>
</html>
`,
  };
}

const WIDTH = 480;

/** Set on every table too, because Outlook's tables do not inherit the font. */
export const FONT = 'font:16px/1.5 Georgia,serif';

/** Without `display:none`, which filters count as a sign of spam. */
const HIDDEN = 'max-height:0;overflow:hidden;opacity:0;line-height:0;mso-hide:all';

/** Keeps inboxes from showing the beginning of the mail after the preview. */
const FILLER = '&nbsp;&zwnj;'.repeat(80);

/** A table, because the rule is as wide as the text, which Outlook supports only in tables. Pictures would be blocked. */
const headlineHtml = (headline: string, colour: string): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 24px"><tr><td style="padding:0 0 10px;border-bottom:2px solid ${colour}"><h1 style="margin:0;font:600 22px/1.3 Georgia,serif;overflow-wrap:anywhere">${escapeHtml(headline)}</h1></td></tr></table>`;

const footnoteHtml = (content: string): string =>
  `<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid #8b8676;font-size:14px;opacity:.75">${content}</p>`;

/** Shows the line breaks of a text. */
export const linesInHtml = (text: string): string => escapeHtml(text).replaceAll('\n', '<br>');

export const paragraph = (text: string): Block => ({
  text,
  html: `<p style="margin:0 0 16px">${linesInHtml(text)}</p>`,
});

export const smallPrint = (text: string): Block => ({
  text,
  html: `<p style="margin:0 0 12px;font-size:14px;opacity:.75">${linesInHtml(text)}</p>`,
});

export const heading = (text: string): Block => ({
  text,
  html: `<h2 style="margin:32px 0 8px;font:600 16px/1.5 Georgia,serif">${escapeHtml(text)}</h2>`,
});

/**
 * The gap is padding, so copying still gives six digits. Filters count text that is split by tags as hidden words, so it is
 * split only once.
 */
export const largeDigits = (digits: string): Block => ({
  text: `    ${digits}`,
  html: `<p style="margin:0 0 24px;font:600 40px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px;white-space:nowrap"><span dir="ltr">${digits.slice(0, 3)}<span style="padding-left:16px">${digits.slice(3)}</span></span></p>`,
});

/**
 * Sets both colours, so the dark mode of mail programs leaves the button unchanged. The cell is for Outlook, which ignores
 * the padding of links.
 */
export const button = (label: string, link: string, { light: colour }: ColourPair): Block => ({
  text: `${label}:\n${link}`,
  html: `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:24px 0"><tr><td bgcolor="${colour}" style="border-radius:6px;background:${colour};mso-padding-alt:12px 24px">${anchor(link, label, `display:inline-block;padding:12px 24px;${FONT};color:#ffffff;font-weight:600;text-decoration:none`)}</td></tr></table>`,
});

export const anchor = (href: string, label: string, style = 'color:inherit'): string =>
  `<a href="${escapeHtml(href)}" style="${style}">${escapeHtml(label)}</a>`;

/** Outlook does not know `start` and `end`. */
export const startOf = (language: string): string => (isRightToLeft(language) ? 'right' : 'left');
export const endOf = (language: string): string => (isRightToLeft(language) ? 'left' : 'right');
