// The operator's Markdown as HTML. Raw HTML in the Markdown is shown as text, so the result is safe to insert.
import { micromark } from 'micromark';

import type { Article } from '#shared/api.ts';

/**
 * Renders the article.
 * @param markdown CommonMark whose first line is the title: `# Title`
 * @returns title and body, or null when there is no title
 */
export function renderArticle(markdown: string): Article | null {
  const [, title, body] = /^# +(.+)\n([\s\S]*)$/.exec(markdown.trimStart()) ?? [];
  return title && body !== undefined ? { title: title.trim(), html: micromark(body) } : null;
}
