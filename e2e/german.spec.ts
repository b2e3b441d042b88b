// The words are read from examples/german, so editing them there requires no change here.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Locator } from '@playwright/test';
import { parse } from 'yaml';

import type { Landing, Site } from '#shared/campaign-schema.ts';
import { GERMAN_CAMPAIGN } from '#testing/built-site.ts';
import { codeIn } from '#testing/inbox.ts';
import { expectNoViolations } from './axe.ts';
import { expect, expectLoaded, test } from './fixtures.ts';

const read = (file: string): unknown => parse(readFileSync(path.join(GERMAN_CAMPAIGN, file), 'utf8'));
const site = read('site.yaml') as Site;
const landing = read('landing.yaml') as Landing;
const consent = read('consent.yaml') as { readonly text: string };

test('a visitor to the German campaign reaches the article', async ({ page, startOwnSite }) => {
  test.slow();
  const german = await startOwnSite({ campaign: GERMAN_CAMPAIGN });
  await page.goto(german.url);
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await expect(page).toHaveTitle(site.pageTitle);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(landing.hero.headline);
  const [before = '', after = ''] = site.copyright.split('{year}').map((part) => RegExp.escape(part));
  await expect(page.getByText(new RegExp(`${before}20\\d\\d${after}`))).toBeVisible();
  await expect(page.locator('main picture, video')).toHaveCount(0);
  const coverIn = (place: Locator) => place.locator('[aria-hidden] p').filter({ hasText: site.title });
  await expect(coverIn(page.getByRole('main'))).toHaveCount(2);
  for (const cover of await coverIn(page.getByRole('main')).all()) await expect(cover).toBeVisible();
  await expect(page.getByRole('figure')).toHaveCount(landing.testimonials?.cards.length ?? 0);
  const logo = page.getByRole('banner').locator('img');
  await expectLoaded(logo);
  const callToAction = page.getByRole('button', { name: landing.hero.button, exact: true });
  for (const theme of ['light', 'dark'] as const) {
    const [red = 0, green = 0, blue = 0] =
      (site.colors?.accent[theme] ?? '')
        .slice(1)
        .match(/../g)
        ?.map((hex) => Number.parseInt(hex, 16)) ?? [];
    await expect(callToAction).toHaveCSS('background-color', `rgb(${red}, ${green}, ${blue})`);
    await page.getByRole('banner').getByRole('button').click();
  }

  // The tooltip of the button under the pointer is in no landmark.
  await page.getByRole('heading', { level: 1 }).hover();
  await expect(page.getByRole('tooltip')).toHaveCount(0);
  await expectNoViolations(page, 'the landing page');

  await callToAction.click();
  await expect(coverIn(page.getByRole('complementary'))).toBeVisible();
  const fields = page.locator('form').getByRole('textbox');
  await expect(fields).toHaveCount(3);
  const email = 'karla@example.de';
  for (const [index, value] of ['Karla Müßig', 'Größe & Söhne', email].entries())
    await fields.nth(index).fill(value);
  await page.getByRole('checkbox', { name: consent.text }).check();
  await page.locator('form').locator('[type=submit]').click();

  const boxes = page.getByRole('group').getByRole('textbox');
  await expect(boxes).toHaveCount(6);
  const mail = await german.inbox.waitForMail(email);
  expect(mail.parsed.subject).toContain('ist Ihr Code für');
  expect(mail.parsed.text).toContain('Der Code gilt 10 Minuten');
  expect(mail.parsed.html).toContain('<html lang="de">');
  await boxes.first().focus();
  await page.keyboard.type(codeIn(mail));
  const article = page.getByRole('article');
  await expect(article).toContainText('Abschlussquote = richtiger Empfänger + Zustellung');

  const manifest = (await (await page.request.get(`${german.url}/site.webmanifest`)).json()) as unknown;
  expect(manifest).toMatchObject({ lang: 'de', name: site.title });
});
