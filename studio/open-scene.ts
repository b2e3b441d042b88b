// A Chromium that opens our scenes with the campaign's words.
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

import { chromium, type Browser, type Page } from '@playwright/test';

import { readArticle } from '#server/campaign/article.ts';
import { readWords, wordsOrThrow } from '#server/campaign/words-file.ts';
import { chaptersOf, Landing, Site } from '#shared/campaign-schema.ts';
import { chromiumLaunchOptions } from '#testing/chromium.ts';

const mediaTools = import.meta.dirname;
const repository = path.resolve(mediaTools, '..');

export const scenesFolder = path.join(mediaTools, 'scenes');
const campaignFolder = path.join(repository, 'campaign');
const fontFolder = (name: string): string => path.join(repository, 'node_modules/@fontsource-variable', name);
export const newsreaderFolder = fontFolder('newsreader');
export const hankenFolder = fontFolder('hanken-grotesk');

/** A name that resolves nowhere: every request to it is answered from the disk, and nothing else is let through. */
const scenesOrigin = 'http://scenes.invalid';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
  '.woff2': 'font/woff2',
};

export async function withBrowser<Result>(work: (browser: Browser) => Promise<Result>): Promise<Result> {
  const { args, ...options } = chromiumLaunchOptions();
  const browser = await chromium.launch({
    ...options,
    args: [
      ...args,
      // Without hinting, letters keep their shape at every scale and move smoothly in the film.
      '--font-render-hinting=none',
      '--force-color-profile=srgb',
    ],
  });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

async function readScenePart(urlPath: string): Promise<Buffer | string> {
  const name = path.basename(urlPath);
  if (urlPath.startsWith('/fonts/')) {
    const folder = name.startsWith('hanken') ? hankenFolder : newsreaderFolder;
    return readFile(path.join(folder, 'files', name));
  }
  const file = path.join(scenesFolder, name);
  return urlPath.endsWith('.ts') ? stripTypeScriptTypes(await readFile(file, 'utf8')) : readFile(file);
}

/** The green of the design (web/styles/tokens.css), for a campaign that sets no colours. */
const designColours = { accent: '#0e5a43', plate: '#123d30' };

/** The campaign's words, without a look at the pictures, which are being made. */
const campaignWords = () => ({
  site: wordsOrThrow(readWords(campaignFolder, 'site.yaml', Site)),
  landing: wordsOrThrow(readWords(campaignFolder, 'landing.yaml', Landing)),
});

/** What the guide shows of the campaign (scenes/guide.ts): so that it can be drawn again when the words have changed. */
function drawnCampaign() {
  const { site, landing } = campaignWords();
  return {
    title: site.title,
    badge: landing.hero.badge,
    button: landing.video?.button ?? landing.hero.button,
    chapters: chaptersOf(landing),
    accent: site.colors?.accent.light ?? designColours.accent,
    plate: site.colors?.plate.light ?? designColours.plate,
  };
}

/**
 * The sections of the article, as HTML that begins with the section's heading: two open pages show one of them. Its figure is
 * left out: half a page wide, it would leave no room for the words.
 */
function drawnSections(): readonly string[] {
  const { article } = readArticle(campaignFolder);
  if (article === null) throw new Error('The article cannot be read.');
  return article.html
    .replaceAll(/<p><img [^>]*><\/p>/g, '')
    .split(/(?=<h2[ >])/)
    .slice(1);
}

/** How many pictures of open pages the landing page shows. */
export const countOfInsidePictures = (): number => campaignWords().landing.inside?.pictures.length ?? 0;

/** The people whose words stand on the landing page. */
export const campaignPeople = () => campaignWords().landing.testimonials?.cards ?? [];

export type SceneSize = {
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly scale?: number;
};

/** Opens a scene, with its fonts loaded. The caller closes its page. */
export async function openScene(browser: Browser, scene: string, size: SceneSize): Promise<Page> {
  const page = await browser.newPage({
    viewport: { width: size.width, height: size.height },
    deviceScaleFactor: size.scale ?? 1,
  });
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.addInitScript((words) => Object.assign(globalThis, words), {
    campaign: drawnCampaign(),
    sections: drawnSections(),
  });
  await page.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    if (url.origin !== scenesOrigin) return route.abort();
    const contentType = contentTypes[path.extname(url.pathname)] ?? 'application/octet-stream';
    return route.fulfill({ body: await readScenePart(url.pathname), contentType });
  });
  await page.goto(`${scenesOrigin}/${scene}`);
  await page.evaluate(async () => {
    // A face is only fetched when something on show needs it; the film shows most of its words later.
    await Promise.all(Array.from(document.fonts, (face) => face.load()));
    await document.fonts.ready;
  });
  if (problems.length > 0) throw new Error(`${scene}: ${problems.join('; ')}`);
  return page;
}
