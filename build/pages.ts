// Builds the pages of the campaign, with the styles inside them and the files that they load.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { makeHeadlineFont, textWidth } from '#build/headline-font.ts';
import {
  bundleApp,
  bundleBootScript,
  bundlePrerenderer,
  bundleScript,
  bundleStyles,
  type AppUrls,
} from '#build/vite-bundles.ts';
import { readPageWords, type PageWords } from '#build/vite-campaign.ts';
import { CAMPAIGN_FOLDER, OPTIONAL_STYLES, SITE_PATH, WEB } from '#build/vite-config.ts';
import { copyFiles, OWN_PAGE, variantsIn } from '#server/campaign/campaign-folder.ts';
import { variantPage } from '#server/http/releases.ts';
import type { Site } from '#shared/campaign-schema.ts';
import { colourStyles } from '#shared/colours.ts';
import { figureAtEnd, figureAtStart } from '#web/landing/figures.ts';
import { renderDocument, renderManifest, robotsTxt, SITEMAP_XML } from '#web/document.ts';

const MEDIA = path.join(CAMPAIGN_FOLDER, 'media');

export type BuiltPages = {
  /** By file name. */
  readonly pages: ReadonlyMap<string, string>;
  readonly inlineScripts: readonly string[];
  readonly inlineStyles: readonly string[];
};

/**
 * @param files the folder of scripts, fonts and pictures
 * @param prerenderers a folder for programs that only the build runs
 */
export async function buildPages(files: string, prerenderers: string): Promise<BuiltPages> {
  const { site, interface: words } = readPageWords(CAMPAIGN_FOLDER);
  const styles = await buildStyles(site);
  const build = (variant: string | null) => buildHome(variant, { styles, files, prerenderers });
  const own = await build(null);
  const variants = variantsIn(CAMPAIGN_FOLDER);
  const homes = [{ ...own, variant: variants.length === 0 ? null : OWN_PAGE, file: 'index.html' }];
  for (const variant of variants)
    homes.push({ ...(await build(variant)), variant, file: variantPage(variant) });
  copyCampaignFiles(files, site);
  // Loaded only while the breaker is open. Its name has no hash, so browsers revalidate it.
  await bundleScript(files, 'proof-of-work.ts', 'proof-of-work.js');
  const counterUrl = site.analytics
    ? await bundleScript(files, 'analytics/analytics.ts', 'analytics-[hash].js')
    : null;
  const bootScript = await bundleBootScript();
  const common = {
    site,
    bootScript,
    icon: inlineIcon(files),
    hasPicture: existsSync(path.join(MEDIA, 'og.png')),
  };
  const notFound = {
    ...own,
    page: '404' as const,
    markup: await own.prerender(`${SITE_PATH}/404`),
    css: (await buildHeadlineFont([words.notFound.title, site.title])) + styles.critical + styles.notFound,
    counterUrl: null,
    variant: null,
    file: '404.html',
  };
  const documents = [...homes.map((home) => ({ ...home, page: 'home' as const, counterUrl })), notFound];
  const pages = new Map<string, string>();
  for (const { file, urls, ...parts } of documents)
    pages.set(file, renderDocument({ ...common, ...urls, ...parts }));
  pages.set('robots.txt', robotsTxt(site));
  if (!site.noindex) pages.set('sitemap.xml', SITEMAP_XML);
  pages.set('site.webmanifest', renderManifest(site, SITE_PATH));
  return {
    pages,
    inlineScripts: [bootScript],
    inlineStyles: documents.map(({ css }) => css),
  };
}

type Styles = {
  /** For the first view of every page. */
  readonly critical: string;
  /** For parts that a campaign may lack. */
  readonly optional: readonly string[];
  readonly notFound: string;
};

async function buildStyles(site: Site): Promise<Styles> {
  const critical = (await bundleStyles('critical.ts')) + (site.colors ? colourStyles(site.colors) : '');
  const optional: string[] = [];
  for (const list of OPTIONAL_STYLES) optional.push(await bundleStyles(list));
  return { critical, optional, notFound: await bundleStyles('critical-not-found.ts') };
}

