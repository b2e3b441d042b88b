// How Vite sees the page; shared by the build and the development server.
import { createHash } from 'node:crypto';
import path from 'node:path';

import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';

import { BUILD_TARGET } from '#build/browsers.ts';
import { campaignPlugin } from '#build/vite-campaign.ts';
import { readCampaignFolder } from '#server/settings.ts';

export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
export const CAMPAIGN_FOLDER = readCampaignFolder();

/**
 * A class name of five characters, made from where it stands. The same for a file that is imported as a module and as
 * text (web/styles/late.ts).
 */
function shortClassName(name: string, file: string): string {
  const [place = ''] = path.relative(PROJECT_FOLDER, file).split('?');
  // A letter first: class names may not begin with a digit.
  return `c${createHash('sha256').update(`${place}:${name}`).digest('base64url').slice(0, 4)}`;
}

/** `Features.LightDark` of Vite's lightningcss: nothing here uses light-dark(), and what would stand in for it has a weight. */
const LIGHT_DARK = 1_048_576;

/** What every use of Vite here has in common. */
export const viteConfig: InlineConfig = {
  configFile: false,
  root: path.join(PROJECT_FOLDER, 'web'),
  publicDir: path.join(PROJECT_FOLDER, 'web', 'public'),
  plugins: [campaignPlugin(CAMPAIGN_FOLDER), react()],
  build: {
    target: [...BUILD_TARGET],
    cssTarget: [...BUILD_TARGET],
    // A busy machine is no mistake of ours, and a warning stops the build.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
  css: {
    modules: { generateScopedName: shortClassName },
    lightningcss: { exclude: LIGHT_DARK },
  },
};
