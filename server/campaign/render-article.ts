// The operator's Markdown as HTML. Raw HTML in the Markdown is shown as text, so the result is safe to insert.
import { micromark } from 'micromark';
import { gfmStrikethrough, gfmStrikethroughHtml } from 'micromark-extension-gfm-strikethrough';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';

import type { Article } from '#shared/api.ts';

/** What is understood beyond CommonMark: tables, and ~~two tildes~~. */
export const MARKDOWN_EXTENSIONS = [gfmTable(), gfmStrikethrough({ singleTilde: false })];
const HTML_EXTENSIONS = [gfmTableHtml(), gfmStrikethroughHtml()];

/** Title and body of the article; null when it does not begin with a title. Lines end with \n. */
export function partsOfArticle(markdown: string): { title: string; body: string; bodyLine: number } | null {
  const blank = markdown.length - markdown.trimStart().length;
  const [whole, title = '', body = ''] = /^# +(.+)(?:\n([\s\S]*))?$/.exec(markdown.slice(blank)) ?? [];
  if (whole === undefined) return null;
  // The line that follows the title, counted from 1.
  return { title: title.trim(), body, bodyLine: markdown.slice(0, blank).split('\n').length + 1 };
}

/**
 * Renders the article.
 * @param markdown CommonMark with tables and strike-through, whose first line is the title: `# Title`
 * @returns title and body, or null when there is no title
 */
export function renderArticle(markdown: string): Article | null {
  const parts = partsOfArticle(markdown);
  if (parts === null) return null;
  const html = micromark(parts.body, {
    extensions: MARKDOWN_EXTENSIONS,
    htmlExtensions: HTML_EXTENSIONS,
  });
  return { title: parts.title, html: withPictureSizes(withScrollingTables(html)) };
}

/** What is wider than a telephone scrolls within itself, by keyboard too. */
const withScrollingTables = (html: string): string =>
  html.replaceAll('<table>', '<div tabindex="0"><table>').replaceAll('</table>', '</table></div>');

/** A picture whose name ends with its size, as chart-640x280.webp, keeps its place on the page while it loads. */
const withPictureSizes = (html: string): string =>
  html.replaceAll(
    /<img src="[^"]*-(\d{1,4})x(\d{1,4})\.\w+"/g,
    (img, width: string, height: string) => `${img} width="${width}" height="${height}" loading="lazy"`,
  );
