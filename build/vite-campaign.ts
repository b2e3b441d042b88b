// Lets the page import the operator's words: checked at build time, so that the page carries data and no schema.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { Plugin } from 'vite';
import type * as z from 'zod/mini';

import { readConsent, readWords } from '#server/campaign.ts';
import { Interface, Landing, Site } from '#shared/campaign-schema.ts';

/** Each file that the page may import, and its entries: what is left out is undefined, and no mistake. */
const ENTRIES = {
  'site.yaml': Object.keys(Site.shape),
  'landing.yaml': Object.keys(Landing.shape),
  'interface.yaml': Object.keys(Interface.shape),
  'consent.yaml': [],
} as const;
type WordFile = keyof typeof ENTRIES;

/** What '#campaign/…' in the page's code means; the words come from the folder that is chosen. */
const IMPORTED_FROM = path.resolve(import.meta.dirname, '..', 'campaign');

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

/** Reads the words of the page, and looks for the pictures they speak of. Throws all complaints. */
export function readPageWords(folder: string): PageWords {
  const site = readWordsOrThrow(folder, 'site.yaml', Site);
  const landing = readWordsOrThrow(folder, 'landing.yaml', Landing);
  const interfaceWords = readWordsOrThrow(folder, 'interface.yaml', Interface);
  const missing = neededMedia({ site, landing }).filter(
    ({ file }) => !existsSync(path.join(folder, 'media', file)),
  );
  if (missing.length > 0) {
    const complaints = missing.map(
      ({ entry, file }) =>
        `${entry}: needs media/${file}, which is not there. Put it there, or take the entry out.`,
    );
    throw new Error(`The words cannot be used:\n${complaints.join('\n')}`);
  }
  return { site, landing, interface: interfaceWords };
}

/** The files in media/ that each entry needs. */
function neededMedia({
  site,
  landing,
}: Pick<PageWords, 'site' | 'landing'>): { entry: string; file: string }[] {
  const need = (entry: string, files: readonly string[]) => files.map((file) => ({ entry, file }));
  const both = (names: readonly string[]) => names.flatMap((name) => [`${name}.avif`, `${name}.webp`]);
  return [
    ...need('site.yaml: logo', site.logo === undefined ? [] : [site.logo]),
    ...need(
      'landing.yaml: hero.imageAlt',
      landing.hero.imageAlt === undefined ? [] : both(['hero-640', 'hero-960', 'hero-1280']),
    ),
    ...need(
      'landing.yaml: video',
      landing.video === undefined
        ? []
        : ['film.mp4', 'film.webm', 'film.vtt', ...both(['poster-640', 'poster-960'])],
    ),
    ...landing.testimonials.cards.flatMap(({ image }, at) =>
      need(`landing.yaml: testimonials.cards.${at}.image`, image === undefined ? [] : both([image])),
    ),
  ];
}

/** As high as the mark it stands for (web/frame/mark.tsx), in CSS pixels. */
const LOGO_HEIGHT = 24;

function logoOf(folder: string, { logo }: Site): { src: string; width: number; height: number } | undefined {
  if (logo === undefined) return undefined;
  const [, width, height] =
    /<svg[^>]*\sviewBox=["'][-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]+)[\s,]+([\d.]+)["']/.exec(
      readFileSync(path.join(folder, 'media', logo), 'utf8'),
    ) ?? [];
  if (width === undefined || height === undefined)
    throw new Error(`The words cannot be used:\nsite.yaml: logo: media/${logo} must have a viewBox.`);
  return {
    src: `/media/${logo}`,
    width: Math.round((LOGO_HEIGHT * Number(width)) / Number(height)),
    height: LOGO_HEIGHT,
  };
}

/** What a file of words gives to the page. */
function exportsOf(folder: string, file: WordFile): Readonly<Record<string, unknown>> {
  if (file === 'consent.yaml') return wordsOrThrow(readConsent(folder));
  const { site, landing, interface: interfaceWords } = readPageWords(folder);
  if (file === 'landing.yaml') return landing;
  if (file === 'interface.yaml') return interfaceWords;
  const languageName = new Intl.DisplayNames(site.language, { type: 'language' }).of(site.language);
  return { ...site, languageName, logo: logoOf(folder, site) };
}

/** The current year as the campaign's language writes it, without its word for year. */
function yearIn(language: string): string {
  const parts = new Intl.DateTimeFormat(language, { year: 'numeric' }).formatToParts();
  return parts.find(({ type }) => type === 'year')?.value ?? String(new Date().getFullYear());
}

/** A file of so many entries that each section of it is a module: an entry that the page does not use is then left out. */
const SECTIONED = 'interface.yaml';

/** A Vite plugin for `import * as words from '#campaign/….yaml'`: one export for each entry. */
export function campaignPlugin(folder: string): Plugin {
  return {
    name: 'campaign',
    enforce: 'pre',
    load(id) {
      const [place = '', section] = id.split('?');
      const file = path.basename(place);
      if (path.dirname(place) !== IMPORTED_FROM || !isWordFile(file)) return null;
      this.addWatchFile(path.join(folder, file));
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
