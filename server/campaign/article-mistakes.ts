// What in the operator's Markdown would not be shown as it was meant. The parser that renders the article says what each part
// of it is; whatever still looks like Markdown outside of these parts is a slip.
import { parse, postprocess, preprocess } from 'micromark';

import { MARKDOWN_EXTENSIONS } from '#server/campaign/render-article.ts';
import { linkMistake } from '#shared/links.ts';

export type ArticleSlip = {
  readonly line: number;
  /** A phrase, which says what to do. */
  readonly sentence: string;
  /** False for what is shown, if not well. */
  readonly isMistake: boolean;
};

/** Parts whose characters mean something, or are code. */
const UNDERSTOOD = new Set([
  'autolink',
  'characterEscape',
  'characterReference',
  'codeFenced',
  'codeIndented',
  'codeText',
  'definition',
  'emphasisSequence',
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

type Leftover = readonly [looksLike: RegExp, sentence: (found: string) => string, isMistake?: false];

/** What is left over when it was written nearly right. */
const LEFTOVERS: readonly Leftover[] = [
  [/^ {0,3}(?:[-*+]|\d+[.)]) +\[[ xX]\](?= )/gm, () => 'boxes to tick are not drawn; write a plain list'],
  [/\[\^[^\]\s]+\]:?/g, (found) => `${found}: there are no footnotes; say it in the text`],
  [/\] +\(/g, () => 'a link is written [words](https://…), with nothing between ] and ('],
  [
    /\]\([^)\n]*/g,
    () => 'a link or picture is not understood; it is written [words](https://…), without blanks',
  ],
  [
    /\[[^\][\n]+\]\[[^\]\n]*\]/g,
    (found) => `${found}: no line says where this leads, such as "[name]: https://…"`,
  ],
  [/^ {0,3}(?:#{2,6}[^#\s]|#\p{L}).*/gmu, (found) => `a blank is missing behind the # of "${found.trim()}"`],
  [
    /^ {0,3}\|.*\|\s*$/gm,
    () => 'is no table; the line under its first one must be | --- | --- |, with as many cells as the first',
  ],
  [
    /\*\*|~~/g,
    (found) =>
      `${found} is shown as it stands; no blank may stand between it and its words, and a second one ends it`,
  ],
  [/\bhttps?:\/\/[^\s)>\]]+/g, (found) => `${found} cannot be pressed; write <${found}>`, false],
];

/**
 * Looks for slips.
 * @param body the Markdown below the title
 * @param isPicture whether media/ holds a file
 * @returns in the order of their lines; the body's first line is 1
 */
export function articleSlips(body: string, isPicture: (name: string) => boolean): ArticleSlip[] {
  const slips: ArticleSlip[] = [];
  const complain = (line: number, sentence: string) => slips.push({ line, sentence, isMistake: true });
  const events = postprocess(
    parse({ extensions: MARKDOWN_EXTENSIONS })
      .document()
      .write(preprocess()(body, undefined, true)),
  );
  // In the units in which the parser counts.
  const rest = body.split('');
  let level = 1;
  let inImage = 0;
  for (const [way, token, context] of events) {
    const { type, start, end } = token;
    if (type === 'image') inImage += way === 'enter' ? 1 : -1;
    if (way !== 'enter') continue;
    const { line } = start;
    if (UNDERSTOOD.has(type))
      for (let at = start.offset; at < end.offset; at += 1) if (rest[at] !== '\n') rest[at] = ' ';
    const text = () => context.sliceSerialize(token);
    if (type === 'htmlFlow' || type === 'htmlText')
      complain(
        line,
        text().startsWith('<!--')
          ? 'a comment would be shown as text; take it out'
          : `HTML is shown as text: ${text().split('\n', 1)[0] ?? ''}; write Markdown in its place`,
      );
    else if (type === 'atxHeadingSequence' || type === 'setextHeadingLineSequence') {
      const sign = text();
      const found = type === 'atxHeadingSequence' ? sign.length : sign.startsWith('=') ? 1 : 2;
      const opens = type !== 'atxHeadingSequence' || /^ {0,3}$/.test(lineBefore(body, start.offset));
      if (!opens) continue;
      if (found === 1) complain(line, 'is a second title; write ## for a section');
      else if (found > level + 1)
        slips.push({
          line,
          sentence: `goes from ${'#'.repeat(level)} to ${'#'.repeat(found)}; write ${'#'.repeat(level + 1)}, so that screen readers can tell what belongs to what`,
          isMistake: false,
        });
      level = Math.max(2, found);
    } else if (type === 'resourceDestinationString' || type === 'definitionDestinationString') {
      const mistake = inImage > 0 ? pictureMistake(text(), isPicture) : linkMistake(text(), []);
      if (mistake !== null) complain(line, `${text()} ${mistake}`);
    } else if (type === 'image' && /^!\[\s*\]/.test(text()))
      complain(line, 'the picture has no words for those who cannot see it: ![what it shows](media/…)');
  }
  const left = rest.join('');
  for (const [looksLike, sentence, isMistake = true] of LEFTOVERS)
    for (const { 0: found, index } of left.matchAll(looksLike))
      slips.push({ line: left.slice(0, index).split('\n').length, sentence: sentence(found), isMistake });
  return firstOfEach(slips);
}

const lineBefore = (body: string, offset: number): string =>
  body.slice(body.lastIndexOf('\n', offset - 1) + 1, offset);

function pictureMistake(href: string, isPicture: (name: string) => boolean): string | null {
  const [, name] = /^\/?media\/([\w.-]+)$/.exec(href) ?? [];
  if (name === undefined)
    return 'is not shown: the page shows pictures from media/ of the campaign alone; put it there, and write media/ and its name';
  return isPicture(name)
    ? null
    : 'is not there; put it into media/ of the campaign, with this name to the letter';
}

/** What follows from a slip, on its own line or on the next, says nothing new. */
function firstOfEach(slips: readonly ArticleSlip[]): ArticleSlip[] {
  const found = new Map<number, ArticleSlip>();
  for (const slip of slips) {
    const before = found.get(slip.line);
    if (before === undefined || (slip.isMistake && !before.isMistake)) found.set(slip.line, slip);
  }
  return [...found.values()]
    .filter(({ line, sentence }) => found.get(line - 1)?.sentence !== sentence)
    .toSorted((one, other) => one.line - other.line);
}
