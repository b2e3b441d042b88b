// Finds words and pictures of the shipped campaigns that are still in an operator's campaign.
import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';

import { filesIn, displayPath, readText } from '#server/campaign/campaign-folder.ts';
import { describeMistake, type Mistake } from '#server/platform/mistakes.ts';

/** Operators edit campaign/ itself, so the invented names are listed here. A test compares the list. */
export const SAMPLE = {
  people: ['Sarah Lindqvist', 'Marcus Adeyemi', 'Katharina Voss', 'Emre Aydın', 'Lena Brandstätter'],
  figures: [
    '11.4%',
    '3.2%',
    '9.7:1',
    '10.2x',
    '>10 X average ROI',
    '3.5x improvement in 60 days',
    '10,2×',
    'Abschlussquote von 18 auf',
    'Doppelt so viele Zusagen',
    'Eingearbeitet in 6 statt 11',
  ],
  publishers: ['Master AI-Powered Outreach', 'Angebote, die angenommen werden'],
} as const;

/** Hashes of sentences and pictures, written by studio/list-sample.ts. */
const FINGERPRINTS_FILE = path.join(import.meta.dirname, 'sample-fingerprints.txt');

let fingerprints: ReadonlySet<string> | undefined;

const isSample = (fingerprint: string): boolean =>
  (fingerprints ??= new Set(readFileSync(FINGERPRINTS_FILE, 'utf8').split(/\s+/))).has(fingerprint);

export function sampleOnPage(folder: string): string[] {
  const texts = new Map(filesIn(folder).map((file) => [file, textsIn(folder, file)]));
  const landing = texts.get('landing.yaml') ?? [];
  const publisher = (texts.get('site.yaml') ?? []).filter(({ entry }) => entry === 'publisher');
  return [
    leftover(
      displayPath(folder, 'landing.yaml'),
      partsIn(landing, SAMPLE.people),
      (list) =>
        `the sample’s invented people are still on the page: ${list}. Replace them with your own customers, with their permission.`,
    ),
    leftover(
      displayPath(folder, 'landing.yaml'),
      partsIn(landing, SAMPLE.figures),
      (list) =>
        `the sample’s invented figures are still on the page: ${list}. Replace them with figures that you can prove.`,
    ),
    leftover(
      displayPath(folder, 'site.yaml'),
      partsIn(publisher, SAMPLE.publishers),
      (list) => `publisher: this is still the sample’s publisher, ${list}. Name the publisher of your page.`,
    ),
    ...Array.from(texts, ([file, all]) =>
      leftover(
        displayPath(folder, file),
        sampleSentences(all.filter((text) => !publisher.includes(text))),
        (list, count) =>
          count === 1
            ? `${list} is still the sample’s text. Write it for your own guide.`
            : `${count} of the sample’s texts are still here: ${list}. Write them for your own guide.`,
        MAX_QUOTED.sentences,
      ),
    ),
    samplePictures(folder, [...texts.keys()]),
  ]
    .filter((mistake) => mistake !== null)
    .map(describeMistake);
}

type Text = {
  readonly text: string;
  readonly line: number;
  /** The name of the outermost group or text in a YAML file. */
  readonly entry?: string;
};

/** Returns the texts of a YAML, Markdown or caption file, and none of a file that cannot be read. */
export function textsIn(folder: string, file: string): Text[] {
  if (!/\.(?:yaml|md|vtt)$/.test(file)) return [];
  const read = readText(folder, file);
  if (read?.type !== 'text') return [];
  if (file.endsWith('.yaml')) return textsInYaml(read.text);
  // Times of captions are not part of a sentence.
  return [{ text: read.text.replaceAll(/^.*-->.*$/gm, ''), line: 1 }];
}

function textsInYaml(yaml: string): Text[] {
  const lines = new LineCounter();
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false });
  const found: Text[] = [];
  if (!isMap(document.contents)) return found;
  for (const { key, value } of document.contents.items)
    visit(value, {
      Scalar: (role, scalar) => {
        if (role === 'key' || typeof scalar.value !== 'string') return;
        const [start = 0] = scalar.range ?? [];
        found.push({
          text: scalar.value,
          line: lines.linePos(start).line,
          ...(isScalar(key) && { entry: String(key.value) }),
        });
      },
    });
  return found;
}

