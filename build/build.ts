// Builds the site and moves it into dist/ (server/http/releases.ts). Running servers keep the old one until they restart.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getSystemErrorName } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { build, createLogger, mergeConfig, type InlineConfig, type Plugin, type Rolldown } from 'vite';

import {
  beginRelease,
  campaignFolderOf,
  copyCampaign,
  distFolder,
  findBuiltDesk,
  newestRelease,
  publishRelease,
  readSources,
  variantPage,
  removeOldReleases,
  type ReleaseFacts,
} from '#server/http/releases.ts';
import { campaignMistakes, readCampaign, wordsMissingFor } from '#server/campaign/campaign.ts';
import { copyFiles, OWN_PAGE, variantsIn } from '#server/campaign/campaign-folder.ts';
import { campaignWarnings, changedVariants, unlistedPage } from '#server/campaign/campaign-warnings.ts';
import { sampleOnPage } from '#server/campaign/sample.ts';
import { readWordSettings } from '#server/settings/env-file.ts';
import { endWithSentence } from '#server/platform/system-errors.ts';
import { makeHeadlineFont, textWidth } from '#build/headline-font.ts';
import {
  CAMPAIGN_FOLDER,
  DESK_WEB,
  deskViteConfig,
  PROJECT_FOLDER,
  SITE_PATH,
  viteConfigOf,
} from '#build/vite-config.ts';
import { readPageWords } from '#build/vite-campaign.ts';
import { colourStyles } from '#shared/colours.ts';
import { figureAtEnd, figureAtStart } from '#web/landing/figures.ts';
import { renderDocument, renderManifest, robotsTxt, SITEMAP_XML } from '#web/document.ts';

endWithSentence();
const DIST = distFolder(PROJECT_FOLDER, CAMPAIGN_FOLDER);
const LAST_RELEASE = newestRelease(DIST);
const NOTHING_CHANGED =
  LAST_RELEASE === null
    ? 'The site was not built.'
    : 'Nothing was changed: the site goes on with the words of its last build.';
// A stack trace would not help the author of the campaign.
const mistakes = [
  ...campaignMistakes(CAMPAIGN_FOLDER),
  ...wordsMissingFor(readWordSettings(), readCampaign(CAMPAIGN_FOLDER)),
];
if (mistakes.length > 0) {
  const these = mistakes.length === 1 ? 'this mistake' : `these ${mistakes.length} mistakes`;
  process.stderr.write(
    `${NOTHING_CHANGED} Correct ${these}, and run the build again:\n${mistakes.map((mistake) => `  - ${mistake}\n`).join('')}`,
  );
  process.exit(1);
}
for (const warning of [
  ...campaignWarnings(CAMPAIGN_FOLDER),
  ...sampleOnPage(CAMPAIGN_FOLDER),
  ...unlistedPage(CAMPAIGN_FOLDER),
  ...(LAST_RELEASE === null ? [] : changedVariants(CAMPAIGN_FOLDER, campaignFolderOf(LAST_RELEASE))),
])
  process.stdout.write(`Warning: ${warning}\n`);

const WEB = path.join(PROJECT_FOLDER, 'web');
const MEDIA = path.join(CAMPAIGN_FOLDER, 'media');

// Read first, so a change during the build is noticed at its end.
const builtFrom = readSources(PROJECT_FOLDER, CAMPAIGN_FOLDER);
const BUILDING = beginRelease(DIST);
process.once('exit', () => rmSync(BUILDING, { recursive: true, force: true }));
const RELEASE = path.join(BUILDING, 'release');
const FILES = path.join(RELEASE, 'files');
const PAGES = path.join(RELEASE, 'pages');
/** A separate folder, because the public site must not serve the desk. */
const DESK = path.join(RELEASE, 'desk');
const PRERENDERER = path.join(BUILDING, 'prerenderer');

/** Turns bundler warnings, such as a missing style, into errors. */
const strictLogger = createLogger('warn');
strictLogger.warn = (message) => {
  throw new Error(message);
};

type Output = Rolldown.RolldownOutput['output'];

const run = (config: InlineConfig, variant: string | null = null): Promise<Output> =>
  runWith(viteConfigOf(variant), config);

async function runWith(common: InlineConfig, config: InlineConfig): Promise<Output> {
  const result = await build(
    mergeConfig({ ...common, logLevel: 'warn', customLogger: strictLogger }, config),
  ).catch((error: unknown) => {
    throw withCode(error);
  });
  if (Array.isArray(result) || !('output' in result))
    throw new Error('Vite did not return exactly one bundle.');
  return result.output;
}

