import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { launch, type ElementHandle, type KeyInput, type Page } from 'puppeteer-core';

import {
  candidates,
  findSoon,
  noteMiss,
  SELECTORS,
  VIEWPORT,
  wasHit,
  type Engine,
  type EnginePage,
  type Role,
} from '#testing/engines/engine.ts';
import { until } from '#testing/until.ts';

export async function startFirefox(executablePath: string): Promise<Engine> {
  // Firefox's sandbox only reads the system's font folders.
  const fonts = process.env['FONTCONFIG_FILE'];
  const extraPrefsFirefox = fonts && {
    'security.sandbox.content.read_path_whitelist': `${path.dirname(fonts)}/`,
  };
  // Firefox does not start if it cannot write to the home folder.
  const home = mkdtempSync(path.join(os.tmpdir(), 'lead-page-firefox-'));
  const browser = await launch({
    env: { ...process.env, HOME: home },
    browser: 'firefox',
    executablePath,
    headless: true,
    ...(extraPrefsFirefox && { extraPrefsFirefox }),
  });

  const newPage = async (): Promise<EnginePage> => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport(VIEWPORT);
    const pageErrors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') pageErrors.push(`${message.text()} (${message.location().url ?? ''})`);
    });
    page.on('pageerror', (error) => pageErrors.push(error instanceof Error ? error.message : String(error)));

    const find = (role: Role, name: string) => findSoon(role, name, () => findNow(page, role, name));
    return {
      open: (url) => page.goto(url),
      reload: () => page.reload(),
      click: async (role, name) => {
        const element = await find(role, name);
        await until(async () => {
          await element.evaluate(noteMiss);
          await element.click();
          // A link may have left the page.
          return page.evaluate(wasHit).catch(() => true);
        });
      },
      box: async (role, name) => {
        const box = await (await find(role, name)).boundingBox();
        if (box === null) throw new Error(`The ${role} "${name}" has no box.`);
        return box;
      },
      type: (text) => page.keyboard.type(text),
      press: async (keys) => {
        const pressed = keys.split('+') as KeyInput[];
        for (const key of pressed) await page.keyboard.down(key);
        for (const key of pressed.toReversed()) await page.keyboard.up(key);
      },
      evaluate: (run, ...argument) => page.evaluate(run as (argument: unknown) => never, argument[0]),
      resize: (width, height) => page.setViewport({ width, height }),
      pageErrors: () => Promise.resolve(pageErrors),
      close: () => context.close(),
    };
  };
  return {
    name: 'firefox',
    version: await browser.version(),
    newPage,
    close: async () => {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function findNow(page: Page, role: Role, name: string): Promise<ElementHandle | undefined> {
  const candidateElements = await page.evaluateHandle(candidates, SELECTORS[role], name);
  for (const candidate of (await candidateElements.getProperties()).values()) {
    const parent = await candidate.evaluateHandle((element) => (element as Element).parentElement!);
    const element = await parent.$(`::-p-aria([name=${JSON.stringify(name)}][role="${role}"])`);
    if (element !== null) return element;
  }
  return undefined;
}