/** Returns sentences of two or more words. Single words could be anybody's. */
export function sentencesIn({ text, line }: Text): Text[] {
  let at = 0;
  let reached = line;
  return Array.from(text.matchAll(/\S[^]*?(?:[.!?](?=\s)|(?=\n\s*\n)|$)/g), ({ 0: sentence, index }) => {
    reached += text.slice(at, index).split('\n').length - 1;
    at = index;
    return {
      text: sentence
        .replaceAll(/[*_`#>]/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
      line: reached,
    };
  }).filter((sentence) => sentence.text.includes(' '));
}

export const fingerprint = (content: string | Buffer): string => hash('sha256', content).slice(0, 8);

type Found = { readonly part: string; readonly line: number };

const sampleSentences = (texts: readonly Text[]): Found[] =>
  texts
    .flatMap(sentencesIn)
    .filter(({ text }) => isSample(fingerprint(text)))
    .map(({ text, line }) => ({ part: `“${shortened(text)}”`, line }));

const MAX_QUOTE_LENGTH = 60;

const shortened = (text: string): string =>
  text.length <= MAX_QUOTE_LENGTH ? text : `${text.slice(0, MAX_QUOTE_LENGTH).replace(/\s+\S*$/, '')} …`;

/** True if the text contains the part, not only within a longer word or number. */
const containsPart = (text: string, part: string): boolean =>
  ` ${text} `.split(part).some((before, at, all) => at + 1 < all.length && !/[\p{L}\d.,:]$/u.test(before));

const partsIn = (texts: readonly Text[], parts: readonly string[]): Found[] =>
  parts.flatMap((part) => {
    const place = texts.find(({ text }) => containsPart(text, part));
    return place === undefined ? [] : [{ part, line: place.line }];
  });

/** The sample has six figures. Further places are listed by line. */
const MAX_QUOTED = { figures: 6, sentences: 3 };

function leftover(
  file: string,
  found: readonly Found[],
  message: (list: string, count: number) => string,
  maxQuoted = MAX_QUOTED.figures,
): Mistake | null {
  const [first] = found;
  if (first === undefined) return null;
  const list = found
    .slice(0, maxQuoted)
    .map(({ part, line }) => (found.length === 1 ? part : `${part} (line ${line})`));
  const more = found.slice(maxQuoted);
  const lines = [...new Set(more.map(({ line }) => line))];
  const others = ` and ${more.length} more (${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')})`;
  return {
    file,
    line: first.line,
    message: message(list.join(', ') + (more.length > 0 ? others : ''), found.length),
  };
}

/** More than any file of the sample. Hashing an operator's long film would block the server. */
const MAX_HASHED_BYTES = 2_000_000;

/** Recognises a picture by its content, or by the name of an invented person. */
function samplePictures(folder: string, files: readonly string[]): Mistake | null {
  const people = SAMPLE.people.map((name) => name.toLowerCase().replaceAll(' ', '-'));
  const pictures = files
    .filter((file) => /^media\/.*\.(?:avif|webp|png|svg|mp4|webm)$/.test(file))
    .filter(
      (file) =>
        (statSync(path.join(folder, file), { throwIfNoEntry: false })?.size ?? Infinity) <= MAX_HASHED_BYTES,
    )
    .filter(
      (file) =>
        people.some((name) => file.includes(name)) ||
        isSample(fingerprint(readFileSync(path.join(folder, file)))),
    );
  const [first] = pictures;
  if (first === undefined) return null;
  const names = pictures.map((file) => path.parse(file).name.replace(/-\d+(?:x\d+)?$/, ''));
  return {
    file: displayPath(folder, first),
    message: `the sample’s pictures are still here: ${[...new Set(names)].join(', ')}. Replace them with your own (docs/customising.md, Pictures).`,
  };
}
