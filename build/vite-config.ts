import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import react from '@vitejs/plugin-react';
import type { InlineConfig, Plugin } from 'vite';

import { BUILD_TARGET } from '#build/browsers.ts';
import { campaignPlugin } from '#build/vite-campaign.ts';
import { readCampaignFolder, readSitePath } from '#server/settings/env-file.ts';

export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
export const CAMPAIGN_FOLDER = readCampaignFolder();
export const SITE_PATH = readSitePath();

export const WEB = path.join(PROJECT_FOLDER, 'web');
export const DESK_WEB = path.join(PROJECT_FOLDER, 'desk', 'web');

/** Lists in web/styles/ of parts that a campaign may lack. */
export const OPTIONAL_STYLES = ['letter', 'shapes', 'logos', 'questions'].map(
  (part) => `critical-${part}.ts`,
);

/** `place:name`, in an order that depends only on these files. */
const CLASSES = globSync('**/*.module.css', { cwd: WEB })
  .toSorted()
  .flatMap((place) => {
    const styles = readFileSync(path.join(WEB, place), 'utf8').replace(/\/\*.*?\*\//gs, '');
    const names = Array.from(styles.matchAll(/(?:\.|@keyframes )([a-z][\w-]*)/gi), ([, name]) => name);
    return [...new Set(names)].map((name) => `${place}:${name}`);
  });

/**
 * The page contains each name twice, and random names do not compress. A name must be the same whether its file is imported as a
 * module or as text (web/styles/app-styles.ts).
 */
function shortClassName(name: string, file: string): string {
  const [place = ''] = path.relative(WEB, file).split('?');
  const number = CLASSES.indexOf(`${place}:${name}`);
  const letter = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'[Math.floor(number / 10)];
  if (letter === undefined) throw new Error(`No short name was found for the class ${name} in ${place}.`);
  return `${letter}${number % 10}`;
}

/** `Features.LightDark` of Lightning CSS: no style uses light-dark(), and its polyfill would add bytes. */
const LIGHT_DARK = 1_048_576;

const BUILT: NonNullable<InlineConfig['build']> = {
  target: [...BUILD_TARGET],
  cssTarget: [...BUILD_TARGET],
  rolldownOptions: {
    // A slow machine would cause this warning, and warnings stop the build.
    checks: { bundlerTimings: false },
    // Radix's __name calls would keep 3 kB of unused functions.
    treeshake: { manualPureFunctions: ['__name'] },
  },
};

/** A dependency of Radix that the desk does not need. It inserts styles, which the desk's policy forbids. */
const SCROLL_LOCK = 'react-remove-scroll';
const withoutScrollLock: Plugin = {
  name: 'without-scroll-lock',
  enforce: 'pre',
  resolveId: (source) => (source === SCROLL_LOCK ? `\0${SCROLL_LOCK}` : null),
  load: (id) =>
    id === `\0${SCROLL_LOCK}`
      ? `export const RemoveScroll = () => { throw new Error("The desk's policy forbids this part of Radix."); };`
      : null,
};

export const deskViteConfig: InlineConfig = {
  configFile: false,
  root: DESK_WEB,
  publicDir: false,
  plugins: [withoutScrollLock, react()],
  build: { ...BUILT, assetsInlineLimit: 0, modulePreload: false },
  css: {
    modules: {
      // Readable class names that are the same in every build.
      generateScopedName: (name, file) =>
        `${path
          .relative(PROJECT_FOLDER, file)
          .replace(/\.module\.css.*/s, '')
          .replaceAll(/\W+/g, '-')
          .replace('desk-web-', '')}-${name}`,
    },
    lightningcss: { exclude: LIGHT_DARK },
  },
};

/** @param variant null for the campaign itself */
export const viteConfigOf = (variant: string | null, sitePath = SITE_PATH): InlineConfig => ({
  configFile: false,
  root: WEB,
  publicDir: path.join(WEB, 'public'),
  base: `${sitePath}/`,
  define: { __SITE_PATH__: JSON.stringify(sitePath) },
  plugins: [campaignPlugin(CAMPAIGN_FOLDER, { variant, sitePath }), react()],
  build: BUILT,
  css: {
    modules: { generateScopedName: shortClassName },
    lightningcss: { exclude: LIGHT_DARK },
  },
});

export const viteConfig: InlineConfig = viteConfigOf(null, '');
