// Checks the campaign at build time, so the page contains its data but not the schemas.
import { existsSync } from 'node:fs';
import path from 'node:path';

import type { Plugin } from 'vite';
import * as z from 'zod/mini';

import { readConsent } from '#server/campaign/campaign.ts';
import { iconDrawing, sizeInName, svgSize } from '#server/campaign/pictures.ts';
import { readForm } from '#server/campaign/own-form.ts';
import { OWN_PAGE, variantsIn } from '#server/campaign/campaign-folder.ts';
import { landingSchemaOf, siteSchemaOf } from '#server/campaign/words-and-files.ts';
import { readWords, wordsOrThrow } from '#server/campaign/words-file.ts';
import {
  chaptersOf,
  isVideoInHowItWorks,
  Interface,
  Landing,
  sectionsOf,
  Site,
} from '#shared/campaign-schema.ts';
import { withYear } from '#shared/words.ts';

/** An omitted optional entry is undefined. */
const ENTRIES = {
  'site.yaml': [...Object.keys(Site.shape), 'variant', 'variants'],
  'landing.yaml': Object.keys(Landing.shape),
  'interface.yaml': Object.keys(Interface.shape),
  'consent.yaml': [],
  'form.yaml': [],
} as const;
type WordFile = keyof typeof ENTRIES;

/** Only for module names: `#campaign/` imports resolve to this folder, wherever the campaign is. */
export const MODULE_FOLDER = path.resolve(import.meta.dirname, '..', 'campaign');

const isWordFile = (name: string): name is WordFile => name in ENTRIES;

export type PageWords = { readonly site: Site; readonly landing: Landing; readonly interface: Interface };

export function readPageWords(folder: string, variant: string | null = null): PageWords {
  const site = wordsOrThrow(readWords(folder, 'site.yaml', siteSchemaOf(folder)));
  const landing = wordsOrThrow(readWords(folder, 'landing.yaml', landingSchemaOf(folder), variant));
  const interfaceWords = wordsOrThrow(readWords(folder, 'interface.yaml', Interface, variant));
  return withYear({ site, landing, interface: interfaceWords }, site.language);
}

type Scale = (natural: { readonly width: number; readonly height: number }) => number;

/** CSS pixels: the height of the mark that it replaces (web/frame/mark.tsx). */
const LOGO_HEIGHT = 24;
const asLogo: Scale = ({ height }) => LOGO_HEIGHT / height;

/** CSS pixels. Gives logos of any shape the same visual size. */
const ROW = { area: 3600, height: 44, width: 150 };
const inRow: Scale = ({ width, height }) =>
  Math.min(Math.sqrt(ROW.area / (width * height)), ROW.height / height, ROW.width / width);

function pictureOf(folder: string, logo: string, sitePath: string, scale: Scale) {
  const size = logo.endsWith('.svg') ? svgSize(path.join(folder, 'media', logo)) : sizeInName(logo);
  if (size === null) throw new Error(`media/${logo} has no viewBox. Export the SVG with a viewBox.`);
  const factor = scale(size);
  return {
    src: `${sitePath}/media/${logo}`,
    width: Math.round(factor * size.width),
    height: Math.round(factor * size.height),
  };
}

function landingWords(folder: string, landing: Landing, sitePath: string) {
  const { benefits, logos, testimonials } = landing;
  const byFile = (items: readonly { readonly logo?: string | undefined }[] = [], scale: Scale) =>
    Object.fromEntries(
      items.flatMap(({ logo }) => (logo ? [[logo, pictureOf(folder, logo, sitePath, scale)]] : [])),
    );
  const sections = sectionsOf(landing);
  const film = sections.indexOf('video');
  const withPoints = isVideoInHowItWorks(sections);
  return {
    ...landing,
    // The other sections are static (web/landing/landing.tsx).
    sectionsBefore: film < 0 ? sections : sections.slice(0, withPoints ? film - 1 : film),
    sectionsAfter: film < 0 ? [] : sections.slice(film + 1),
    isVideoInHowItWorks: withPoints,
    drawings: Object.fromEntries(benefits?.cards.map(({ icon }) => [icon, iconDrawing(icon)]) ?? []),
    companyLogos: byFile(logos?.companies, inRow),
    testimonialLogos: byFile(testimonials?.cards, asLogo),
    // The other testimonials must not enter the application's bundle.
    testimonial: testimonials?.cards[0],
    // Without the other pages, for the same reason.
    firstPages: landing.inside?.pictures[0],
    chapters: chaptersOf(landing),
  };
}

