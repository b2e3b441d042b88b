import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Page } from '@playwright/test';
import type axe from 'axe-core';

import { expect, inEveryFont, overflow, resize } from './fixtures.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Half as long as the import's own source, which takes half as long again to load. */
const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Removes colour transitions, so that no mixed colours are tested. */
async function ensureAxe(page: Page): Promise<void> {
  if (await page.evaluate(() => 'axe' in window)) return;
  await page.evaluate(SOURCE);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, ::before, ::after { transition: none !important; }');
    document.adoptedStyleSheets.push(sheet);
  });
}

/** Longer animations, such as a toast's, change no colour. */
const LONGEST_MS = 1_000;

const atRest = (page: Page): Promise<unknown> =>
  page.evaluate((longest) => {
    const passing = document
      .getAnimations()
      .filter(({ effect }) => Number(effect?.getComputedTiming().endTime) <= longest);
    return Promise.allSettled(passing.map(({ finished }) => finished)).then(() => null);
  }, LONGEST_MS);

async function violations(page: Page, runOnly: axe.RunOnly): Promise<string[]> {
  await atRest(page);
  return page.evaluate(async (rules) => {
    const { axe: checker } = window as unknown as { readonly axe: typeof axe };
    const found = await checker.run(document, {
      runOnly: rules,
      resultTypes: ['violations'],
      preload: false,
    });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
  }, runOnly);
}

const showTheme = (page: Page, theme: 'light' | 'dark'): Promise<void> =>
  page.evaluate((name) => {
    const { classList } = document.documentElement;
    classList.toggle('dark', name === 'dark');
    classList.toggle('light', name === 'light');
  }, theme);

export async function expectNoViolations(page: Page, state: string): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await ensureAxe(page);
  expect(await violations(page, { type: 'tag', values: TAGS }), state).toEqual([]);
  await showTheme(page, 'dark');
  const inDark = await violations(page, { type: 'rule', values: RULES_OF_COLOURS });
  expect(inDark, `${state}, in the dark theme`).toEqual([]);
  await showTheme(page, 'light');
}

/** Also fails if the page scrolls sideways in any font. Leaves the window at the size of a telephone. */
export async function expectFitsTelephone(page: Page, state: string): Promise<void> {
  await resize(page, { width: 375, height: 812 });
  await inEveryFont(page, async (font) => expect(await overflow(page), `${state}, ${font}`).toBe(0));
  await expectNoViolations(page, `${state} on a telephone`);
}
