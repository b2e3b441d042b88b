import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Page } from '@playwright/test';
import type axe from 'axe-core';

import { expect, inEveryFont, overflow, resize } from './fixtures.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The package's default file is twice as long and takes 50 % longer to load. */
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Also fails if the page scrolls sideways in any font. The window gets its size back.
 * @param list the name of the list that replaces a table
 */
export async function expectFitsTelephone(page: Page, state: string, list?: string): Promise<void> {
  const before = page.viewportSize()!;
  await resize(page, { width: 375, height: 812 });
  await inEveryFont(page, async (font) => expect(await overflow(page), `${state}, ${font}`).toBe(0));
  await expectNoViolations(page, `${state} on a telephone`);
  if (list !== undefined) await expect(page.getByRole('list', { name: list })).toBeVisible();
  await resize(page, before);
}

export async function expectNoViolations(page: Page, state: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await ensureAxe(page);
  expect(await violations(page, { type: 'tag', values: TAGS }), state).toEqual([]);
  await showTheme(page, 'dark');
  const inDark = await violations(page, { type: 'rule', values: COLOUR_RULES });
  expect(inDark, `${state}, in the dark theme`).toEqual([]);
  await showTheme(page, 'light');
}

/** Also removes colour transitions, so that axe never sees a mixed colour. */
async function ensureAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in window)) return;
  await page.evaluate(SOURCE);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, ::before, ::after { transition: none !important; }');
    document.adoptedStyleSheets.push(sheet);
  });
}

async function violations(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  await shortAnimationsEnd(page);
  return page.evaluate(async (rules) => {
    const { axe: axeInPage } = window as unknown as { readonly axe: typeof axe };
    const results = await axeInPage.run(document, {
      runOnly: rules,
      resultTypes: ['violations'],
      preload: false,
    });
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }, runOnly);
}

/** Longer animations, such as a toast's, change no colour. */
const LONGEST_MS = 1_000;

const shortAnimationsEnd = (page: Page): Promise<unknown> =>
  page.evaluate((longest) => {
    const short = document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().endTime) <= longest);
    return Promise.allSettled(short.map(({ finished }) => finished)).then(() => null);
  }, LONGEST_MS);

const showTheme = (page: Page, theme: 'light' | 'dark'): Promise<void> =>
  page.evaluate((name) => {
    const { classList } = document.documentElement;
    classList.toggle('dark', name === 'dark');
    classList.toggle('light', name === 'light');
  }, theme);