function articleWords({ article }: Interface, { benefits }: Landing) {
  const titles = benefits?.cards.map(({ title }) => title);
  return { ...article, chapters: titles && article?.chapters && { ...article.chapters, titles } };
}

type PageOptions = {
  readonly variant: string | null;
  /** The path of PUBLIC_URL. */
  readonly sitePath: string;
};

function exportsOf(
  folder: string,
  file: WordFile,
  { variant, sitePath }: PageOptions,
): Readonly<Record<string, unknown>> {
  if (file === 'consent.yaml') return wordsOrThrow(readConsent(folder, variant));
  const { site, landing, interface: interfaceWords } = readPageWords(folder, variant);
  if (file === 'form.yaml') {
    const form = wordsOrThrow(readForm(folder, site.language));
    return withYear({ ...form, asksMore: form.fields.length > 0 }, site.language);
  }
  if (file === 'landing.yaml') return landingWords(folder, landing, sitePath);
  // Here and not in landing.yaml, because only the application's second file shows them.
  if (file === 'interface.yaml') return { ...interfaceWords, article: articleWords(interfaceWords, landing) };
  const languageName = new Intl.DisplayNames(site.language, { type: 'language' }).of(site.language);
  const others = variantsIn(folder);
  // Build-time constants, so a page without variants does not contain the code for them.
  const compared =
    others.length === 0 ? {} : { variant: variant ?? OWN_PAGE, variants: [OWN_PAGE, ...others].join() };
  const logo = site.logo && pictureOf(folder, site.logo, sitePath, asLogo);
  return { ...site, languageName, logo, ...compared };
}

/** Includes absent optional entries, because the page may import them. */
function entriesOf(section: string): string[] {
  const schema = Interface.shape[section as keyof Interface];
  return Object.keys(schema instanceof z.ZodMiniOptional ? schema.def.innerType.shape : schema.shape);
}

/** Each section is a module, so the bundler drops unused entries. */
const SECTIONED = 'interface.yaml';

export function campaignPlugin(folder: string, options: PageOptions): Plugin {
  // A file with many sections is loaded once for each of them.
  const kept = new Map<WordFile, Readonly<Record<string, unknown>>>();
  const wordsOf = (file: WordFile) => {
    const words = kept.get(file) ?? exportsOf(folder, file, options);
    kept.set(file, words);
    return words;
  };
  return {
    name: 'campaign',
    enforce: 'pre',
    resolveId: (source) =>
      source.startsWith('#campaign/') ? path.join(MODULE_FOLDER, source.slice('#campaign/'.length)) : null,
    watchChange: () => kept.clear(),
    load(id) {
      const [place = '', section] = id.split('?');
      const file = path.basename(place);
      if (path.dirname(place) !== MODULE_FOLDER || !isWordFile(file)) return null;
      // The development server notices when the file appears (invalidateWords in dev-server.ts).
      const source = path.join(folder, file);
      if (existsSync(source)) this.addWatchFile(source);
      const declare = (names: readonly string[], entries: Readonly<Record<string, unknown>>) =>
        names.map((name) => `export const ${name} = ${JSON.stringify(entries[name])};`);
      const words = wordsOf(file);
      const names = [...new Set([...ENTRIES[file], ...Object.keys(words)])];
      const code =
        file !== SECTIONED
          ? declare(names, words)
          : section === undefined
            ? names.map((name) => `export * as ${name} from './${file}?${name}';`)
            : declare(entriesOf(section), Object(words[section]));
      return { code: code.join('\n'), moduleType: 'js' };
    },
  };
}
