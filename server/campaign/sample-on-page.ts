// Finds the invented people and figures of the sample on the page. They are listed here because an operator
// edits campaign/ itself; a test compares the list.
import * as yaml from 'yaml';

import { nameOf, readText } from '#server/campaign/campaign-folder.ts';
import { lineOfEntry } from '#server/campaign/words-file.ts';
import { sayMistake, type Mistake } from '#server/platform/mistakes.ts';

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
    '10,2fachen',
    'Abschlussquote von 18 auf',
    'Doppelt so viele Zusagen',
    'Eingearbeitet in 6 statt 11',
  ],
  publishers: ['Master AI-Powered Outreach', 'Angebote, die angenommen werden'],
} as const;

type Text = { readonly entry: readonly PropertyKey[]; readonly text: string };

function textsIn(words: unknown, entry: readonly PropertyKey[] = []): Text[] {
  if (typeof words === 'string') return [{ entry, text: words }];
  if (typeof words !== 'object' || words === null) return [];
  return Object.entries(words).flatMap(([name, inner]) => textsIn(inner, [...entry, name]));
}

const has = (text: string, part: string): boolean =>
  ` ${text} `.split(part).some((before, at, all) => at + 1 < all.length && !/[\p{L}\d.,:]$/u.test(before));

/**
 * @param folder the campaign folder
 * @returns one sentence per kind of leftover
 */
export const sampleOnPage = (folder: string): string[] =>
  [
    leftover(
      folder,
      'landing.yaml',
      SAMPLE.people,
      (list) =>
        `the sample’s invented people are still on the page: ${list}. Put your own customers there, with their permission.`,
    ),
    leftover(
      folder,
      'landing.yaml',
      SAMPLE.figures,
      (list) =>
        `the sample’s invented figures are still on the page: ${list}. Put figures there that you can prove.`,
    ),
    leftover(
      folder,
      'site.yaml',
      SAMPLE.publishers,
      (list) => `publisher: is still the sample’s, ${list}. Write who publishes the page.`,
      'publisher',
    ),
  ]
    .filter((mistake) => mistake !== null)
    .map(sayMistake);

function leftover(
  folder: string,
  file: string,
  parts: readonly string[],
  message: (list: string) => string,
  within?: string,
): Mistake | null {
  const read = readText(folder, file);
  if (read?.type !== 'text') return null;
  const texts = textsIn(yaml.parse(read.text)).filter(
    ({ entry }) => within === undefined || entry[0] === within,
  );
  const found = parts.flatMap((part) => {
    const place = texts.find(({ text }) => has(text, part));
    return place === undefined ? [] : [{ part, line: lineOfEntry(folder, file, place.entry) ?? 1 }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const list = found.map(({ part, line }) => (found.length === 1 ? part : `${part} (line ${line})`));
  return { file: nameOf(folder, file), line: first.line, message: message(list.join(', ')) };
}
