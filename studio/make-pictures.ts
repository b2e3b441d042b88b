// Makes every still picture: hero, film poster, the guide, monograms, Open Graph picture and icons.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from '@playwright/test';
import sharp from 'sharp';
import { initialsOf } from '#web/ui/initials.ts';
import {
  campaignPeople,
  countOfInsidePictures,
  openScene,
  scenesFolder,
  withBrowser,
  type SceneSize,
} from './open-scene.ts';
import { publish } from './publish.ts';

type Quality = {
  readonly avif: number;
  readonly webp: number;
};

async function photograph(
  browser: Browser,
  scene: string,
  size: SceneSize,
  second?: number,
): Promise<Buffer> {
  const page = await openScene(browser, scene, size);
  if (second !== undefined) await page.evaluate((moment) => film.seek(moment), second);
  const png = await page.screenshot();
  await page.close();
  return png;
}

/** Publishes a picture as AVIF and as WebP; the limit is the AVIF's. */
async function publishBoth(name: string, png: Buffer, quality: Quality, limit: number): Promise<void> {
  // Full chroma: green lines and small green letters would blur without it.
  const avif = await sharp(png)
    .avif({ quality: quality.avif, effort: 9, chromaSubsampling: '4:4:4' })
    .toBuffer();
  await publish(`${name}.avif`, avif, limit);
  // WebP cannot keep full chroma, but it can reduce it carefully.
  const webp = await sharp(png).webp({ quality: quality.webp, effort: 6, smartSubsample: true }).toBuffer();
  await publish(`${name}.webp`, webp);
}

/** Phones fetch these two with the page, so they give up what an eye does not miss. */
const SMALL = { poster: '640', guide: '400' };

async function makeHero(browser: Browser): Promise<void> {
  const limits = { 640: 14_000, 960: 22_000, 1280: 30_000 };
  for (const [width, limit] of Object.entries(limits)) {
    const png = await photograph(browser, 'hero.html', {
      width: 640,
      height: 512,
      scale: Number(width) / 640,
    });
    await publishBoth(`media/hero-${width}`, png, { avif: 55, webp: 80 }, limit);
  }
}

async function makePoster(browser: Browser): Promise<void> {
  const limits = { 640: 9000, 960: 16_000 };
  const lastMomentOfTheTitle = 3.6;
  for (const [width, limit] of Object.entries(limits)) {
    const size = { width: 1280, height: 720, scale: Number(width) / 1280 };
    const png = await photograph(browser, 'film.html', size, lastMomentOfTheTitle);
    await publishBoth(
      `media/poster-${width}`,
      png,
      { avif: width === SMALL.poster ? 46 : 58, webp: 82 },
      limit,
    );
  }
}

async function makeOpenGraph(browser: Browser): Promise<void> {
  const png = await photograph(browser, 'og.html', { width: 1200, height: 630 });
  // Few colours and no dither: smaller than a full PNG, and indistinguishable from it.
  const reduced = await sharp(png).png({ palette: true, colours: 160, dither: 0.4, effort: 10 }).toBuffer();
  await publish('media/og.png', reduced, 120_000);
}

async function drawSvg(scene: string, pixels: number): Promise<Buffer> {
  const source = await readFile(path.join(scenesFolder, scene));
  const { width } = await sharp(source).metadata();
  return sharp(source, { density: (72 * pixels * 2) / width })
    .resize(pixels, pixels)
    .png()
    .toBuffer();
}

/** The monograms of the people on the landing page: every other one on a pale plate. */
async function makeAvatars(browser: Browser): Promise<void> {
  for (const [index, { name, image }] of campaignPeople().entries()) {
    if (image === undefined) continue;
    const page = await openScene(browser, 'monogram.html', { width: 160, height: 160 });
    await page.evaluate(
      ([initials, look]) => {
        document.body.className = look;
        const place = document.querySelector('span');
        if (place === null) throw new Error('The monogram has no place for initials.');
        place.textContent = initials;
        // Some letters are so wide that they would touch the ring.
        if (place.getBoundingClientRect().width > 100) document.body.classList.add('wide');
      },
      [initialsOf(name), index % 2 === 0 ? 'pale' : ''] as const,
    );
    const png = await page.screenshot();
    await page.close();
    await publishBoth(`media/${image}`, png, { avif: 72, webp: 88 }, 4000);
  }
}

