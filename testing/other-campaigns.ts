// Campaigns that differ from the tests' own and are made from it, in folders that stay, so that their sites are built once.
// Tests that run at the same time share them: a folder is made beside its place, moved there whole, and never written again. Its name
// tells its content, so a changed source makes another one.
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { parse, stringify } from 'yaml';

import { SECTIONS } from '#shared/campaign-schema.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { COUNTER_ORIGIN, UMAMI_SITE } from '#testing/visit-counter.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(PROJECT_FOLDER, 'node_modules', '.cache', 'campaigns');
const REARRANGED = path.join(PROJECT_FOLDER, 'testing', 'rearranged');

/** Of all files: their names and what stands in them. */
function digest(folder: string): string {
  const hash = createHash('sha256');
  for (const file of globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted())
    hash
      .update(`${path.relative(folder, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex').slice(0, 12);
}

/** A campaign that stays. @param write what stands in it @returns its folder */
function keptCampaign(name: string, write: (folder: string) => void): string {
  mkdirSync(FOLDER, { recursive: true });
  const making = mkdtempSync(path.join(FOLDER, 'making-'));
  try {
    write(making);
    // A folder that was made for a while is its maker's alone.
    chmodSync(making, 0o755);
    const folder = path.join(FOLDER, `${name}-${digest(making)}`);
    try {
      renameSync(making, folder);
    } catch (error) {
      // It is there already: a folder that is not empty is not replaced.
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** The tests' campaign with more files, or with others in their place. @param from a folder of testing/ @param to where they belong */
const overlaid = (name: string, from: string, to: string): string =>
  keptCampaign(name, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    cpSync(path.join(import.meta.dirname, from), path.join(folder, to), { recursive: true });
  });

/** The tests' campaign with another landing page. @param media folders of pictures, in place of the tests' own */
const withLanding = (name: string, landing: string, media: readonly string[] = []): string =>
  keptCampaign(name, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, {
      recursive: true,
      filter: (place) => !/[\\/]media$|landing\.yaml$/.test(place),
    });
    writeFileSync(path.join(folder, 'landing.yaml'), landing);
    for (const source of media) cpSync(source, path.join(folder, 'media'), { recursive: true });
  });

const mediaOf = (campaign: string): string => path.join(campaign, 'media');

const landingOf = (campaign: string): string => readFileSync(path.join(campaign, 'landing.yaml'), 'utf8');

/** Without testimonials, problems and film, with questions and logos, in another order: testing/rearranged. @returns its folder */
export const rearrangedCampaign = (): string =>
  withLanding('rearranged', landingOf(REARRANGED), [mediaOf(REARRANGED)]);

/** With every section that there is, the film among them alone, from the last to the first. @returns its folder */
export function reversedCampaign(): string {
  const { logos, questions } = parse(landingOf(REARRANGED)) as Readonly<Record<string, unknown>>;
  const landing = parse(landingOf(TEST_CAMPAIGN)) as Readonly<Record<string, unknown>>;
  const sections = SECTIONS.toReversed();
  return withLanding('reversed', stringify({ ...landing, sections, logos, questions }), [
    mediaOf(TEST_CAMPAIGN),
    mediaOf(REARRANGED),
  ]);
}

/** With the hero and the closing card alone. @returns its folder */
export function bareCampaign(): string {
  const landing = parse(landingOf(TEST_CAMPAIGN)) as {
    readonly hero: Readonly<Record<string, unknown>>;
    readonly closing: unknown;
    readonly promise: Readonly<Record<string, unknown>>;
    readonly withoutScript: unknown;
  };
  const { closing, withoutScript } = landing;
  const { imageAlt: _picture, ...hero } = landing.hero;
  const { imageAlt: _cover, ...promise } = landing.promise;
  return withLanding('bare', stringify({ hero, closing, promise, withoutScript }));
}

/** The tests' own, whose site is built for a path of PUBLIC_URL. @param sitePath such as /guide @returns its folder */
export const campaignUnder = (sitePath = '/guide'): string =>
  keptCampaign(`under${sitePath.replaceAll('/', '-')}`, (folder) =>
    cpSync(TEST_CAMPAIGN, folder, { recursive: true }),
  );

/** With questions of its own, one of each kind: testing/own-fields. @returns its folder */
export const ownFieldsCampaign = (): string => overlaid('own-fields', 'own-fields', '.');

/** With a second variant of its page, other in its words, its sections and what is agreed to: testing/variants. @returns its folder */
export const variantsCampaign = (): string => overlaid('variants', 'variants', 'variants');

/** With a visit counter. @param words of `analytics` in site.yaml */
const countedBy = (tool: string, words: readonly string[]): string =>
  keptCampaign(`counted-by-${tool}`, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    const lines = ['', 'analytics:', `  tool: ${tool}`, ...words.map((line) => `  ${line}`), ''];
    appendFileSync(path.join(folder, 'site.yaml'), lines.join('\n'));
  });

export const plausibleCampaign = (): string =>
  countedBy('plausible', [`script: ${COUNTER_ORIGIN}/js/pa-abc_123.js`]);
export const umamiCampaign = (): string =>
  countedBy('umami', [`script: ${COUNTER_ORIGIN}/script.js`, `site: ${UMAMI_SITE}`]);
export const matomoCampaign = (): string =>
  countedBy('matomo', [`script: ${COUNTER_ORIGIN}/matomo.js`, "site: '7'"]);
