import { readFileSync } from 'node:fs';
import path from 'node:path';

import mime from 'mime';
import { createServer, type Connect, type Plugin, type ViteDevServer } from 'vite';

import type { Api } from '#build/dev-api-process.ts';
import { createInbox } from '#build/dev-inbox.ts';
import { mistakesPage } from '#build/dev-mistakes-page.ts';
import type { Prerenderer } from '#build/vite-bundles.ts';
import { MODULE_FOLDER, readPageWords } from '#build/vite-campaign.ts';
import { CAMPAIGN_FOLDER, OPTIONAL_STYLES, PROJECT_FOLDER, viteConfig, WEB } from '#build/vite-config.ts';
import { campaignMistakes } from '#server/campaign/campaign.ts';
import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { relativeToCwd } from '#server/startup/service.ts';
import { colourStyles } from '#shared/colours.ts';
import { languageAttributes } from '#shared/words.ts';

const STATIC = path.join(WEB, 'landing') + path.sep;
const STYLES = ['critical.ts', ...OPTIONAL_STYLES, 'critical-not-found.ts'];
const CAMPAIGN = CAMPAIGN_FOLDER + path.sep;
const SERVER = ['server', 'shared'].map((room) => path.join(PROJECT_FOLDER, room) + path.sep);
/** Campaign files that the API does not read. */
const ONLY_FOR_THE_PAGE = /^(?:landing\.yaml$|media\/|icons\/)/;
/** Waits until the file is complete, because editors write it in several steps. */
const SETTLE_MS = 60;
/** Requests that are still open after this time are abandoned. */
const END_WITHIN_MS = 4_000;
const PARENT_CHECK_MS = 500;

export async function serve({ api, host, port }: { api: Api; host: string; port: number }): Promise<void> {
  const inbox = createInbox(api.mailFolder, CAMPAIGN_FOLDER);
  const server = await createServer({
    ...viteConfig,
    appType: 'custom',
    // If Vite finds a dependency late, it reloads the page and loses the form's input.
    optimizeDeps: { entries: ['entry-client.tsx'] },
    plugins: [...(viteConfig.plugins ?? []), awaitApi(api), inbox.plugin, servePage, serveMedia],
    css: { modules: { generateScopedName: '[name]_[local]' } },
    server: { host, port, strictPort: true, proxy: { '/api/': api.origin } },
  });
  await server.listen();
  onShutdown(async () => {
    await inbox.close();
    await Promise.all([api.stop(), server.close()]);
  });
  watch(server, api, inbox.wordsChanged);
  const mistakes = campaignMistakes(CAMPAIGN_FOLDER);
  if (mistakes.length === 0) await render(server, '/').catch(() => {});
  await api.ready();
  const origin = `http://${host}:${port}`;
  print(`  Page   ${origin}/`);
  print(`  Inbox  ${origin}/inbox   all sent e-mails, and a sample of each kind`);
  print(`  Words  ${relativeToCwd(CAMPAIGN_FOLDER)}/   save a file to update the page and e-mails`);
  for (const name of api.unused)
    print(
      `${name} is not used during development. No mail leaves this machine, and the data is in data/dev/.`,
    );
  printMistakesOrWarnings(mistakes);
  print(`Ready on ${origin}`);
}

const awaitApi = (api: Api): Plugin =>
  middleware('await-api', '/api/', (_request, _response, next) => void api.ready().then(() => next()));

const servePage: Plugin = {
  name: 'page',
  configureServer: (server) => () => {
    server.middlewares.use((request, response, next) => {
      const url = request.originalUrl ?? '/';
      Promise.resolve()
        .then(async () => {
          const mistakes = campaignMistakes(CAMPAIGN_FOLDER);
          if (mistakes.length > 0) {
            response.statusCode = 500;
            return mistakesPage(mistakes);
          }
          const markup = await render(server, URL.parse(url, 'http://localhost')?.pathname ?? '/');
          return server.transformIndexHtml(url, page(markup));
        })
        .then((html) => response.setHeader('content-type', 'text/html; charset=utf-8').end(html))
        .catch(next);
    });
  },
  // Reloads the page if a static part changes, because only the server renders those (web/frame/static-part.tsx).
  hotUpdate({ file }) {
    if (file.startsWith(CAMPAIGN)) return [];
    if (!file.startsWith(STATIC)) return undefined;
    if (this.environment.name !== 'client') return undefined;
    this.environment.hot.send({ type: 'full-reload' });
    return [];
  },
};

async function render(server: ViteDevServer, pathname: string): Promise<string> {
  const module = (await server.ssrLoadModule('/entry-prerender.tsx')) as Prerenderer;
  return module.prerender(pathname);
}

