// Lets the page import the operator's words: checked at build time, so that the page carries data and no schema.
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Plugin } from 'vite';
import type * as z from 'zod/mini';

import { landingOf, readConsent, readForm, readWords, siteOf, svgSize } from '#server/campaign/campaign.ts';
import { Interface, Landing, Site } from '#shared/campaign-schema.ts';
import { yearIn } from '#shared/words.ts';

/** Each file that the page may import, and its entries. An optional entry that the operator left out is undefined. */
const ENTRIES = {
  'site.yaml': Object.keys(Site.shape),
  'landing.yaml': Object.keys(Landing.shape),
  'interface.yaml': Object.keys(Interface.shape),
  'consent.yaml': [],
  'form.yaml': [],
} as const;
type WordFile = keyof typeof ENTRIES;

/** What '#campaign/…' in the page's code means; the words come from the folder that is chosen. */
export const IMPORTED_FROM = path.resolve(import.meta.dirname, '..', 'campaign');

const isWordFile = (name: string): name is WordFile => name in ENTRIES;

/** Reads a file of words. Throws all complaints about it. */
function readWordsOrThrow<Words>(folder: string, file: string, schema: z.ZodMiniType<Words>): Words {
  return wordsOrThrow(readWords(folder, file, schema));
}

function wordsOrThrow<Words>(
  result: { type: 'words'; words: Words } | { type: 'complaints'; complaints: readonly string[] },
): Words {
  if (result.type === 'complaints')
    throw new Error(`The words cannot be used:\n${result.complaints.join('\n')}`);
  return result.words;
}

export type PageWords = { readonly site: Site; readonly landing: Landing; readonly interface: Interface };

/** Reads the words of the page. Throws all complaints. */
export function readPageWords(folder: string): PageWords {
  return {
    site: readWordsOrThrow(folder, 'site.yaml', siteOf(folder)),
    landing: readWordsOrThrow(folder, 'landing.yaml', landingOf(folder)),
    interface: readWordsOrThrow(folder, 'interface.yaml', Interface),
  };
}

/** As high as the mark it stands for (web/frame/mark.tsx), in CSS pixels. */
const LOGO_HEIGHT = 24;

function logoOf(
  folder: string,
  logo: string | undefined,
): { src: string; width: number; height: number } | undefined {
  if (logo === undefined) return undefined;
  const size = svgSize(folder, logo);
  if (size === null) throw new Error(`media/${logo} has lost its viewBox.`);
  return {
    src: `/media/${logo}`,
    width: Math.round((LOGO_HEIGHT * size.width) / size.height),
    height: LOGO_HEIGHT,
  };
}

/** What a file of words gives to the page. */
function exportsOf(folder: string, file: WordFile): Readonly<Record<string, unknown>> {
  if (file === 'consent.yaml') return wordsOrThrow(readConsent(folder));
  const { site, landing, interface: interfaceWords } = readPageWords(folder);
  if (file === 'form.yaml') {
    const form = wordsOrThrow(readForm(folder, site.language));
    return { ...form, asksMore: form.fields.length > 0 };
  }
  if (file === 'landing.yaml') {
    const cards = landing.testimonials.cards.map((card) => ({ ...card, logo: logoOf(folder, card.logo) }));
    // The form shows one testimonial; the others stay out of the application's files.
    return { ...landing, testimonials: { ...landing.testimonials, cards }, testimonial: cards[0] };
  }
  if (file === 'interface.yaml') return interfaceWords;
  const languageName = new Intl.DisplayNames(site.language, { type: 'language' }).of(site.language);
  return { ...site, languageName, logo: logoOf(folder, site.logo) };
}

/** The largest file of words: each of its sections is a module, so that the bundler leaves out unused entries. */
const SECTIONED = 'interface.yaml';

/** A Vite plugin for `import * as words from '#campaign/….yaml'`: one export for each entry. */
export function campaignPlugin(folder: string): Plugin {
  return {
    name: 'campaign',
    enforce: 'pre',
    // A campaign need not have every file.
    resolveId: (source) =>
      source.startsWith('#campaign/') ? path.join(IMPORTED_FROM, source.slice('#campaign/'.length)) : null,
    load(id) {
      const [place = '', section] = id.split('?');
      const file = path.basename(place);
      if (path.dirname(place) !== IMPORTED_FROM || !isWordFile(file)) return null;
      // What is not there cannot be watched; the development server notices when it comes (forgetWords).
      const source = path.join(folder, file);
      if (existsSync(source)) this.addWatchFile(source);
      // Fills in what an operator should not have to change each January.
      const year = yearIn(readWordsOrThrow(folder, 'site.yaml', Site).language);
      const declare = (names: readonly string[], entries: Readonly<Record<string, unknown>>) =>
        names.map((name) => {
          const value = JSON.stringify(entries[name])?.replaceAll('{year}', year);
          return `export const ${name} = ${value};`;
        });
      const words = exportsOf(folder, file);
      const names = [...new Set([...ENTRIES[file], ...Object.keys(words)])];
      const code =
        file !== SECTIONED
          ? declare(names, words)
          : section === undefined
            ? names.map((name) => `export * as ${name} from './${file}?${name}';`)
            : declare(Object.keys(Object(words[section])), Object(words[section]));
      return { code: code.join('\n'), moduleType: 'js' };
    },
  };
}
