// Renders the article. Raw HTML is escaped, so the result is safe to insert.
import path from 'node:path';

import { micromark, parse, postprocess, preprocess } from 'micromark';
import { gfmFootnote, gfmFootnoteHtml } from 'micromark-extension-gfm-footnote';
import { gfmStrikethrough, gfmStrikethroughHtml } from 'micromark-extension-gfm-strikethrough';
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table';

import { mistakeInFile } from '#server/campaign/pictures.ts';
import { missingFile, displayPath, namesIn, readText } from '#server/campaign/campaign-folder.ts';
import type { ReadWords } from '#server/campaign/words-file.ts';
import { type Mistake, mistakesOf } from '#server/platform/mistakes.ts';
import { escapeHtml } from '#server/platform/text.ts';
import type { Article } from '#shared/api.ts';
import type { Interface } from '#shared/campaign-schema.ts';
import { linkMistake } from '#shared/words.ts';

const ARTICLE_FILE = 'article/article.md';

/** @param words of the interface; undefined if they have mistakes */
export function readArticle(folder: string, words: Interface | undefined): ReadWords<Article> {
  const file = displayPath(folder, ARTICLE_FILE);
  const read = readText(folder, ARTICLE_FILE);
  if (read === null) return mistakesOf(missingFile(folder, ARTICLE_FILE));
  if (read.type === 'mistakes') return read;
  const article = renderArticle(read.text, words?.article);
  const line = read.text.slice(0, read.text.search(/\S|$/)).split('\n').length;
  if (article === null)
    return mistakesOf({ file, line, message: 'must begin with a title, such as "# Title".' });
  const mistakes = mistakesInBody(read.text, folder);
  if (micromark(`# ${article.title}`) !== `<h1>${escapeHtml(article.title)}</h1>`)
    mistakes.unshift({
      file,
      line,
      message: 'the title is shown exactly as written. Use plain words, without Markdown.',
    });
  if (words && !words.article?.notes && article.html.includes('<section data-footnotes'))
    mistakes.unshift({
      file,
      message: 'footnotes need two words. Copy "article: notes:" from the sample’s interface.yaml.',
    });
  return mistakes.length > 0 ? mistakesOf(...mistakes) : { type: 'words', words: article };
}

type ArticleWords = Pick<NonNullable<Interface['article']>, 'contents' | 'notes'>;

/** Extensions to CommonMark: tables, footnotes, and strike-through with two tildes. */
const MARKDOWN_EXTENSIONS = [gfmTable(), gfmFootnote(), gfmStrikethrough({ singleTilde: false })];

/** The first line with text. */
const TITLE = /^(\s*)#[ \u00A0]+(.+)(?=\n|$)/;

/** Keeps an empty line for the title, so that lines have the same numbers as in the file. */
const bodyOf = (markdown: string): string =>
  markdown.replace(TITLE, (_, before: string) => before.replaceAll(/[^\n]/g, ''));

/**
 * @param markdown lines end with \n
 * @returns null if the article does not begin with a title
 */
export function renderArticle(markdown: string, { contents, notes }: ArticleWords = {}): Article | null {
  const title = TITLE.exec(markdown)?.[2];
  if (title === undefined) return null;
  const html = micromark(bodyOf(markdown), {
    extensions: MARKDOWN_EXTENSIONS,
    // withSafeLinks checks links, because micromark would refuse "tel:".
    allowDangerousProtocol: true,
    htmlExtensions: [
      gfmTableHtml(),
      gfmStrikethroughHtml(),
      gfmFootnoteHtml({
        label: notes?.title ?? '',
        labelTagName: 'p',
        labelAttributes: '',
        backLabel: notes?.back ?? '',
        clobberPrefix: '',
      }),
    ],
  });
  const withSections = withNamedSections(withSafeLinks(html));
  const body = contents === undefined ? withSections : withContents(withSections, contents);
  return {
    title: title.trim(),
    html: withOwnDirection(
      withPlainArrows(withPictureSizes(withRelativePictures(withScrollingTables(body)))),
    ),
  };
}

const withSafeLinks = (html: string): string =>
  html.replaceAll(/(<a href|<img src)="(?!(?:https?|mailto|tel):)[^"/?#]*:[^"]*"/gi, '$1=""');

/** Gives each heading an ID made from its words. The IDs of footnotes begin with "fn". */
function withNamedSections(html: string): string {
  const used = new Set<string>();
  return html.replaceAll(/<(h[2-6])>([^]*?)<\/\1>/g, (_, tag: string, words: string) => {
    const text = words.replaceAll(/<sup>.*?<\/sup>|<[^>]*>|&\w+;/g, ' ').toLowerCase();
    const name = ['section', ...(text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])].join('-');
    let id = name;
    for (let count = 2; used.has(id); count += 1) id = `${name}-${count}`;
    used.add(id);
    return `<${tag} id="${id}">${words}</${tag}>`;
  });
}

