// How Vite sees the page; shared by the build and the development server.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import react from '@vitejs/plugin-react';
import type { InlineConfig, Plugin } from 'vite';

import { BUILD_TARGET } from '#build/browsers.ts';
import { campaignPlugin } from '#build/vite-campaign.ts';
import { readCampaignFolder, readSitePath } from '#server/settings/env-file.ts';

export const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
export const CAMPAIGN_FOLDER = readCampaignFolder();
/** The path of PUBLIC_URL, such as /guide; empty at the root of its host. */
export const SITE_PATH = readSitePath();

const WEB = path.join(PROJECT_FOLDER, 'web');
export const DESK_WEB = path.join(PROJECT_FOLDER, 'desk', 'web');

/** Every class and movement of the page's modules of styles, as `place:name`, in an order that only these files decide. */
const CLASSES = globSync('**/*.module.css', { cwd: WEB })
  .toSorted()
  .flatMap((place) => {
    const styles = readFileSync(path.join(WEB, place), 'utf8').replace(/\/\*.*?\*\//gs, '');
    const names = Array.from(styles.matchAll(/(?:\.|@keyframes )([a-z][\w-]*)/gi), ([, name]) => name);
    return [...new Set(names)].map((name) => `${place}:${name}`);
  });

/**
 * A class name of a letter and a digit: names are in the page twice, and a random one cannot be compressed. The same for
 * a file that is imported as a module and as text (web/styles/app-styles.ts).
 */
function shortClassName(name: string, file: string): string {
  const [place = ''] = path.relative(WEB, file).split('?');
  const number = CLASSES.indexOf(`${place}:${name}`);
  const letter = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'[Math.floor(number / 10)];
  if (letter === undefined) throw new Error(`There is no short name for the class ${name} of ${place}.`);
  return `${letter}${number % 10}`;
}

/** `Features.LightDark` of Vite's lightningcss: nothing here uses light-dark(), and what would stand in for it has a weight. */
const LIGHT_DARK = 1_048_576;

/** For whom, and how strictly. */
const BUILT: NonNullable<InlineConfig['build']> = {
  target: [...BUILD_TARGET],
  cssTarget: [...BUILD_TARGET],
  rolldownOptions: {
    // A busy machine is no mistake of ours, and a warning stops the build.
    checks: { bundlerTimings: false },
    // Radix names its functions by calls of __name, and a call that is kept keeps a function that nobody uses: 3 kB of them.
    treeshake: { manualPureFunctions: ['__name'] },
  },
};

/**
 * Radix brings this along for overlays and modal popovers, which the desk does without: it writes styles into the document, and the desk's
 * policy forbids that.
 */
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

/** Of the desk in a browser: it knows no campaign, and has its styles and fonts in files. */
export const deskViteConfig: InlineConfig = {
  configFile: false,
  root: DESK_WEB,
  publicDir: false,
  plugins: [withoutScrollLock, react()],
  build: { ...BUILT, assetsInlineLimit: 0, modulePreload: false },
  css: {
    modules: {
      // What a class is of stays to be read in the browser, and no build differs from another.
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

/**
 * What every use of Vite for the page has in common.
 * @param variant whose words the page has; null: those of the campaign itself
 * @param sitePath of PUBLIC_URL
 */
export const viteConfigOf = (variant: string | null, sitePath = SITE_PATH): InlineConfig => ({
  configFile: false,
  root: path.join(PROJECT_FOLDER, 'web'),
  publicDir: path.join(PROJECT_FOLDER, 'web', 'public'),
  base: `${sitePath}/`,
  define: { __SITE_PATH__: JSON.stringify(sitePath) },
  plugins: [campaignPlugin(CAMPAIGN_FOLDER, { variant, sitePath }), react()],
  build: BUILT,
  css: {
    modules: { generateScopedName: shortClassName },
    lightningcss: { exclude: LIGHT_DARK },
  },
});

/** Of the development server, which is always at the root of its host. */
export const viteConfig: InlineConfig = viteConfigOf(null, '');
