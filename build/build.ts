// Builds the site and moves it into dist/ (server/http/releases.ts). Running servers keep the old one until they restart.
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import {
  beginRelease,
  copyCampaign,
  distFolder,
  findBuiltDesk,
  newestRelease,
  publishRelease,
  readSources,
  removeOldReleases,
  type ReleaseFacts,
  type Sources,
} from '#server/http/releases.ts';
import { hashOf } from '#server/http/security-headers.ts';
import { campaignMistakes, readCampaign, wordsMissingFor } from '#server/campaign/campaign.ts';
import { campaignWarnings, unlistedPage } from '#server/campaign/campaign-warnings.ts';
import { sampleOnPage } from '#server/campaign/sample.ts';
import { readWordSettings, unreadableSettings } from '#server/settings/env-file.ts';
import { endWithSentence } from '#server/platform/system-errors.ts';
import { buildPages } from '#build/pages.ts';
import { bundleDesk } from '#build/vite-bundles.ts';
import { CAMPAIGN_FOLDER, PROJECT_FOLDER, SITE_PATH } from '#build/vite-config.ts';

async function main(): Promise<void> {
  // The server may run as another user, and a release contains nothing private but the campaign, which keeps its modes.
  process.umask(0o022);
  const dist = distFolder(PROJECT_FOLDER, CAMPAIGN_FOLDER);
  const nothingChanged =
    newestRelease(dist) === null
      ? 'The site was not built.'
      : 'Nothing was changed: the site goes on with the words of its last build.';
  stopOnMistakes(nothingChanged);
  printWarnings();
  // Read first, so a change during the build is noticed at its end.
  const builtFrom = readSources(PROJECT_FOLDER, CAMPAIGN_FOLDER);
  const building = beginRelease(dist);
  process.once('exit', () => rmSync(building, { recursive: true, force: true }));
  const release = path.join(building, 'release');
  await writeRelease(release, { builtFrom, prerenderers: path.join(building, 'prerenderer') });
  // The site must not mix old and new words.
  if (JSON.stringify(readSources(PROJECT_FOLDER, CAMPAIGN_FOLDER)) !== JSON.stringify(builtFrom))
    stop(`${nothingChanged} The words or the code changed during the build. Run the build again.`);
  publishRelease(dist, release);
  removeOldReleases(dist);
  process.stdout.write('The site is built. A running server serves it after a restart.\n');
}

/** A stack trace would not help the author of the campaign. */
function stopOnMistakes(nothingChanged: string): void {
  const unreadable = unreadableSettings();
  const mistakes =
    unreadable.length > 0
      ? unreadable
      : [
          ...campaignMistakes(CAMPAIGN_FOLDER),
          ...wordsMissingFor(readWordSettings(), readCampaign(CAMPAIGN_FOLDER)),
        ];
  if (mistakes.length === 0) return;
  const these = mistakes.length === 1 ? 'this mistake' : `these ${mistakes.length} mistakes`;
  const list = mistakes.map((mistake) => `\n  - ${mistake}`).join('');
  stop(`${nothingChanged} Correct ${these}, and run the build again:${list}`);
}

function stop(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

function printWarnings(): void {
  for (const warning of [
    ...campaignWarnings(CAMPAIGN_FOLDER),
    ...sampleOnPage(CAMPAIGN_FOLDER),
    ...unlistedPage(CAMPAIGN_FOLDER),
  ])
    process.stdout.write(`Warning: ${warning}\n`);
}

async function writeRelease(
  release: string,
  { builtFrom, prerenderers }: { builtFrom: Sources; prerenderers: string },
): Promise<void> {
  const files = path.join(release, 'files');
  const { pages, inlineScripts, inlineStyles } = await buildPages(files, prerenderers);
  const pagesFolder = path.join(release, 'pages');
  mkdirSync(pagesFolder, { recursive: true });
  for (const [name, text] of pages) writeFileSync(path.join(pagesFolder, name), text);
  // Restored campaigns are private, but the server may run as another user, and these files are public.
  for (const entry of globSync('**/*', { cwd: files, withFileTypes: true }))
    chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  compressFiles(files);
  // A separate folder, because the public site must not serve the desk.
  await writeDesk(path.join(release, 'desk'), builtFrom);
  const facts: ReleaseFacts = {
    builtFrom,
    sitePath: SITE_PATH,
    inlineHashes: {
      scripts: inlineScripts.map(hashOf),
      styles: [...new Set(inlineStyles.map(hashOf))],
    },
  };
  writeFileSync(path.join(release, 'release.json'), JSON.stringify(facts));
  copyCampaign(CAMPAIGN_FOLDER, release);
}

async function writeDesk(desk: string, builtFrom: Sources): Promise<void> {
  const built = findBuiltDesk(PROJECT_FOLDER, builtFrom);
  if (built !== undefined) {
    cpSync(built, desk, { recursive: true });
    return;
  }
  await bundleDesk(desk);
  compressFiles(desk);
}

const COMPRESSIBLE = '**/*.{js,css,svg,vtt,txt,ico}';

function compressFiles(folder: string): void {
  for (const name of globSync(COMPRESSIBLE, { cwd: folder })) {
    const file = path.join(folder, name);
    const content = readFileSync(file);
    const quality = {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

endWithSentence();
await main();