/** The number of a footnote is not part of a name. */
const NOTES_AND_TAGS = /<sup>.*?<\/sup>|<[^>]*>/g;

/** With fewer sections, scrolling is as fast. */
const MIN_SECTIONS = 5;

/** Adds a table of contents before the first section. */
function withContents(html: string, title: string): string {
  const sections = Array.from(html.matchAll(/<h2 id="([^"]*)">([^]*?)<\/h2>/g));
  if (sections.length < MIN_SECTIONS) return html;
  const links = sections.map(([, id = '', words = '']) => {
    const text = words.replaceAll(NOTES_AND_TAGS, '');
    return `<li><a href="#${id}">${text}</a></li>`;
  });
  const nav = `<nav aria-labelledby="contents"><p id="contents">${escapeHtml(title)}</p><ol>${links.join('')}</ol></nav>`;
  return html.replace('<h2', () => `${nav}<h2`);
}

/** Phones show the arrow of footnotes' back links as an emoji. */
const withPlainArrows = (html: string): string =>
  html.replaceAll('class="data-footnote-backref">↩', 'class="data-footnote-backref">↑');

/** Most code is written from left to right, also in an article that is not. */
const withOwnDirection = (html: string): string => html.replaceAll(/<(code|pre)>/g, '<$1 dir="auto">');

/** Tables wider than a phone scroll horizontally, also by keyboard. Screen readers name them by their headings. */
const withScrollingTables = (html: string): string =>
  html.replaceAll(/<table>[^]*?<\/table>/g, (table) => {
    const headings = Array.from(table.matchAll(/<th\b[^>]*>(.*?)<\/th>/g), ([, heading = '']) =>
      heading.replaceAll(NOTES_AND_TAGS, '').replaceAll('"', '&quot;'),
    );
    return `<div tabindex="0" role="group" aria-label="${headings.filter(Boolean).join(', ')}">${table}</div>`;
  });

/** The page may be under a path. */
const withRelativePictures = (html: string): string =>
  html.replaceAll('<img src="/media/', '<img src="media/');

/** Reserves space for a picture whose name ends with its size, such as chart-640x280.webp, while it loads. */
const withPictureSizes = (html: string): string =>
  html.replaceAll(
    /<img src="[^"]*-(\d{1,4})x(\d{1,4})\.\w+"/g,
    (img, width: string, height: string) => `${img} width="${width}" height="${height}" loading="lazy"`,
  );

/** Markdown elements, and parts that are code. Their characters are not text. */
const RECOGNISED_TOKENS = new Set([
  'autolink',
  'characterEscape',
  'characterReference',
  'codeFenced',
  'codeIndented',
  'codeText',
  'definition',
  'emphasisSequence',
  'gfmFootnoteCall',
  'gfmFootnoteDefinitionLabel',
  'htmlFlow',
  'htmlText',
  'labelImageMarker',
  'labelMarker',
  'reference',
  'resource',
  'strikethroughSequence',
  'strongSequence',
  'table',
  'thematicBreak',
]);

