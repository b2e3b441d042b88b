import { defineConfig } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { fontconfigFile } from '#testing/fonts.ts';

// With an ASCII locale, as in LANG=C, Chromium cannot save a download to a folder whose name contains other letters.
process.env['LC_ALL'] = 'C.UTF-8';
const narrow = { ...process.env, FONTCONFIG_FILE: fontconfigFile('narrow') } as Record<string, string>;

export default defineConfig<{ machineFace: boolean }>({
  testDir: '.',
  outputDir: '../test-results',
  snapshotPathTemplate: '{testDir}/screen-reader/{arg}{ext}',
  globalSetup: './global-setup.ts',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  // A retry would hide a bug.
  retries: 0,
  timeout: 30_000,
  expect: { timeout: 7_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: chromiumLaunchOptions(),
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    // Drawing animations takes a sixth of the time. Tests of motion set 'no-preference'.
    reducedMotion: 'reduce',
    // A trace takes a fifth of the time. To get one for a failed test: npx playwright test -c e2e --trace on e2e/NAME.spec.ts
    trace: 'off',
  },
  projects: [
    // @layout tests also run with the widest and the narrowest fallback font, as on machines without the page's fonts. @late tests
    // start with a fallback font and load the page's fonts later.
    { name: 'own' },
    { name: 'wide', grep: /@layout/, use: { machineFace: true } },
    {
      name: 'narrow',
      grep: /@layout|@late\b/,
      use: { machineFace: true, launchOptions: { ...chromiumLaunchOptions(), env: narrow } },
    },
  ],
});
