// Finds the Chromium that tests and tools drive, and how to start it.
import { existsSync } from 'node:fs';

import { chromium } from '@playwright/test';

/** Without windows: the browser tests take 0.7 of the time with it. */
const SHELL = '/usr/bin/chromium-headless-shell';
const PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * The path of a Chromium: CHROME_PATH, Playwright's own, or one of the system's; undefined when there is none.
 * @param shell whether the shell will do; its pointer rests on every page and wakes it, which spoils what is measured
 */
export function findChromium({ shell = true } = {}): string | undefined {
  return [process.env['CHROME_PATH'], chromium.executablePath(), ...(shell ? [SHELL] : []), ...PATHS].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  );
}

/** Whether the one that was found draws windows that no test looks at. */
export const drawsWindows = (path: string): boolean => PATHS.includes(path);

/** Keeps Chromium from talking to anybody but the page under test. */
const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  // Letters as wide as in other browsers: those of the shell would else be rounded to whole pixels, and lines break elsewhere.
  '--font-render-hinting=none',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What Playwright's launch takes. */
export function chromiumLaunchOptions({ shell = true } = {}): { executablePath?: string; args: string[] } {
  const executablePath = findChromium({ shell });
  return { ...(executablePath !== undefined && { executablePath }), args: CHROMIUM_ARGUMENTS };
}