/** Outside the elements that the parser recognised, text that still looks like Markdown contains a mistake. */
const LEFTOVERS: readonly (readonly [looksLike: RegExp, phrase: (found: string) => string])[] = [
  [/^ {0,3}(?:[-*+]|\d+[.)]) +\[[ xX]\](?= )/gm, () => 'checkboxes are not supported. Write a plain list'],
  [
    /\[\^[^\]\s]+\]/g,
    (found) => `${found}: this footnote has no text. Add a line such as "${found}: The note."`,
  ],
  [
    // After a space, only if a URL follows: "[sic] (2019)" is text.
    /\](?:\(| +\((?=[^\s)]*[:/#]))[^)\n]*|\)\[https?:/g,
    () =>
      'this link or picture is not valid. Write [words](https://…), without spaces in the URL and before it',
  ],
  [
    /\[[^\][\n]+\]\[[^\]\n]*\]/g,
    (found) => `${found}: this link has no URL. Add a line such as "[name]: https://…"`,
  ],
  [/^ {0,3}#{2,6}[^#\s].*/gm, (found) => `a space is missing after the # of "${found.trim()}"`],
  [
    /^ *(?:#{1,6}|[-*])\u00A0/gm,
    (found) =>
      `the space after ${found.trim()} is a no-break space, so ${found.trim()} is shown as text. Replace it with a normal space`,
  ],
  [
    /^ {0,3}\|.*\|\s*$/gm,
    () => 'is not a valid table. The second line must be | --- | --- |, with as many cells as the first',
  ],
  [
    /\*\*|~~/g,
    (found) =>
      `${found} is shown exactly as written. Put ${found} directly before and after the words, with spaces and punctuation outside`,
  ],
];

/** Finds text that would not be shown as intended, in line order. */
function mistakesInBody(markdown: string, folder: string): Mistake[] {
  const body = bodyOf(markdown);
  const found: (Mistake & { readonly line: number })[] = [];
  const add = (line: number, phrase: string) =>
    found.push({ file: displayPath(folder, ARTICLE_FILE), line, message: `${phrase}.` });
  const events = postprocess(
    parse({ extensions: MARKDOWN_EXTENSIONS })
      .document()
      .write(preprocess()(body, undefined, true)),
  );
  // Recognised characters become spaces. Split into UTF-16 units, because the parser counts these.
  const remaining = body.split('');
  let inImage = 0;
  let columns = 0;
  const calledNotes = new Set<string>();
  const definedNotes = new Map<string, number>();
  for (const [kind, token, context] of events) {
    const { type, start, end } = token;
    if (type === 'image') inImage += kind === 'enter' ? 1 : -1;
    if (kind !== 'enter') continue;
    const { line } = start;
    if (RECOGNISED_TOKENS.has(type))
      for (let at = start.offset; at < end.offset; at += 1) if (remaining[at] !== '\n') remaining[at] = ' ';
    const text = () => context.sliceSerialize(token);
    if (type === 'htmlFlow' || type === 'htmlText')
      add(line, `HTML is shown as text: ${text().split('\n', 1)[0] ?? ''}. Write Markdown instead`);
    else if (type === 'gfmFootnoteCallString') calledNotes.add(text().toLowerCase());
    else if (type === 'gfmFootnoteDefinitionLabelString') definedNotes.set(text().toLowerCase(), line);
    else if (type === 'table') columns = token._align?.length ?? 0;
    else if (type === 'tableRow') {
      const cells = cellsIn(text());
      if (cells > columns)
        add(
          line,
          `the row has ${cells} cells, but the table’s heading has only ${columns}, so the rest is not shown. Add a column to the first two lines, or write \\| for a | within a cell`,
        );
    } else if (type === 'codeFenced' && !/\n {0,3}(?:`{3,}|~{3,})[ \t]*$/.test(text()))
      add(line, 'the block that begins here does not end. Add a line with ``` below it');
    else if (
      (type === 'atxHeading' && /^#\s/.test(text())) ||
      (type === 'setextHeading' && text().endsWith('='))
    )
      add(line, 'is a second title. Write ## for a section');
    else if (type === 'resourceDestinationString' || type === 'definitionDestinationString') {
      const mistake = inImage > 0 ? pictureMistake(folder, text()) : linkMistake(text(), []);
      if (mistake !== null) add(line, `${text()} ${mistake}`);
    } else if (type === 'image' && /^!\[\s*\]/.test(text()))
      add(
        line,
        'this picture has no description for people who cannot see it. Write ![description](media/…)',
      );
  }
  for (const [name, line] of definedNotes)
    if (!calledNotes.has(name)) add(line, `this footnote is not shown, because no [^${name}] is in the text`);
  const leftover = remaining.join('');
  for (const [looksLike, phrase] of LEFTOVERS)
    for (const { 0: text, index } of leftover.matchAll(looksLike))
      add(leftover.slice(0, index).split('\n').length, phrase(text));
  // The other mistakes of a line usually follow from the first.
  return found
    .toSorted((one, other) => one.line - other.line)
    .filter(({ line }, at, all) => all[at - 1]?.line !== line);
}

/** Empty cells at the end of a row are not counted, and neither is an escaped pipe. */
const cellsIn = (row: string): number =>
  row
    .replaceAll(/\\[\\|]/g, '_')
    .replaceAll(/^\s*\||[|\s]+$/g, '')
    .split('|').length;

function pictureMistake(folder: string, href: string): string | null {
  const [, name] = /^\/?media\/([\w.-]+)$/.exec(href) ?? [];
  if (name === undefined && /^\/?media\//.test(href))
    return 'is not shown, because its name contains other characters than letters from a to z, digits, dots, hyphens and _. Rename the file';
  if (name === undefined)
    return 'is not shown, because the page only shows pictures from the campaign’s media/ folder. Put the file there, and write media/ before its name';
  if (!/\.(?:svg|webp|avif|png|jpe?g)$/.test(name))
    return 'must end with .svg, .webp, .avif, .png or .jpg. Save the picture in one of these formats';
  if (!namesIn(path.join(folder, 'media')).includes(name))
    return 'does not exist. Put a file with exactly this name into the campaign’s media/ folder';
  return mistakeInFile(folder, name);
}
