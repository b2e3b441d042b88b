// Permanent folders, so each site is built only once. Parallel tests share them: a folder is prepared, moved into place and never
// changed.
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

function keptCampaign(name: string, write: (folder: string) => void): string {
  mkdirSync(FOLDER, { recursive: true });
  const making = mkdtempSync(path.join(FOLDER, 'making-'));
  try {
    write(making);
    chmodSync(making, 0o755);
    const folder = path.join(FOLDER, `${name}-${digest(making)}`);
    try {
      renameSync(making, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

const overlaid = (name: string, from: string, to: string): string =>
  keptCampaign(name, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    cpSync(path.join(import.meta.dirname, from), path.join(folder, to), { recursive: true });
  });

const withLanding = (
  name: string,
  landing: string,
  { media = [], texts = {} }: { media?: readonly string[]; texts?: Readonly<Record<string, string>> } = {},
): string =>
  keptCampaign(name, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, {
      recursive: true,
      filter: (place) => !/[\\/]media$|landing\.yaml$/.test(place),
    });
    writeFileSync(path.join(folder, 'landing.yaml'), landing);
    for (const [file, text] of Object.entries(texts)) writeFileSync(path.join(folder, file), text);
    for (const source of media) cpSync(source, path.join(folder, 'media'), { recursive: true });
  });

const mediaOf = (campaign: string): string => path.join(campaign, 'media');

const landingOf = (campaign: string): string => readFileSync(path.join(campaign, 'landing.yaml'), 'utf8');

export const rearrangedCampaign = (): string =>
  withLanding('rearranged', landingOf(REARRANGED), { media: [mediaOf(REARRANGED)] });

export function reversedCampaign(): string {
  const { logos, questions } = parse(landingOf(REARRANGED)) as Readonly<Record<string, unknown>>;
  const landing = parse(landingOf(TEST_CAMPAIGN)) as Readonly<Record<string, unknown>>;
  const sections = SECTIONS.toReversed();
  return withLanding('reversed', stringify({ ...landing, sections, logos, questions }), {
    media: [mediaOf(TEST_CAMPAIGN), mediaOf(REARRANGED)],
  });
}

/** Without anything that is optional. */
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
  const {
    steps: _steps,
    article: _article,
    ...others
  } = parse(readFileSync(path.join(TEST_CAMPAIGN, 'interface.yaml'), 'utf8')) as {
    readonly steps: unknown;
    readonly article: unknown;
    readonly content: Readonly<Record<string, unknown>>;
    readonly verification: Readonly<Record<string, unknown>>;
  };
  const article = readFileSync(path.join(TEST_CAMPAIGN, 'article', 'article.md'), 'utf8');
  const { readingTime: _time, prompt: _prompt, ...content } = others.content;
  const { whileYouWait: _wait, wrongCode: _wrong, ...verification } = others.verification;
  return withLanding('bare', stringify({ hero, closing, promise, withoutScript }), {
    texts: {
      'interface.yaml': stringify({ ...others, content, verification }),
      // Footnotes need words of interface.yaml.
      'article/article.md': article.replaceAll(/\[\^1\](?::[\s\S]*)?/g, ''),
    },
  });
}

export const campaignUnder = (sitePath = '/guide'): string =>
  keptCampaign(`under${sitePath.replaceAll('/', '-')}`, (folder) =>
    cpSync(TEST_CAMPAIGN, folder, { recursive: true }),
  );

export const ownFieldsCampaign = (): string => overlaid('own-fields', 'own-fields', '.');

export const variantsCampaign = (): string => overlaid('variants', 'variants', 'variants');

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
