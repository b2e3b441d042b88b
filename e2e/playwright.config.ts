// Real Chromium against the production command. Each worker starts its own site (fixtures.ts).
import { defineConfig } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';
import { fontconfigFile } from '#testing/fonts.ts';

const narrow = { ...process.env, FONTCONFIG_FILE: fontconfigFile('narrow') } as Record<string, string>;

export default defineConfig({
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
    // A trace costs a fifth of the time. For a test that failed: npx playwright test -c e2e --trace on e2e/NAME.spec.ts
    trace: 'off',
  },
  projects: [
    // In the widest text face (global-setup.ts); what measures lines, rows and columns in the narrowest as well.
    { name: 'wide' },
    {
      name: 'narrow',
      grep: /@layout/,
      use: { launchOptions: { ...chromiumLaunchOptions(), env: narrow } },
    },
  ],
});
