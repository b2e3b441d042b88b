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
} from 'node:fs';
import path from 'node:path';

import { parse, parseDocument, stringify } from 'yaml';

import { SECTIONS } from '#shared/campaign-schema.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { adding, changeFiles, type Changes } from '#testing/campaign-copy.ts';
import { COUNTER_ORIGIN, UMAMI_SITE } from '#testing/visit-counter.ts';

const FOLDER = path.join(PROJECT_FOLDER, 'node_modules', '.cache', 'campaigns');

export const AFTER_CODE = 'https://shop.example.com/thank-you';
export const DOWNLOAD = `%PDF-1.7\n${'The guide. '.repeat(20_000)}`;

/** With everything that is optional in site.yaml, except a visit counter. */
export const rearrangedCampaign = (): string =>
  changedCampaign(
    'rearranged',
    {
      media: null,
      'site.yaml': adding(
        [
          'noindex: true',
          `afterCode: ${AFTER_CODE}`,
          'download: { label: Download as PDF, file: the-guide.pdf }',
          'readOn: { label: Book a call, href: https://example.com/call }',
        ].join('\n'),
      ),
      'article/the-guide.pdf': DOWNLOAD,
      'interface.yaml': (text) => text.replace(/^ {2}(?:endTitle|endText): .*\n/gm, ''),
    },
    ['rearranged', '.'],
  );

/** Counted by Umami. Its first footer link leads to a section. */
export function reversedCampaign(): string {
  const readLanding = (text: string) => parse(text) as Readonly<Record<string, unknown>>;
  const rearranged = path.join(import.meta.dirname, 'rearranged', 'landing.yaml');
  const { logos, questions } = readLanding(readFileSync(rearranged, 'utf8'));
  const sections = SECTIONS.toReversed();
  return changedCampaign(
    'reversed',
    {
      'landing.yaml': (text) => stringify({ ...readLanding(text), sections, logos, questions }),
      'site.yaml': (text) =>
        countedBy('umami', `script.js, site: ${UMAMI_SITE}`)(text.replace("href: '#'", "href: '#questions'")),
    },
    ['rearranged/media', 'media'],
  );
}

/** Without anything that is optional. */
export const bareCampaign = (): string =>
  changedCampaign('bare', {
    media: null,
    'landing.yaml': without(...SECTIONS, 'figures', 'inside', 'bar', 'hero.imageAlt', 'promise.imageAlt'),
    'interface.yaml': without(
      'steps',
      'article',
      'content.readingTime',
      'content.prompt',
      'verification.whileYouWait',
      'verification.wrongCode',
    ),
    // Footnotes need words of interface.yaml.
    'article/article.md': (text) => text.replaceAll(/\[\^1\](?::[\s\S]*)?/g, ''),
  });

/** Its site is built for the path /guide. */
export const campaignUnderPath = (): string => changedCampaign('under-guide', {});

export const ownFieldsCampaign = (): string => changedCampaign('own-fields', {}, ['own-fields', '.']);

export const variantsCampaign = (): string => changedCampaign('variants', {}, ['variants', 'variants']);

export const plausibleCampaign = (): string =>
  changedCampaign('counted-by-plausible', { 'site.yaml': countedBy('plausible', 'js/pa-abc_123.js') });
/** Its site is built for the path /other. */
export const matomoCampaign = (): string =>
  changedCampaign('counted-by-matomo', { 'site.yaml': countedBy('matomo', "matomo.js, site: '7'") });

const countedBy = (tool: string, words: string) =>
  adding(`analytics: { tool: ${tool}, script: ${COUNTER_ORIGIN}/${words} }`);

const without =
  (...entries: readonly string[]) =>
  (text: string): string => {
    const words = parseDocument(text);
    for (const entry of entries) words.deleteIn(entry.split('.'));
    return words.toString();
  };

/**
 * A copy of the test campaign.
 * @param overlays folders to be copied into it after the changes
 */
function changedCampaign(
  name: string,
  changes: Changes,
  ...overlays: readonly (readonly [from: string, to: string])[]
): string {
  mkdirSync(FOLDER, { recursive: true });
  const temporary = mkdtempSync(path.join(FOLDER, 'making-'));
  try {
    cpSync(TEST_CAMPAIGN, temporary, { recursive: true });
    changeFiles(temporary, changes);
    for (const [from, to] of overlays)
      cpSync(path.join(import.meta.dirname, from), path.join(temporary, to), { recursive: true });
    chmodSync(temporary, 0o755);
    const folder = path.join(FOLDER, `${name}-${digest(temporary)}`);
    try {
      renameSync(temporary, folder);
    } catch (error) {
      if (!existsSync(folder)) throw error;
    }
    return folder;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

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
