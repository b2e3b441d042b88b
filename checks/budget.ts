// Our code must not exceed the size budget. A campaign's words and pictures are subtracted, and only cause a note.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync } from 'node:zlib';

import { parse } from 'yaml';

import { readForm } from '#server/campaign/own-form.ts';
import { distFolder, newestRelease } from '#server/http/releases.ts';
import { readPageWords } from '#build/vite-campaign.ts';
import { CAMPAIGN_FOLDER, PROJECT_FOLDER } from '#build/vite-config.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';

const release = newestRelease(distFolder(PROJECT_FOLDER, CAMPAIGN_FOLDER));
if (release === null) throw new Error('The site has not been built. Run "npm run build".');
const FILES = path.join(release.folder, 'files');

const brotli = (file: string): number => brotliCompressSync(readFileSync(file)).length;
const size = (name: string): number =>
  existsSync(path.join(FILES, name)) ? readFileSync(path.join(FILES, name)).length : 0;

/** Shorter texts weigh little and may also occur in code. */
const LEAST_LETTERS = 12;

function textsIn(words: unknown): string[] {
  if (typeof words === 'string') return words.length >= LEAST_LETTERS ? [words] : [];
  return typeof words === 'object' && words !== null ? Object.values(words).flatMap(textsIn) : [];
}

const texts = globSync('*.yaml', { cwd: CAMPAIGN_FOLDER })
  .flatMap((name) => textsIn(parse(readFileSync(path.join(CAMPAIGN_FOLDER, name), 'utf8'))))
  .toSorted((a, b) => b.length - a.length);
const inHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#x27;');

function brotliOfCode(file: string): number {
  let code = readFileSync(file, 'utf8').replace(/@font-face\{font-family:Headline.*?\}/, '');
  for (const text of texts) code = code.replaceAll(text, '').replaceAll(inHtml(text), '');
  return brotliCompressSync(code).length;
}

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
const shared =
  home +
  chunk +
  size('fonts/newsreader.woff2') +
  size('fonts/hanken-grotesk.woff2') +
  size(display) +
  size('media/poster-640.avif') +
  size('media/guide-400.avif');
const avatars = globSync('media/avatar-*.avif', { cwd: FILES }).reduce((sum, name) => sum + size(name), 0);

const insides = globSync('media/inside-*-480.avif', { cwd: FILES }).reduce(
  (sum, name) => sum + size(name),
  0,
);

const page = path.join(release.folder, 'pages', 'index.html');

const HTML = 'landing HTML with its CSS and boot script';

const readYaml = (folder: string, name: string): unknown =>
  parse(readFileSync(path.join(folder, name), 'utf8'));

/** False for an operator's own, possibly longer words. */
const wordsAreOurs = ['landing.yaml', 'interface.yaml'].every((name) =>
  isDeepStrictEqual(readYaml(CAMPAIGN_FOLDER, name), readYaml(TEST_CAMPAIGN, name)),
);
/** Our words leave 300 bytes of the 12 kB for an operator's longer ones. */
const HTML_LIMIT_KB = wordsAreOurs ? 11.7 : 12;
/** Other campaigns may need code that ours does not: more sections, a drawn cover, icons. */
const HTML_CODE_LIMIT_KB = wordsAreOurs ? 8 : 8.75;

const form = readForm(CAMPAIGN_FOLDER, readPageWords(CAMPAIGN_FOLDER).site.language);
const [APP_LIMIT_KB, PHONE_LIMIT_KB] =
  form.type === 'words' && form.words.fields.length > 0 ? [95.7, 168] : [92.7, 165];

const DESK = path.join(release.folder, 'desk', 'assets');
const ofDesk = (pattern: string): number =>
  globSync(pattern, { cwd: DESK }).reduce((sum, name) => sum + brotli(path.join(DESK, name)), 0);
const DESK_LIMIT_KB = 150;
const deskCode = ofDesk('*.{js,css}');

const ON_A_PHONE = 'whole landing page on a phone';

/** Limits that our words must keep, but an operator's may exceed. */
const PROMISED: ReadonlySet<string> = new Set([HTML, ON_A_PHONE]);

/** Kilobytes of 1000 bytes, as in Lighthouse. Exceeding a total is only an error if it is PROMISED and the words are ours. */
const BUDGET: readonly (readonly [
  what: string,
  bytes: number,
  limitKb: number,
  code: { readonly bytes: number; readonly limitKb: number } | null,
])[] = [
  [HTML, home, HTML_LIMIT_KB, { bytes: brotliOfCode(page), limitKb: HTML_CODE_LIMIT_KB }],
  [
    'application, first file',
    chunk,
    105,
    { bytes: brotliOfCode(path.join(FILES, app)), limitKb: APP_LIMIT_KB },
  ],
  [
    'application, second file',
    brotli(path.join(FILES, second)),
    25,
    { bytes: brotliOfCode(path.join(FILES, second)), limitKb: 24.2 },
  ],
  [ON_A_PHONE, shared + avatars, PHONE_LIMIT_KB, null],
  ['whole landing page on a desktop', shared + avatars + size('media/hero-1280.avif') + insides, 250, null],
  ['the desk: scripts and styles', deskCode, DESK_LIMIT_KB, { bytes: deskCode, limitKb: DESK_LIMIT_KB }],
];

const kilobytes = (bytes: number): string => (bytes / 1000).toFixed(1);
let over = false;
for (const [what, bytes, limitKb, code] of BUDGET) {
  const fits = bytes <= limitKb * 1000;
  const isOver =
    (code !== null && code.bytes > code.limitKb * 1000) || (PROMISED.has(what) && wordsAreOurs && !fits);
  over ||= isOver;
  const verdict = isOver ? 'OVER' : fits ? 'fits' : 'note';
  const ofCode = code === null ? '' : `, ${kilobytes(code.bytes)} of it code (limit ${code.limitKb})`;
  process.stdout.write(`${verdict}  ${kilobytes(bytes).padStart(6)} of ${limitKb} kB  ${what}${ofCode}\n`);
  if (verdict === 'note')
    process.stdout.write(
      '      The words and pictures of this campaign are larger than ours: slow phones wait longer.\n',
    );
}
if (over) {
  process.stderr.write('The site exceeds its size budget. Make it smaller; do not raise the budget.\n');
  process.exit(1);
}
