import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { MailJob } from '#server/jobs/mail-jobs.ts';
import type { Mail } from '#server/mail/mailer.ts';
import { escapeHtml } from '#server/platform/text.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { CodeEmail, GuideEmail, NewLeadEmail } from '#shared/campaign-schema.ts';
import { languageAttributes } from '#shared/words.ts';

export type Letter = Omit<Mail, 'id' | 'to' | 'kind'>;

export type LetterParts = {
  readonly db: Db;
  readonly engine: OpenDatabase['engine'];
  readonly secrets: Secrets;
  readonly codeEmail: CodeEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly title: string;
  readonly language: string;
  readonly timeZone: string;
  readonly accent: string;
  /** Shown in advertising mail. */
  readonly postalAddress: string | undefined;
  readonly codeTtlSeconds: number;
  readonly publicUrl: string;
  readonly guide: GuideMail | null;
};

export type GuideMail = {
  readonly words: GuideEmail;
  readonly attachment: string | null;
};

export type LetterKind = {
  readonly mayWaitMs: (parts: LetterParts) => number;
  /** False for mail that its reader has just requested, and for mail to the operator. */
  readonly respectsSuppression: boolean;
  /**
   * Called at each attempt.
   * @returns null if the mail is no longer wanted
   */
  readonly compose: (parts: LetterParts, mail: MailJob, now: number) => Promise<Letter | null>;
};

export const paragraph = (content: string): string => `<p style="margin:0 0 16px">${escapeHtml(content)}</p>`;

/** Mail programs block pictures, above all SVG. */
export const letterhead = (title: string): string =>
  `<p style="margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid #8b8676;font-size:20px;line-height:1.3">${escapeHtml(title)}</p>`;

export const largeDigits = (digits: string): string =>
  `<p style="margin:24px 0;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:6px">${digits}</p>`;

export const heading = (content: string): string =>
  `<h2 style="margin:32px 0 8px;font:600 16px/1.5 Georgia,serif">${escapeHtml(content)}</h2>`;

export const footnote = (content: string): string =>
  `<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid #8b8676;font-size:14px;opacity:.75">${content}</p>`;

export const letterHtml = ({
  title,
  language,
  body,
}: {
  title: string;
  language: string;
  body: readonly string[];
}): string => `<!doctype html>
<html ${languageAttributes(language)}>
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:32px 20px">
<div ${languageAttributes(language)} style="max-width:480px;margin:0 auto;font:16px/1.5 Georgia,serif">
${body.join('\n')}
</div>
</body>
</html>
`;
