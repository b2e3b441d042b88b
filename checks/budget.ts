// The page must not exceed its size budget with our words and pictures. Those of an operator's campaign are not measured.
import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync } from 'node:zlib';

import { parse } from 'yaml';

import { distFolder, newestRelease } from '#server/http/releases.ts';
import { CAMPAIGN_FOLDER, PROJECT_FOLDER } from '#build/vite-config.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const release = newestRelease(distFolder(PROJECT_FOLDER, CAMPAIGN_FOLDER));
if (release === null) throw new Error('The site has not been built. Run "npm run build".');
const FILES = path.join(release.folder, 'files');

const brotli = (file: string): number => brotliCompressSync(readFileSync(file)).length;
const size = (...patterns: readonly string[]): number =>
  globSync(patterns, { cwd: FILES }).reduce((sum, name) => sum + statSync(path.join(FILES, name)).size, 0);

const own = readFileSync(path.join(release.folder, 'pages', 'index.html'), 'utf8');
const [app, second, display] = ['app', 'later', 'display'].map(
  (name) => new RegExp(`data-${name}="/([^"]+)"`).exec(own)?.[1],
);
const variants = globSync('variant-*.html', { cwd: path.join(release.folder, 'pages') }).length;
const scripts = globSync('assets/*.js', { cwd: FILES }).length;
if (app === undefined || second === undefined || display === undefined || scripts > 2 + 2 * variants)
  throw new Error('The application must have two files.');
// Hashes in file names compress differently by chance, by up to 50 bytes.
const home = brotliCompressSync(own.replaceAll(/-[\w-]{8}(?=\.(?:js|woff2))/g, '-00000000')).length;
const chunk = brotli(path.join(FILES, app));
const phone =
  home +
  chunk +
  size('fonts/newsreader.woff2', 'fonts/hanken-grotesk.woff2', display) +
  size('media/poster-640.avif', 'media/guide-400.avif', 'media/avatar-*.avif');

const readYaml = (folder: string, name: string): unknown =>
  parse(readFileSync(path.join(folder, name), 'utf8'));
for (const name of ['landing.yaml', 'interface.yaml'])
  if (!isDeepStrictEqual(readYaml(CAMPAIGN_FOLDER, name), readYaml(TEST_CAMPAIGN, name))) {
    process.stdout.write('NOT CHECKED: the campaign has its own words.\n');
    process.exit(0);
  }

const DESK = path.join(release.folder, 'desk', 'assets');
const ofDesk = (pattern: string): number =>
  globSync(pattern, { cwd: DESK }).reduce((sum, name) => sum + brotli(path.join(DESK, name)), 0);

/** Kilobytes of 1000 bytes, as in Lighthouse. */
const BUDGET: readonly (readonly [what: string, bytes: number, limitKb: number])[] = [
  ['landing HTML with its CSS and boot script', home, 11.7],
  ['application, first file', chunk, 94.2],
  ['application, second file', brotli(path.join(FILES, second)), 24.7],
  ['whole landing page on a phone', phone, 165],
  ['whole landing page on a desktop', phone + size('media/hero-1280.avif', 'media/inside-*-480.avif'), 250],
  ['the desk: scripts and styles', ofDesk('*.{js,css}'), 150],
];

for (const [what, bytes, limitKb] of BUDGET) {
  const fits = bytes <= limitKb * 1000;
  const kilobytes = (bytes / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${fits ? 'fits' : 'OVER'}  ${kilobytes} of ${limitKb} kB  ${what}\n`);
  if (!fits) process.exitCode = 1;
}
if (process.exitCode === 1)
  process.stderr.write('The site exceeds its size budget. Make it smaller; do not raise the budget.\n');
