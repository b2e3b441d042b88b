// The HTML around what a mail says: a column of text that every mail program shows, light or dark.
import { escapeHtml } from '#server/escape-html.ts';

export const paragraph = (content: string): string => `<p style="margin:0 0 16px">${escapeHtml(content)}</p>`;

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
<html lang="${escapeHtml(language)}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:32px 20px">
<div style="max-width:480px;margin:0 auto;font:16px/1.5 Georgia,serif">
${body.join('\n')}
</div>
</body>
</html>
`;
