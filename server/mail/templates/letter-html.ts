// A column of text for every mail program, light or dark.
import { escapeHtml } from '#server/platform/text.ts';
import { languageAttributes } from '#shared/words.ts';

export const paragraph = (content: string): string => `<p style="margin:0 0 16px">${escapeHtml(content)}</p>`;

/** Text, because mail programs block pictures, and SVG above all. */
export const letterhead = (title: string): string =>
  `<p style="margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid #8b8676;font-size:20px;line-height:1.3">${escapeHtml(title)}</p>`;

export const heading = (content: string): string =>
  `<h2 style="margin:32px 0 8px;font:600 16px/1.5 Georgia,serif">${escapeHtml(content)}</h2>`;

/** @param content HTML */
export const footnote = (content: string): string =>
  `<p style="margin:32px 0 0;padding-top:16px;border-top:1px solid #8b8676;font-size:14px;opacity:.75">${content}</p>`;

/** @param body HTML, an element each */
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