/** The guide, on nothing, so that it lies on a plate of any colour. */
async function makeGuide(browser: Browser): Promise<void> {
  const limits = { 400: 16_000, 800: 34_000 };
  for (const [width, limit] of Object.entries(limits)) {
    const size = { width: 400, height: 300, scale: Number(width) / 400 };
    const page = await openScene(browser, 'guide.html', size);
    const png = await page.screenshot({ omitBackground: true });
    await page.close();
    await publishBoth(
      `media/guide-${width}`,
      png,
      { avif: width === SMALL.guide ? 38 : 58, webp: 82 },
      limit,
    );
  }
}

/** A figure for each chapter of the article. Its name says its size on the page (server/campaign/article.ts). */
async function makeChapterFigures(browser: Browser): Promise<void> {
  for (const chapter of ['formula', 'prompt']) {
    const png = await photograph(browser, `chapter-${chapter}.html`, { width: 640, height: 280, scale: 2 });
    const webp = await sharp(png).webp({ quality: 80, effort: 6, smartSubsample: true }).toBuffer();
    await publish(`media/${chapter}-640x280.webp`, webp, 40_000);
  }
}

/** Open pages of the guide: the sections of the article, one picture each. */
async function makeInside(browser: Browser): Promise<void> {
  const limits = { 480: 12_000, 960: 30_000 };
  for (const number of Array.from({ length: countOfInsidePictures() }, (_, index) => index + 1))
    for (const [width, limit] of Object.entries(limits)) {
      const size = { width: 480, height: 330, scale: Number(width) / 480 };
      const page = await openScene(browser, `inside.html#${number}`, size);
      const png = await page.screenshot({ omitBackground: true });
      await page.close();
      await publishBoth(`media/inside-${number}-${width}`, png, { avif: 35, webp: 70 }, limit);
    }
}

/** An .ico that holds one PNG: a directory of one entry, then the PNG itself. */
function icoOf(png: Buffer, pixels: number): Buffer {
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2); // an icon, not a cursor
  header.writeUInt16LE(1, 4); // with one picture
  header.writeUInt8(pixels, 6);
  header.writeUInt8(pixels, 7);
  header.writeUInt16LE(1, 10); // colour planes
  header.writeUInt16LE(32, 12); // bits per pixel
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, png]);
}

async function makeIcons(): Promise<void> {
  const markSource = await readFile(path.join(scenesFolder, 'mark.svg'));
  await publish('favicon.svg', markSource);
  await publish('favicon.ico', icoOf(await drawSvg('mark.svg', 32), 32));

  /** The mark in paper on accent; `share` is its width in the icon, `corner` the radius of the icon's corners. */
  async function appIcon(name: string, pixels: number, share: number, corner: number): Promise<void> {
    const mark = markSource
      .toString()
      .replace(
        '<svg ',
        `<svg x="${(1 - share) * 50}" y="${(1 - share) * 50 - 1}" width="${share * 100}" height="${share * 100}" `,
      )
      .replaceAll(/fill: #\w+/g, 'fill: #faf7f0');
    const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" width="${pixels}" height="${pixels}"><rect width="100" height="100" rx="${corner}" fill="#0e5a43"/>${mark}</svg>`;
    await publish(name, await sharp(Buffer.from(icon)).png({ compressionLevel: 9, effort: 10 }).toBuffer());
  }
  await appIcon('apple-touch-icon.png', 180, 0.6, 0);
  await appIcon('icon-192.png', 192, 0.6, 22);
  await appIcon('icon-512.png', 512, 0.6, 22);
  // Launchers may cut a maskable icon down to a circle of 80%.
  await appIcon('icon-maskable-512.png', 512, 0.52, 0);
}

await withBrowser(async (browser) => {
  await makeHero(browser);
  await makePoster(browser);
  await makeOpenGraph(browser);
  await makeGuide(browser);
  await makeChapterFigures(browser);
  await makeInside(browser);
  await makeAvatars(browser);
});
await makeIcons();
