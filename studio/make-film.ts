// Makes the film: every frame of scenes/film.html, encoded as H.264 and as AV1, and the captions beside them.
// `--encode-only` encodes the frames of the last run again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { captions, type Caption } from './captions.ts';
import { openScene, withBrowser } from './open-scene.ts';
import { placeOf, publish, reportSize } from './publish.ts';

const framesPerSecond = 30;
const size = { width: 1280, height: 720 };
const master = path.join(tmpdir(), 'film-master.mkv');

function words(options: string): string[] {
  return options.split(' ');
}

type Ffmpeg = {
  readonly input: Writable;
  readonly done: Promise<void>;
};

function startFfmpeg(options: readonly string[]): Ffmpeg {
  const child = spawn('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...options], {
    stdio: ['pipe', 'inherit', 'inherit'],
    // SVT-AV1 prints its settings by default.
    env: { ...process.env, SVT_LOG: '1' },
  });
  const done = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`ffmpeg ended with ${code}.`));
    });
  });
  return { input: child.stdin, done };
}

/** Photographs the film into a lossless file. A frame that looks like the one before is not taken again. */
async function renderMaster(): Promise<void> {
  await withBrowser(async (browser) => {
    const page = await openScene(browser, 'film.html', size);
    // The DevTools command is several times as fast as Playwright's screenshot.
    const devtools = await page.context().newCDPSession(page);
    const frameCount = Math.round((await page.evaluate(() => film.seconds)) * framesPerSecond);
    const ffmpeg = startFfmpeg([
      ...words(`-f image2pipe -c:v png -framerate ${framesPerSecond} -i -`),
      ...words('-c:v libx264rgb -preset ultrafast -qp 0'),
      master,
    ]);
    let shown = '';
    let picture = Buffer.alloc(0);
    let taken = 0;
    for (let frame = 0; frame < frameCount; frame += 1) {
      const now = await page.evaluate((seconds) => film.seek(seconds), frame / framesPerSecond);
      if (now !== shown) {
        const { data } = await devtools.send('Page.captureScreenshot', {
          format: 'png',
          optimizeForSpeed: true,
        });
        picture = Buffer.from(data, 'base64');
        shown = now;
        taken += 1;
      }
      if (!ffmpeg.input.write(picture)) await once(ffmpeg.input, 'drain');
    }
    ffmpeg.input.end();
    await ffmpeg.done;
    process.stdout.write(`${frameCount} frames, ${taken} of them photographed\n`);
  });
}

async function encode(name: string, limit: number, options: string): Promise<number> {
  const target = placeOf(name);
  await mkdir(path.dirname(target), { recursive: true });
  const toVideoColours =
    'scale=in_range=full:out_range=tv:out_color_matrix=bt709:flags=accurate_rnd+full_chroma_int';
  const ffmpeg = startFfmpeg([
    '-i',
    master,
    ...words(`-vf ${toVideoColours},format=yuv420p -an -map_metadata -1`),
    ...words('-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv'),
    ...words(`-fflags +bitexact -flags:v +bitexact ${options}`),
    target,
  ]);
  ffmpeg.input.end();
  await ffmpeg.done;
  const { size: bytes } = await stat(target);
  reportSize(name, bytes, limit);
  return bytes;
}

function timestamp(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const minutes = Math.floor(milliseconds / 60_000);
  const rest = ((milliseconds % 60_000) / 1000).toFixed(3);
  return `${minutes.toString().padStart(2, '0')}:${rest.padStart(6, '0')}`;
}

function webVtt(all: readonly Caption[]): string {
  let before = 0;
  const cues = all.map(({ from, to, text }) => {
    if (from < before || to <= from) throw new Error(`The caption at ${from} overlaps another.`);
    if (text.length > 2 || text.some((line) => line.length > 40))
      throw new Error(`Too long: ${text.join(' / ')}`);
    before = to;
    return `${timestamp(from)} --> ${timestamp(to)}\n${text.join('\n')}\n`;
  });
  return `WEBVTT\n\n${cues.join('\n')}`;
}

await publish('media/film.vtt', Buffer.from(webVtt(captions)));
if (!process.argv.includes('--encode-only')) await renderMaster();

const mp4 = await encode(
  'media/film.mp4',
  2_000_000,
  '-c:v libx264 -profile:v high -preset veryslow -tune animation -crf 21 -g 150 -movflags +faststart',
);
await encode('media/film.webm', mp4, '-c:v libsvtav1 -preset 4 -crf 34 -g 150');