/** The bundler, written in Rust, puts the system's error code only into its message. */
function withCode(error: unknown): unknown {
  const [, number] = /\(os error (\d+)\)/.exec(error instanceof Error ? error.message : '') ?? [];
  if (number === undefined) return error;
  const code = getSystemErrorName(-Number(number));
  return Object.assign(new Error(code, { cause: error }), { code, syscall: 'write', path: DIST });
}

/**
 * Imports the first file from the running module, not from a URL, because a retry has another URL and would start a second application
 * (web/later-stages/load-later-stages.ts).
 */
const joinFiles: Plugin = {
  name: 'join-files',
  renderChunk(code, { fileName, isEntry }) {
    const replace = (what: RegExp, by: (...found: string[]) => string): string => {
      if (!what.test(code))
        throw new Error(`${fileName} is not as expected, because it does not contain ${what}.`);
      return code.replace(what, by);
    };
    return isEntry
      ? replace(
          // Vite's helper would preload the first file again.
          /\((\w+)\) => __vitePreload\(\(\) => import\((["'][^"']+["'])\), __VITE_PRELOAD__\)/,
          (_, query = '', address = '') => `(${query}) => import(${address} + ${query})`,
        )
      : replace(
          /^import \{(.*?)\} from ["'][^"']+["'];/ms,
          (_, names = '') => `const {${names.replaceAll(' as ', ': ')}} = await appModule;`,
        );
  },
};

async function buildApp(variant: string | null): Promise<{ appUrl: string; secondFileUrl: string }> {
  const output = await run(
    {
      plugins: [joinFiles],
      build: {
        outDir: FILES,
        emptyOutDir: variant === null,
        assetsDir: 'assets',
        modulePreload: false,
        cssCodeSplit: false,
        rolldownOptions: {
          input: path.join(WEB, 'entry-client.tsx'),
          preserveEntrySignatures: 'allow-extension',
          output: {
            entryFileNames: 'assets/app-[hash].js',
            chunkFileNames: 'assets/second-[hash].js',
            // Lets Chromium compile the whole file while it arrives, not each function on its first call.
            postBanner: '//# allFunctionsCalledOnLoad',
          },
          optimization: { inlineConst: { mode: 'all', pass: 3 } },
        },
      },
    },
    variant,
  );
  const scripts = output.filter((file) => file.type === 'chunk');
  const app = scripts.find(({ isEntry }) => isEntry);
  const second = scripts.find(({ isDynamicEntry }) => isDynamicEntry);
  if (app === undefined || second === undefined || scripts.length !== 2) {
    throw new Error(
      `The application must consist of two files, not ${scripts.map((file) => file.fileName).join(', ')}.`,
    );
  }
  for (const { fileName } of output) if (fileName.endsWith('.css')) rmSync(path.join(FILES, fileName));
  return { appUrl: `${SITE_PATH}/${app.fileName}`, secondFileUrl: `${SITE_PATH}/${second.fileName}` };
}

async function buildCriticalStyles(list: string): Promise<string> {
  const output = await run({
    publicDir: false,
    build: {
      write: false,
      cssCodeSplit: false,
      rolldownOptions: { input: path.join(WEB, 'styles', list), preserveEntrySignatures: 'strict' },
    },
  });
  const styles = output.map((file) => (file.type === 'asset' ? String(file.source) : ''));
  return styles
    .join('')
    .replaceAll(/\/\*.*?\*\//g, '')
    .trim();
}

/** Made by studio/make-font.ts. */
const DISPLAY_CUT = readFileSync(path.join(import.meta.dirname, 'newsreader-display.woff2'));
const READING_CUT = readFileSync(path.join(WEB, 'public', 'fonts', 'newsreader.woff2'));

/** Built into the page, so the first paint has the right typeface and nothing moves once the complete font has loaded. */
async function buildHeadlineFont(texts: readonly string[]): Promise<string> {
  const font = await makeHeadlineFont(DISPLAY_CUT, texts);
  return `@font-face{font-family:Headline;font-weight:500;src:url(data:font/woff2;base64,${font.toString('base64')})}`;
}

/** For the figures. The page loads it after the first paint, because most figures are below the first view. */
async function buildDisplayFont(texts: readonly string[]): Promise<string> {
  const font = await makeHeadlineFont(DISPLAY_CUT, texts);
  const name = `assets/display-${createHash('sha256').update(font).digest('base64url').slice(0, 8)}.woff2`;
  writeFileSync(path.join(FILES, name), font);
  return `${SITE_PATH}/${name}`;
}

async function buildBootScript(): Promise<string> {
  const output = await run({
    publicDir: false,
    build: {
      write: false,
      modulePreload: false,
      rolldownOptions: { input: path.join(WEB, 'boot.ts'), output: { format: 'iife' } },
    },
  });
  const [boot] = output;
  const code = boot.code.trim();
  if (code.includes('</script'))
    throw new Error('The boot script contains </script>, which would close its element too early.');
  return code;
}

/** Loaded only while the breaker is open. Its name has no hash, so browsers revalidate it. */
async function buildProofOfWork(): Promise<void> {
  await run({
    publicDir: false,
    build: {
      outDir: FILES,
      emptyOutDir: false,
      modulePreload: false,
      rolldownOptions: {
        input: path.join(WEB, 'proof-of-work.ts'),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: 'proof-of-work.js' },
      },
    },
  });
}