type Home = {
  readonly words: PageWords['interface'];
  readonly urls: AppUrls & { readonly displayUrl: string };
  readonly prerender: (path: string) => Promise<string>;
  readonly markup: string;
  readonly css: string;
};

/** @param variant null for the campaign's own page */
async function buildHome(
  variant: string | null,
  { styles, files, prerenderers }: { styles: Styles; files: string; prerenderers: string },
): Promise<Home> {
  const { site, landing, interface: words } = readPageWords(CAMPAIGN_FOLDER, variant);
  const { hero, figures = [], howItWorks, solution, testimonials } = landing;
  const proof = (solution && figureAtEnd(solution.proof))?.figure;
  const large = [
    ...figures.map(({ value }) => value),
    ...(howItWorks?.points.map((_, index) => String(index + 1)) ?? []),
    ...(testimonials?.cards.map(({ metric }) => figureAtStart(metric)?.figure ?? '') ?? []),
    proof ?? '',
  ];
  const app = await bundleApp(files, variant);
  const { prerender } = await bundlePrerenderer(path.join(prerenderers, variant ?? OWN_PAGE), variant);
  const markup = await prerender(`${SITE_PATH}/`);
  const css =
    (await buildHeadlineFont([hero.headline, site.title])) +
    (proof ? `:root{--proof:${(await widestOf(proof)).toFixed(2)}}` : '') +
    styles.critical +
    styles.optional.filter((one) => isUsedIn(markup, one)).join('');
  return {
    words,
    urls: { ...app, displayUrl: await buildDisplayFont(files, large) },
    prerender,
    markup,
    css,
  };
}

function isUsedIn(markup: string, styles: string): boolean {
  // Class names are short (build/vite-config.ts), such as `.b4`.
  const names = Array.from(styles.matchAll(/\.([a-z]\d)(?!\w)/gi), ([, name = '']) => name);
  return names.some((name) => new RegExp(`class="[^"]*\\b${name}\\b`).test(markup));
}

/** Newsreader at the optical size for 64 px and more, in weight 500, with proportional digits. */
const DISPLAY_CUT = readFileSync(path.join(import.meta.dirname, 'newsreader-display.woff2'));
const READING_CUT = readFileSync(path.join(WEB, 'public', 'fonts', 'newsreader.woff2'));

/** Inlined, so the first paint has the right typeface and nothing moves once the complete font has loaded. */
async function buildHeadlineFont(texts: readonly string[]): Promise<string> {
  const font = await makeHeadlineFont(DISPLAY_CUT, texts);
  return `@font-face{font-family:Headline;font-weight:500;src:url(data:font/woff2;base64,${font.toString('base64')})}`;
}

/** For the figures. The page loads it after the first paint, because most figures are below the first view. */
async function buildDisplayFont(files: string, texts: readonly string[]): Promise<string> {
  const font = await makeHeadlineFont(DISPLAY_CUT, texts);
  const name = `assets/display-${createHash('sha256').update(font).digest('base64url').slice(0, 8)}.woff2`;
  writeFileSync(path.join(files, name), font);
  return `${SITE_PATH}/${name}`;
}

/** Until the display face has loaded, and without JavaScript, a figure is shown in the reading face. */
const widestOf = async (figure: string): Promise<number> =>
  Math.max(await textWidth(DISPLAY_CUT, figure), await textWidth(READING_CUT, figure, { wght: 500 }));

function copyCampaignFiles(files: string, { colors }: Site): void {
  if (colors) {
    const icon = path.join(files, 'favicon.svg');
    const { light, dark } = colors.accent;
    writeFileSync(icon, readFileSync(icon, 'utf8').replace('#0e5a43', light).replace('#8fd3b2', dark));
  }
  for (const [from, to] of [
    [MEDIA, path.join(files, 'media')],
    [path.join(CAMPAIGN_FOLDER, 'icons'), files],
  ] as const)
    if (existsSync(from)) copyFiles(from, to);
}

const inlineIcon = (files: string): string =>
  readFileSync(path.join(files, 'favicon.svg'), 'utf8')
    .replace(/<!--.*?-->/gs, '')
    .replace(/\s+/g, ' ')
    .replace(/(?<=[>{};:,]) | (?=[<{}/])|;(?= ?\})/g, '');
