// Compares docs/privacy.md with everything a browser stores, on every screen.
import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Page } from '@playwright/test';

import { expect, test } from './fixtures.ts';

const DOCUMENT = path.resolve(import.meta.dirname, '..', 'docs', 'privacy.md');

function named(): string[] {
  const [, table = ''] = readFileSync(DOCUMENT, 'utf8').split('<!-- kept on the device -->');
  const [rows = ''] = table.trim().split('\n\n', 1);
  return Array.from(rows.matchAll(/^\| (\S.*?) +\| `([\w-]+)` /gm), ([, where, name]) => `${where} ${name}`);
}

async function held(page: Page): Promise<string[]> {
  const cookies = await page.context().cookies();
  const inPage = await page.evaluate(async () => {
    const storages = Object.entries({ 'local storage': localStorage, 'session storage': sessionStorage });
    return [
      ...storages.flatMap(([where, storage]) => Object.keys(storage).map((name) => `${where} ${name}`)),
      ...Object.keys((history.state ?? {}) as object).map((name) => `history ${name}`),
      ...(await indexedDB.databases()).map(({ name }) => `IndexedDB ${name}`),
      // Over http, only localhost has cache storage.
      ...(typeof caches === 'undefined' ? [] : (await caches.keys()).map((name) => `cache storage ${name}`)),
      ...(await navigator.serviceWorker.getRegistrations()).map(({ scope }) => `service worker ${scope}`),
      ...document.cookie
        .split(';')
        .filter(Boolean)
        .map((cookie) => `cookie for scripts ${cookie}`),
    ];
  });
  return [...cookies.map(({ name }) => `cookie ${name}`), ...inPage];
}

test('the page stores what privacy.md names and contacts no other host', async ({ page, visitor, site }) => {
  const texts: Promise<string>[] = [];
  const hosts = new Set<string>();
  page.on('response', (response) => {
    const { host, protocol, pathname } = new URL(response.url());
    if (protocol.startsWith('http')) hosts.add(host);
    if (pathname === '/' || pathname.endsWith('.js')) texts.push(response.text());
  });
  const seen = new Set<string>();
  const look = async () => {
    for (const one of await held(page)) seen.add(one);
  };
  await page.goto('/?utm_source=newsletter&gclid=a-click');
  expect(await held(page)).toEqual([]);
  await page.getByRole('button', { name: 'Toggle theme' }).click();
  await page.getByRole('button', { name: 'Play video' }).click();
  await look();
  await visitor.openForm();
  await look();
  await page.goBack();
  await expect(visitor.landing).toBeVisible();
  await look();
  await page.goForward();
  await visitor.fillForm();
  await look();
  await visitor.sendFilledForm();
  await look();
  const code = await visitor.mailedCode();
  await page.reload();
  await expect(visitor.box(1)).toBeVisible();
  await look();
  await visitor.openArticle(code);
  await page.evaluate(() => window.scrollTo(0, 1.5 * window.innerHeight));
  await expect.poll(() => page.evaluate(() => localStorage.length)).toBe(2);
  await look();
  expect([...seen].toSorted()).toEqual(named().toSorted());

  const atTheEnd = await held(page);
  expect(atTheEnd).not.toContain('session storage lead-draft');
  for (const cookie of await page.context().cookies(site.url))
    expect(cookie).toMatchObject({ expires: -1, httpOnly: true, sameSite: 'Lax' });

  expect([...hosts]).toEqual([new URL(site.url).host]);
  const all = (await Promise.all(texts)).join('\n');
  expect(texts.length).toBeGreaterThanOrEqual(3);
  expect(all).toContain('lead-draft');
  expect(all).not.toMatch(/data-counter|stepsToCount|plausible|umami|matomo|analytics/);
  expect(all).not.toMatch(/long text|fieldset|answers\./);
  expect(all, 'the article').not.toContain('cold email is a stranger');
});
