// Permanent folders, so each site is built only once. Parallel tests share them: a folder is prepared, moved into place and never
// changed.
import { createHash } from 'node:crypto';
import {
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

import { parse, parseDocument, stringify } from 'yaml';

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

export const AFTER_CODE = 'https://shop.example.com/thank-you';
export const DOWNLOAD = `%PDF-1.7\n${'The guide. '.repeat(20_000)}`;

const siteOf = (campaign: string, ...lines: readonly string[]): string =>
  `${readFileSync(path.join(campaign, 'site.yaml'), 'utf8')}\n${lines.join('\n')}\n`;

/** With everything that is optional in site.yaml, except a visit counter. */
export const rearrangedCampaign = (): string =>
  withLanding('rearranged', landingOf(REARRANGED), {
    media: [mediaOf(REARRANGED)],
    texts: {
      'site.yaml': siteOf(
        TEST_CAMPAIGN,
        'noindex: true',
        `afterCode: ${AFTER_CODE}`,
        'download: { label: Download as PDF, file: the-guide.pdf }',
        'readOn: { label: Book a call, href: https://example.com/call }',
      ),
      'article/the-guide.pdf': DOWNLOAD,
      'interface.yaml': readFileSync(path.join(TEST_CAMPAIGN, 'interface.yaml'), 'utf8').replace(
        /^ {2}(?:endTitle|endText): .*\n/gm,
        '',
      ),
    },
  });

/** Counted by Umami. */
export function reversedCampaign(): string {
  const { logos, questions } = parse(landingOf(REARRANGED)) as Readonly<Record<string, unknown>>;
  const landing = parse(landingOf(TEST_CAMPAIGN)) as Readonly<Record<string, unknown>>;
  const sections = SECTIONS.toReversed();
  return withLanding('reversed', stringify({ ...landing, sections, logos, questions }), {
    media: [mediaOf(TEST_CAMPAIGN), mediaOf(REARRANGED)],
    texts: {
      'site.yaml': siteOf(
        TEST_CAMPAIGN,
        `analytics: { tool: umami, script: ${COUNTER_ORIGIN}/script.js, site: ${UMAMI_SITE} }`,
      ),
    },
  });
}

const without = (file: string, ...entries: readonly string[]): string => {
  const words = parseDocument(readFileSync(path.join(TEST_CAMPAIGN, file), 'utf8'));
  for (const entry of entries) words.deleteIn(entry.split('.'));
  return words.toString();
};

/** Without anything that is optional. */
export function bareCampaign(): string {
  const article = readFileSync(path.join(TEST_CAMPAIGN, 'article', 'article.md'), 'utf8');
  return withLanding(
    'bare',
    without('landing.yaml', ...SECTIONS, 'figures', 'inside', 'bar', 'hero.imageAlt', 'promise.imageAlt'),
    {
      texts: {
        'interface.yaml': without(
          'interface.yaml',
          'steps',
          'article',
          'content.readingTime',
          'content.prompt',
          'verification.whileYouWait',
          'verification.wrongCode',
        ),
        // Footnotes need words of interface.yaml.
        'article/article.md': article.replaceAll(/\[\^1\](?::[\s\S]*)?/g, ''),
      },
    },
  );
}

const copied = (name: string, change: (folder: string) => void = () => {}): string =>
  keptCampaign(name, (folder) => {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    change(folder);
  });

/** Its site is built for the path /guide. */
export const campaignUnderPath = (): string => copied('under-guide');

const overlaid = (name: string, from: string, to: string): string =>
  copied(name, (folder) =>
    cpSync(path.join(import.meta.dirname, from), path.join(folder, to), { recursive: true }),
  );

export const ownFieldsCampaign = (): string => overlaid('own-fields', 'own-fields', '.');

export const variantsCampaign = (): string => overlaid('variants', 'variants', 'variants');

const countedBy = (tool: string, words: string): string =>
  copied(`counted-by-${tool}`, (folder) =>
    writeFileSync(
      path.join(folder, 'site.yaml'),
      siteOf(TEST_CAMPAIGN, `analytics: { tool: ${tool}, script: ${COUNTER_ORIGIN}/${words} }`),
    ),
  );

export const plausibleCampaign = (): string => countedBy('plausible', 'js/pa-abc_123.js');
/** Its site is built for the path /other. */
export const matomoCampaign = (): string => countedBy('matomo', "matomo.js, site: '7'");
