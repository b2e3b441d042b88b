// Finds the Chromium that tests and tools drive, and how to start it.
import { existsSync } from 'node:fs';

import { chromium } from '@playwright/test';

/** The one without windows first: tests take half the time with it. */
const PATHS = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The path of a Chromium: CHROME_PATH, Playwright's own, or one of the system's; undefined when there is none. */
export function findChromium(): string | undefined {
  return [process.env['CHROME_PATH'], chromium.executablePath(), ...PATHS].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  );
}

/** Keeps Chromium from talking to anybody but the page under test. */
const CHROMIUM_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What Playwright's launch takes. */
export function chromiumLaunchOptions(): { executablePath?: string; args: string[] } {
  const executablePath = findChromium();
  return { ...(executablePath !== undefined && { executablePath }), args: CHROMIUM_ARGUMENTS };
}
