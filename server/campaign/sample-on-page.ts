// What of the sample still stands on the page: its people and their figures are invented, and no visitor should read them. The names
// and figures stand here, because an operator changes campaign/ itself; a test holds them to the words that the project comes with.
import * as yaml from 'yaml';

import { nameOf, readText } from '#server/campaign/pictures-and-films.ts';
import { lineOfEntry } from '#server/campaign/missing-and-wrong-words.ts';

/** What is invented in campaign/ and in examples/german/. */
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

/** Every text of a file of words, from top to bottom. Which entries there are is not asked. */
function textsIn(words: unknown, entry: readonly PropertyKey[] = []): Text[] {
  if (typeof words === 'string') return [{ entry, text: words }];
  if (typeof words !== 'object' || words === null) return [];
  return Object.entries(words).flatMap(([name, inner]) => textsIn(inner, [...entry, name]));
}

/** Whether a text has a part that is not the rest of a longer word or number. */
const has = (text: string, part: string): boolean =>
  ` ${text} `.split(part).some((before, at, all) => at + 1 < all.length && !/[\p{L}\d.,:]$/u.test(before));

/**
 * Looks for the sample on the page.
 * @param folder the campaign folder
 * @returns one sentence for each kind of thing that is still there
 */
export function sampleOnPage(folder: string): string[] {
  const found = (file: string, parts: readonly string[], entries: (entry: Text['entry']) => boolean) => {
    const read = readText(folder, file);
    if (read?.type !== 'text') return null;
    const texts = textsIn(yaml.parse(read.text)).filter(({ entry }) => entries(entry));
    const there = parts.flatMap((part) => {
      const place = texts.find(({ text }) => has(text, part));
      return place === undefined ? [] : [{ part, line: lineOfEntry(read.text, place.entry) }];
    });
    const [first] = there;
    if (first === undefined) return null;
    const list = there.map(({ part, line }) => (there.length === 1 ? part : `${part} (line ${line})`));
    return { place: `${nameOf(folder, file)}:${first.line}`, list: list.join(', ') };
  };
  const all = () => true;
  const people = found('landing.yaml', SAMPLE.people, all);
  const figures = found('landing.yaml', SAMPLE.figures, all);
  const publisher = found('site.yaml', SAMPLE.publishers, ([name]) => name === 'publisher');
  return [
    ...(people === null
      ? []
      : [
          `${people.place}: the sample’s invented people are still on the page: ${people.list}. Put your own customers there, with their permission.`,
        ]),
    ...(figures === null
      ? []
      : [
          `${figures.place}: the sample’s invented figures are still on the page: ${figures.list}. Put figures there that you can prove.`,
        ]),
    ...(publisher === null
      ? []
      : [
          `${publisher.place}: publisher: is still the sample’s, ${publisher.list}. Write who publishes the page.`,
        ]),
  ];
}
