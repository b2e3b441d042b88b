import { defineConfig } from '@playwright/test';

import { chromiumLaunchOptions } from '#testing/chromium.ts';

// With an ASCII locale, such as LANG=C, Chromium cannot save a download to a folder with other letters in its name.
process.env['LC_ALL'] = 'C.UTF-8';

const WITH_DESK_OR_COUNTER = /(analytics|desk-\w+|engines|mail-links|own-fields)\.spec\.ts$/;

export default defineConfig({
  testDir: '.',
  outputDir: '../test-results',
  snapshotPathTemplate: '{testDir}/screen-reader/{arg}{ext}',
  globalSetup: './global-setup.ts',
  fullyParallel: true,
  workers: 3,
  forbidOnly: true,
  // A retry would hide a bug.
  retries: 0,
  // On a slow machine, everything takes four times as long.
  timeout: 60_000,
  expect: { timeout: 20_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    launchOptions: chromiumLaunchOptions(),
    viewport: { width: 1280, height: 800 },
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
    // Drawing animations takes a sixth of the time. Tests of motion set 'no-preference'.
    reducedMotion: 'reduce',
    // A trace takes a fifth of the time. To get one for a failed test: npx playwright test -c e2e --trace on e2e/NAME.spec.ts
    trace: 'off',
  },
  projects: [
    // A second worker would start another desk and visit counter. These tests take longest, so they start first.
    { name: 'desk', testMatch: WITH_DESK_OR_COUNTER, workers: 1 },
    { name: 'page', testIgnore: WITH_DESK_OR_COUNTER },
  ],
});
