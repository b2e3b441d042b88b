import { existsSync } from 'node:fs';

import { chromium } from '@playwright/test';

/** With the headless shell, the browser tests take 30 % less time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell';
const PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** @param shell whether the headless shell is allowed; its pointer rests on every page and disturbs measurements */
export function findChromium({ shell = true } = {}): string | undefined {
  return [
    process.env['CHROME_PATH'],
    chromium.executablePath(),
    ...(shell ? [HEADLESS_SHELL] : []),
    ...PATHS,
  ].find((path) => path !== undefined && path !== '' && existsSync(path));
}

export const isFullBrowser = (path: string): boolean => PATHS.includes(path);

const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  // Otherwise the shell rounds letter widths to whole pixels, and lines break elsewhere.
  '--font-render-hinting=none',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function chromiumLaunchOptions({ shell = true } = {}): { executablePath?: string; args: string[] } {
  const executablePath = findChromium({ shell });
  return { ...(executablePath !== undefined && { executablePath }), args: CHROMIUM_ARGUMENTS };
}
