// Real Chromium against the production command. Each worker starts its own site (fixtures.ts).
import { defineConfig } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { fontconfigFile } from '#testing/fonts.ts';

// Where the system's letters are ASCII, as in LANG=C, Chromium saves no download in a folder whose name has others.
process.env['LC_ALL'] = 'C.UTF-8';
const narrow = { ...process.env, FONTCONFIG_FILE: fontconfigFile('narrow') } as Record<string, string>;

export default defineConfig<{ machineFace: boolean }>({
  testDir: '.',
  outputDir: '../test-results',
  // What a screen reader meets, in words that are the same in every engine and system.
  snapshotPathTemplate: '{testDir}/screen-reader/{arg}{ext}',
  globalSetup: './global-setup.ts',
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  // A test that passes at the second try hides a bug.
  retries: 0,
  timeout: 30_000,
  expect: { timeout: 7_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: chromiumLaunchOptions(),
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    // A trace costs a fifth of the time. For a test that failed: npx playwright test -c e2e --trace on e2e/NAME.spec.ts
    trace: 'off',
  },
  projects: [
    // In the page's own face. What measures lines, rows and columns also in the widest (global-setup.ts) and the narrowest
    // that a machine sets text in when the page's fonts never arrive, or until they do (@late).
    { name: 'own' },
    { name: 'wide', grep: /@layout/, use: { machineFace: true } },
    {
      name: 'narrow',
      grep: /@layout|@late\b/,
      use: { machineFace: true, launchOptions: { ...chromiumLaunchOptions(), env: narrow } },
    },
  ],
});
