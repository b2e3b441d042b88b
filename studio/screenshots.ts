// Photographs every stage at three widths, light and dark. Usage: node studio/screenshots.ts [folder] [--engine firefox|webkit] (default:
// Chromium)
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { chromium, type Page } from '@playwright/test';

import { DEFAULT_CAMPAIGN } from '#testing/built-site.ts';
import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { waitFor, type EnginePage } from '#testing/engines/engine.ts';
import { ENGINE_NAMES, findEngine } from '#testing/engines/find-engines.ts';
import { codeIn } from '#testing/inbox.ts';
import { startSite } from '#testing/start-site.ts';

const { values, positionals } = parseArgs({
  options: { engine: { type: 'string' } },
  allowPositionals: true,
});
const folder = path.resolve(positionals[0] ?? 'screenshots');
const WIDTHS = { 375: 812, 768: 1024, 1440: 900 } as const;

mkdirSync(folder, { recursive: true });
const site = await startSite({ campaign: DEFAULT_CAMPAIGN, env: { LEADS_PER_EMAIL_PER_HOUR: '0' } });
try {
  await (values.engine === undefined ? photographChromium() : photographEngine(values.engine));
} finally {
  await site.close();
}

async function photographChromium(): Promise<void> {
  const browser = await chromium.launch(chromiumLaunchOptions());
  try {
    for (const [width, height] of Object.entries(WIDTHS)) {
      for (const theme of ['light', 'dark']) {
        const context = await browser.newContext({
          viewport: { width: Number(width), height },
          deviceScaleFactor: 2,
        });
        await context.addInitScript((value) => localStorage.setItem('theme', value), theme);
        const page = await context.newPage();
        page.on('console', (message) => {
          if (message.type() === 'error') process.stderr.write(`console: ${message.text()}\n`);
        });
        await walk(page, `${width}-${theme}`);
        await context.close();
      }
    }
  } finally {
    await browser.close();
  }
}

async function photographEngine(wanted: string): Promise<void> {
  const name = ENGINE_NAMES.find((one) => one === wanted);
  const engine = name && (await findEngine(name)?.());
  if (engine === undefined)
    throw new Error(`Engine "${wanted}" is not installed. Use Chromium, or install it.`);
  try {
    for (const [width, height] of Object.entries(WIDTHS)) {
      for (const theme of ['light', 'dark']) {
        const page = await engine.newPage();
        await page.resize(Number(width), height);
        await walkEngine(page, `${width}-${theme}-${name}`, theme);
        await page.close();
      }
    }
  } finally {
    await engine.close();
  }
}

async function walk(page: Page, name: string): Promise<void> {
  const shoot = async (stage: string, fullPage = true) => {
    await page.screenshot({
      path: path.join(folder, `${stage}-${name}.png`),
      fullPage,
      animations: 'disabled',
    });
  };
  const email = `${name}@example.com`;

  await page.goto(site.url);
  await scrollThrough(page);
  await shoot('landing');
  await shoot('landing-top', false);

  await page.getByRole('button', { name: 'Get Your Free Copy', exact: true }).click();
  await page.getByRole('heading', { name: 'Get Your Free Copy' }).waitFor();
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await shoot('form-errors');
  await page.getByLabel('Full Name *').fill('Ada Lovelace');
  await page.getByLabel('Company Name *').fill('Analytical Engines');
  await page.getByLabel('Work Email *').fill(email);
  await page.getByRole('checkbox').check();
  await shoot('form', false);
  await page.getByRole('button', { name: 'Send Verification Code' }).click();
  await page.getByRole('heading', { name: 'Verify Your Email' }).waitFor();
  await shoot('verification', false);

  await page.keyboard.type('000000');
  await page.getByText('Verification Failed', { exact: true }).first().waitFor();
  await shoot('verification-refused', false);
  await page.keyboard.type(codeIn(await site.inbox.waitForMail(email)));
  await page.getByRole('article').waitFor();
  await shoot('content-top', false);
  await page
    .waitForFunction(() => document.querySelector('[role=status], li[data-state=open]') === null, null, {
      timeout: 9000,
    })
    .catch(() => {});
  await shoot('content');

  await page.goto(`${site.url}/nowhere`);
  await page.waitForFunction(() => document.fonts.check('16px "Hanken Grotesk"'));
  await shoot('404', false);
}

async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += 500) {
      window.scrollTo(0, y);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    window.scrollTo(0, 0);
    // A hidden picture never loads, so decode() would never resolve.
    const images = Array.from(document.images).filter((image) => image.checkVisibility());
    for (const image of images) image.loading = 'eager';
    await Promise.all(images.map((image) => image.decode().catch(() => {})));
  });
}

async function walkEngine(page: EnginePage, name: string, theme: string): Promise<void> {
  const shoot = async (stage: string, fullPage = false) => {
    await waitFor(
      page,
      'nothing moves',
      () => document.getAnimations().every((animation) => animation.playState !== 'running'),
      undefined,
    );
    await page.screenshot(path.join(folder, `${stage}-${name}.png`), fullPage);
  };
  const sees = (words: string) =>
    waitFor(page, `the page says "${words}"`, (wanted) => document.body.innerText.includes(wanted), words);
  const email = `${name}@example.com`;

  await page.open(site.url);
  if (theme === 'dark') await page.click('button', 'Toggle theme');
  await shoot('landing-top');
  await shoot('landing', true);
  await page.click('button', 'Get Your Free Copy');
  await page.click('button', 'Send Verification Code');
  await sees('You must agree to receive emails');
  await shoot('form-errors', true);
  await page.click('textbox', 'Full Name *');
  await page.type('Ada Lovelace');
  await page.press('Tab');
  await page.type('Analytical Engines');
  await page.press('Tab');
  await page.type(email);
  await page.press('Tab');
  await page.press(' ');
  await shoot('form');
  await page.click('button', 'Send Verification Code');
  await sees('Verify Your Email');
  await shoot('verification');
  await page.type('000000');
  await sees('Verification Failed');
  await shoot('verification-refused');
  await page.type(codeIn(await site.inbox.waitForMail(email)));
  await sees('Verified!');
  await page.box('button', 'Back');
  await shoot('content-top');
  await shoot('content', true);
  await page.open(`${site.url}/nowhere`);
  await shoot('404');
}
