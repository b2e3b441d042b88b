// Every run of Vite in a build, with its input and output.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getSystemErrorName } from 'node:util';

import { build, createLogger, mergeConfig, type InlineConfig, type Plugin, type Rolldown } from 'vite';

import { DESK_WEB, deskViteConfig, SITE_PATH, viteConfigOf, WEB } from '#build/vite-config.ts';

export type AppUrls = { readonly appUrl: string; readonly secondFileUrl: string };

/** Also copies web/public into the folder. */
export async function bundleApp(files: string, variant: string | null): Promise<AppUrls> {
  const output = await bundle(
    {
      publicDir: path.join(WEB, 'public'),
      plugins: [joinFiles],
      build: {
        outDir: files,
        assetsDir: 'assets',
        cssCodeSplit: false,
        rolldownOptions: {
          input: path.join(WEB, 'entry-client.tsx'),
          // The second file imports from the first.
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
  // The styles are in the page (critical ones) and in the scripts (web/styles/app-styles.ts).
  for (const { fileName } of output) if (fileName.endsWith('.css')) rmSync(path.join(files, fileName));
  return { appUrl: `${SITE_PATH}/${app.fileName}`, secondFileUrl: `${SITE_PATH}/${second.fileName}` };
}

/**
 * Changes two lines of the bundles. The first file imports the second with the query that `load` gets, which Vite drops. The second
 * takes the first file's exports from the running module (`appModule`, set by web/boot.ts), not from a URL, because a retry has
 * another URL and would start a second application (web/later-stages/load-later-stages.ts).
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
          (_, query = '', url = '') => `(${query}) => import(${url} + ${query})`,
        )
      : replace(
          /^import \{(.*?)\} from ["'][^"']+["'];/ms,
          (_, names = '') => `const {${names.replaceAll(' as ', ': ')}} = await appModule;`,
        );
  },
};

/** @param list a file in web/styles that imports the styles */
export async function bundleStyles(list: string): Promise<string> {
  const output = await bundle({
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

export async function bundleBootScript(): Promise<string> {
  const [boot] = await bundle({
    build: {
      write: false,
      rolldownOptions: { input: path.join(WEB, 'boot.ts'), output: { format: 'iife' } },
    },
  });
  const code = boot.code.trim();
  if (code.includes('</script'))
    throw new Error('The boot script contains </script>, which would close its element too early.');
  return code;
}

export type Prerenderer = { readonly prerender: (path: string) => Promise<string> };

export async function bundlePrerenderer(folder: string, variant: string | null): Promise<Prerenderer> {
  await bundle(
    {
      build: {
        ssr: path.join(WEB, 'entry-prerender.tsx'),
        outDir: folder,
        rolldownOptions: { output: { entryFileNames: 'prerender.js' } },
      },
    },
    variant,
  );
  return (await import(pathToFileURL(path.join(folder, 'prerender.js')).href)) as Prerenderer;
}

/**
 * Bundles a script of the page that is not part of the application.
 * @param entry its source in web/
 * @returns its URL
 */
export async function bundleScript(files: string, entry: string, entryFileNames: string): Promise<string> {
  const [{ fileName }] = await bundle({
    build: {
      outDir: files,
      rolldownOptions: {
        input: path.join(WEB, entry),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames },
      },
    },
  });
  return `${SITE_PATH}/${fileName}`;
}

export async function bundleDesk(folder: string): Promise<void> {
  const [boot] = await runVite(deskViteConfig, {
    build: {
      outDir: folder,
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
  await runVite(deskViteConfig, {
    plugins: [theme],
    build: {
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: {
        input: path.join(DESK_WEB, 'index.html'),
        output: { entryFileNames: 'assets/desk-[hash].js' },
      },
    },
  });
}

type Output = Rolldown.RolldownOutput['output'];

/** @param variant null for the campaign itself, and for files that are the same in every variant */
const bundle = (config: InlineConfig, variant: string | null = null): Promise<Output> =>
  runVite(
    viteConfigOf(variant),
    mergeConfig({ publicDir: false, build: { emptyOutDir: false, modulePreload: false } }, config),
  );

async function runVite(common: InlineConfig, config: InlineConfig): Promise<Output> {
  const result = await build(
    mergeConfig({ ...common, logLevel: 'warn', customLogger: strictLogger }, config),
  ).catch((error: BundlerError) => {
    throw withSystemCode(error);
  });
  if (Array.isArray(result) || !('output' in result))
    throw new Error('Vite did not return exactly one bundle.');
  return result.output;
}

type BundlerError = Error & {
  readonly errors?: readonly Readonly<Partial<Record<'pluginCode' | 'syscall' | 'dest', string>>>[];
};

/** Adds the code of the system error that caused the bundler's error, such as ENOSPC on a full disk. */
function withSystemCode(error: BundlerError): BundlerError {
  const { pluginCode, syscall = 'write', dest } = error.errors?.[0] ?? {};
  // The bundler's message names the file in its first line and the system's error number at its end.
  const [, file = dest, number] =
    /Failed to write file in (.+)[^]*\(os error (\d+)\)/.exec(error.message) ?? [];
  const code = number === undefined ? pluginCode : getSystemErrorName(-Number(number));
  return code === undefined ? error : Object.assign(error, { code, syscall, path: file });
}

/** Turns bundler warnings, such as a missing style, into errors. */
const strictLogger = createLogger('warn');
strictLogger.warn = (message) => {
  throw new Error(message);
};
