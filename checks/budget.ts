// The bundle budget: what the built site may weigh. Fails when something outgrew it.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync } from 'node:zlib';

import { newestRelease } from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#build/vite-config.ts';

const release = newestRelease(path.join(PROJECT_FOLDER, 'dist'));
if (release === null) throw new Error('The site is not built yet. Run "npm run build" first.');
const FILES = path.join(release.folder, 'files');

const brotli = (file: string): number => brotliCompressSync(readFileSync(file)).length;
const size = (name: string): number => readFileSync(path.join(FILES, name)).length;

const [app, ...others] = globSync('assets/*.js', { cwd: FILES });
if (app === undefined || others.length > 0) throw new Error('The application must be one chunk.');
const home = brotli(path.join(release.folder, 'pages', 'index.html'));
const chunk = brotli(path.join(FILES, app));
const shared = home + chunk + size('fonts/newsreader.woff2') + size('media/poster-640.avif');
const avatars = size('media/avatar-sarah-lindqvist.avif') + size('media/avatar-marcus-adeyemi.avif');

/** Kilobytes of 1000 bytes, as networks and Lighthouse count them. */
const BUDGET: readonly (readonly [what: string, bytes: number, limitKb: number])[] = [
  ['landing HTML with its CSS and boot script', home, 10],
  ['application chunk', chunk, 105],
  ['whole landing page on a phone', shared + avatars, 160],
  ['whole landing page on a desktop', shared + avatars + size('media/hero-1280.avif'), 250],
];

let over = false;
for (const [what, bytes, limitKb] of BUDGET) {
  const fits = bytes <= limitKb * 1000;
  over ||= !fits;
  process.stdout.write(
    `${fits ? 'fits' : 'OVER'}  ${(bytes / 1000).toFixed(1).padStart(6)} of ${limitKb} kB  ${what}\n`,
  );
}
if (over) {
  process.stderr.write('The site outgrew its budget. Make it smaller; the budget is the promise.\n');
  process.exit(1);
}
