import { existsSync, globSync } from 'node:fs';
import path from 'node:path';

import { chromium, firefox, webkit } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import type { Engine, EngineName } from '#testing/engines/engine.ts';
import { startFirefox } from '#testing/engines/firefox-engine.ts';
import { startWithPlaywright } from '#testing/engines/playwright-engine.ts';
import { startWebkit } from '#testing/engines/webkit-engine.ts';

export const ENGINE_NAMES = ['chromium', 'firefox', 'webkit'] as const satisfies readonly EngineName[];

export const DEBIAN_PACKAGES = {
  firefox: ['firefox-esr'],
  // The last package decodes the film.
  webkit: ['webkit2gtk-driver', 'xvfb', 'gstreamer1.0-plugins-bad'],
} as const;

// /usr/bin/firefox is left out, because Ubuntu's snap cannot read a test's profile.
const FIREFOX_PATHS = [
  '/usr/bin/firefox-esr',
  '/usr/lib/firefox/firefox',
  '/usr/lib64/firefox/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
];

export function findEngine(name: EngineName): (() => Promise<Engine>) | undefined {
  if (name === 'chromium') return () => startWithPlaywright(chromium, chromiumLaunchOptions());
  if (name === 'firefox') {
    const executable = firstExisting([process.env['FIREFOX_PATH'], ...FIREFOX_PATHS]);
    if (executable !== undefined) return () => startFirefox(executable);
    return existsSync(firefox.executablePath()) ? () => startWithPlaywright(firefox, {}) : undefined;
  }
  const driver = onPath('WebKitWebDriver');
  const screen = onPath('Xvfb');
  const browser = globSync('/usr/lib/*/{webkit2gtk-4,webkitgtk-6}*/MiniBrowser')[0];
  if (driver !== undefined && screen !== undefined && browser !== undefined)
    return () => startWebkit({ driver, screen, browser });
  return existsSync(webkit.executablePath()) ? () => startWithPlaywright(webkit, {}) : undefined;
}

export const missingEngines = () =>
  (['firefox', 'webkit'] as const).filter((name) => findEngine(name) === undefined);

function firstExisting(paths: readonly (string | undefined)[]): string | undefined {
  return paths.find((file) => file !== undefined && file !== '' && existsSync(file));
}

function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return firstExisting(folders.map((folder) => path.join(folder, program)));
}