function page(markup: string): string {
  const { site } = readPageWords(CAMPAIGN_FOLDER);
  return `<!doctype html>
<html ${languageAttributes(site.language)} class="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Development</title>
<style>#root { visibility: hidden }</style>
<style>${site.colors ? colourStyles(site.colors).replace(/:root|\.dark/g, '$&$&') : ''}</style>
</head>
<body>
<div id="root">${markup}</div>
<script type="module">
import { start } from '/entry-client.tsx';
${STYLES.map((list) => `import '/styles/${list}';`).join('\n')}
document.querySelector('style').remove();
for (const [family, file] of [['Newsreader', 'newsreader'], ['Hanken Grotesk', 'hanken-grotesk']])
  document.fonts.add(
    new FontFace(family, \`url(/fonts/\${file}.woff2)\`, { display: 'swap', weight: '400 600' }),
  );
document.documentElement.className = localStorage.getItem('theme') === 'dark' ? 'dark' : 'light';
start();
</script>
</body>
</html>`;
}

const middleware = (name: string, route: string, handle: Connect.NextHandleFunction): Plugin => ({
  name,
  configureServer: (server) => void server.middlewares.use(route, handle),
});

const serveMedia = middleware('media', '/media', (request, response, next) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  try {
    const name = path.join('/', decodeURIComponent(pathname));
    const content = readFileSync(path.join(CAMPAIGN_FOLDER, 'media', name));
    response.setHeader('content-type', mime.getType(name) ?? 'application/octet-stream');
    // Safari plays a film only if it gets parts of it.
    const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const part = content.subarray(Number(from ?? 0), to === '' ? undefined : Number(to) + 1);
    if (from !== undefined && part.length > 0)
      response.writeHead(206, {
        'content-range': `bytes ${from}-${Number(from) + part.length - 1}/${content.length}`,
      });
    response.end(part.length > 0 ? part : content);
  } catch {
    next();
  }
});

function onShutdown(cleanUp: () => Promise<unknown>): void {
  let ending = false;
  const stop = () => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
    void cleanUp().finally(() => process.exit());
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Vite's own handler would cut off browsers that show the inbox.
    process.removeAllListeners(signal);
    process.on(signal, stop);
  }
  // Writing fails once the terminal is closed.
  process.stdout.on('error', stop);
  const parent = process.ppid;
  if (process.env['npm_lifecycle_event'] !== undefined)
    setInterval(() => {
      if (process.ppid !== parent) stop();
    }, PARENT_CHECK_MS).unref();
}

function watch(server: ViteDevServer, api: Api, onWords: () => void): void {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const applyChanges = () => {
    const files = [...changed];
    changed.clear();
    const words = files.filter((file) => file.startsWith(CAMPAIGN));
    const isApiAffected = files.some(isReadByApi);
    if (words.length > 0) {
      onWords();
      const areValid = printMistakesOrWarnings(campaignMistakes(CAMPAIGN_FOLDER));
      if (areValid) invalidateWords(server, words);
      server.environments.client.hot.send({ type: 'full-reload' });
      if (!areValid) return;
    }
    if (isApiAffected) api.restart();
  };
  server.watcher.add([CAMPAIGN_FOLDER, ...SERVER]);
  server.watcher.on('all', (_event, file) => {
    if (![CAMPAIGN, ...SERVER].some((folder) => file.startsWith(folder))) return;
    changed.add(file);
    clearTimeout(timer);
    timer = setTimeout(applyChanges, SETTLE_MS);
  });
}

function isReadByApi(file: string): boolean {
  if (SERVER.some((room) => file.startsWith(room))) return !file.endsWith('.test.ts');
  return !ONLY_FOR_THE_PAGE.test(path.relative(CAMPAIGN_FOLDER, file).replaceAll(path.sep, '/'));
}

function invalidateWords(server: ViteDevServer, files: readonly string[]): void {
  for (const { moduleGraph } of Object.values(server.environments))
    for (const file of files)
      for (const module of moduleGraph.getModulesByFile(
        path.join(MODULE_FOLDER, path.relative(CAMPAIGN_FOLDER, file)),
      ) ?? [])
        moduleGraph.invalidateModule(module);
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** @returns false if there are mistakes */
function printMistakesOrWarnings(mistakes: readonly string[]): boolean {
  if (mistakes.length > 0)
    print(`The words are not valid yet:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`);
  else for (const warning of campaignWarnings(CAMPAIGN_FOLDER)) print(`Warning: ${warning}`);
  return mistakes.length === 0;
}