async function buildCounter(): Promise<string> {
  const [{ fileName }] = await run({
    publicDir: false,
    build: {
      outDir: FILES,
      emptyOutDir: false,
      modulePreload: false,
      rolldownOptions: {
        input: path.join(WEB, 'analytics', 'analytics.ts'),
        output: { entryFileNames: 'analytics-[hash].js' },
      },
    },
  });
  return `${SITE_PATH}/${fileName}`;
}

type Prerenderer = { readonly prerender: (path: string) => Promise<string> };

async function buildPrerenderer(variant: string | null): Promise<Prerenderer> {
  const folder = path.join(PRERENDERER, variant ?? OWN_PAGE);
  await run(
    {
      publicDir: false,
      build: {
        ssr: path.join(WEB, 'entry-prerender.tsx'),
        outDir: folder,
        emptyOutDir: true,
        rolldownOptions: { output: { entryFileNames: 'prerender.js' } },
      },
    },
    variant,
  );
  return (await import(pathToFileURL(path.join(folder, 'prerender.js')).href)) as Prerenderer;
}

async function buildDesk(): Promise<void> {
  const built = findBuiltDesk(PROJECT_FOLDER, builtFrom);
  if (built !== undefined) {
    cpSync(built, DESK, { recursive: true });
    return;
  }
  const [boot] = await runWith(deskViteConfig, {
    build: {
      outDir: DESK,
      emptyOutDir: true,
      rolldownOptions: {
        input: path.join(DESK_WEB, 'boot.ts'),
        output: { format: 'iife', entryFileNames: 'assets/theme-[hash].js' },
      },
    },
  });
  const theme: Plugin = {
    name: 'theme-first',
    // The desk's policy forbids inline scripts. This script also sets the theme-color meta tag.
    transformIndexHtml: (html) =>
      html.replace('<title>', `<script src="/${boot.fileName}"></script>\n    <title>`),
  };
  await runWith(deskViteConfig, {
    plugins: [theme],
    build: {
      outDir: DESK,
      emptyOutDir: false,
      rolldownOptions: {
        input: path.join(DESK_WEB, 'index.html'),
        output: { entryFileNames: 'assets/desk-[hash].js' },
      },
    },
  });
  compressFiles(DESK);
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const COMPRESSIBLE = '**/*.{js,css,svg,vtt,txt,ico}';

function compressFiles(folder: string): void {
  for (const name of globSync(COMPRESSIBLE, { cwd: folder })) {
    const file = path.join(folder, name);
    const content = readFileSync(file);
    const quality = {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params: quality }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

function takeCampaignFiles(): void {
  if (site.colors) {
    const icon = path.join(FILES, 'favicon.svg');
    const { light, dark } = site.colors.accent;
    writeFileSync(icon, readFileSync(icon, 'utf8').replace('#0e5a43', light).replace('#8fd3b2', dark));
  }
  for (const [from, to] of [
    [MEDIA, path.join(FILES, 'media')],
    [path.join(CAMPAIGN_FOLDER, 'icons'), FILES],
  ] as const)
    if (existsSync(from)) copyFiles(from, to);
}

const WHERE_USED = ['critical-letter.ts', 'critical-shapes.ts', 'critical-logos.ts', 'critical-questions.ts'];

async function buildStylesWhereUsed(page: string): Promise<string> {
  const used: string[] = [];
  for (const list of WHERE_USED) {
    const styles = await buildCriticalStyles(list);
    const names = Array.from(styles.matchAll(/\.([a-z]\d)(?!\w)/gi), ([, name = '']) => name);
    if (names.some((name) => new RegExp(`class="[^"]*\\b${name}\\b`).test(page))) used.push(styles);
  }
  return used.join('');
}

/** Until the display face has loaded, and without JavaScript, a figure is shown in the reading face. */
const widestOf = async (figure: string): Promise<number> =>
  Math.max(await textWidth(DISPLAY_CUT, figure), await textWidth(READING_CUT, figure, { wght: 500 }));

async function buildHome(variant: string | null) {
  const { landing, interface: words } = readPageWords(CAMPAIGN_FOLDER, variant);
  const { hero, figures = [], howItWorks, solution, testimonials } = landing;
  const proof = (solution && figureAtEnd(solution.proof))?.figure;
  const large = [
    ...figures.map(({ value }) => value),
    ...(howItWorks?.points.map((_, index) => String(index + 1)) ?? []),
    ...(testimonials?.cards.map(({ metric }) => figureAtStart(metric)?.figure ?? '') ?? []),
    proof ?? '',
  ];
  const app = await buildApp(variant);
  const { prerender } = await buildPrerenderer(variant);
  const markup = await prerender(`${SITE_PATH}/`);
  const css =
    (await buildHeadlineFont([hero.headline, site.title])) +
    (proof ? `:root{--proof:${(await widestOf(proof)).toFixed(2)}}` : '') +
    critical +
    (await buildStylesWhereUsed(markup));
  return { ...app, displayUrl: await buildDisplayFont(large), prerender, markup, css, words };
}

const { site, interface: words } = readPageWords(CAMPAIGN_FOLDER);
const others = variantsIn(CAMPAIGN_FOLDER);
const critical = (await buildCriticalStyles('critical.ts')) + (site.colors ? colourStyles(site.colors) : '');
const own = await buildHome(null);
const homes = [{ variant: others.length === 0 ? null : OWN_PAGE, ...own }];
for (const variant of others) homes.push({ variant, ...(await buildHome(variant)) });
takeCampaignFiles();
await buildProofOfWork();
await buildDesk();
const counterUrl = site.analytics ? await buildCounter() : null;
const notFoundCss =
  (await buildHeadlineFont([words.notFound.title, site.title])) +
  critical +
  (await buildCriticalStyles('critical-not-found.ts'));
const bootScript = await buildBootScript();
const hasPicture = existsSync(path.join(MEDIA, 'og.png'));
const icon = readFileSync(path.join(FILES, 'favicon.svg'), 'utf8')
  .replace(/<!--.*?-->/gs, '')
  .replace(/\s+/g, ' ')
  .replace(/(?<=[>{};:,]) | (?=[<{}/])|;(?= ?\})/g, '');

mkdirSync(PAGES, { recursive: true });
const pages = [
  ...homes.map(({ variant, words: ownWords, markup, css, appUrl, secondFileUrl, displayUrl }) => [
    variant === null || variant === OWN_PAGE ? 'index.html' : variantPage(variant),
    renderDocument({
      site,
      words: ownWords,
      markup,
      css,
      bootScript,
      appUrl,
      secondFileUrl,
      displayUrl,
      counterUrl,
      icon,
      page: 'home',
      variant,
      hasPicture,
    }),
  ]),
  [
    '404.html',
    renderDocument({
      site,
      words,
      markup: await own.prerender(`${SITE_PATH}/404`),
      css: notFoundCss,
      bootScript,
      appUrl: own.appUrl,
      secondFileUrl: own.secondFileUrl,
      displayUrl: own.displayUrl,
      counterUrl: null,
      icon,
      page: '404',
      variant: null,
      hasPicture,
    }),
  ],
  ['robots.txt', robotsTxt(site)],
  ...(site.noindex ? [] : ([['sitemap.xml', SITEMAP_XML]] as const)),
  ['site.webmanifest', renderManifest(site, SITE_PATH)],
] as readonly (readonly [string, string])[];
for (const [name, text] of pages) writeFileSync(path.join(PAGES, name), text);
// Restored campaigns are private, but the server may run as another user, and these files are public.
for (const name of globSync(['media/*', '*.*'], { cwd: FILES })) chmodSync(path.join(FILES, name), 0o644);
compressFiles(FILES);
const facts: ReleaseFacts = {
  builtFrom,
  sitePath: SITE_PATH,
  inlineHashes: {
    scripts: [hash(bootScript)],
    styles: [...new Set([...homes.map(({ css }) => hash(css)), hash(notFoundCss)])],
  },
};
writeFileSync(path.join(RELEASE, 'release.json'), JSON.stringify(facts));
copyCampaign(CAMPAIGN_FOLDER, RELEASE);
// The site must not mix old and new words.
if (JSON.stringify(readSources(PROJECT_FOLDER, CAMPAIGN_FOLDER)) !== JSON.stringify(builtFrom)) {
  process.stderr.write(
    `${NOTHING_CHANGED} The words or the code changed during the build. Run the build again.\n`,
  );
  process.exit(1);
}
publishRelease(DIST, RELEASE);
removeOldReleases(DIST);
process.stdout.write('The site is built. A running server serves it after a restart.\n');
