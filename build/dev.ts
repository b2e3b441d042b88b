// The development server: Vite with hot reloading in front, the API behind it, both restarted by what they watch.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import mime from 'mime';
import { createServer, type Plugin } from 'vite';

import { readPageWords } from '#build/vite-campaign.ts';
import { CAMPAIGN_FOLDER, PROJECT_FOLDER, viteConfig } from '#build/vite-config.ts';
import { colourStyles } from '#shared/colours.ts';

/** Where the words and the parts stand that are rendered before the browser sees them. */
const STATIC = [CAMPAIGN_FOLDER, path.join(PROJECT_FOLDER, 'web', 'landing')].map(
  (folder) => folder + path.sep,
);

const HOST = '127.0.0.1';
const PORT = Number(process.env['PORT'] ?? 5173);
const API_PORT = Number(process.env['API_PORT'] ?? 3001);

const { site } = readPageWords(CAMPAIGN_FOLDER);

/** What web/entry-prerender.tsx exports. */
type Prerenderer = { readonly prerender: (path: string) => Promise<string> };

/**
 * The page as a development server needs it: the same markup as in production, so that the same tree is rendered over it, and
 * the application at once.
 */
const page = (markup: string) => `<!doctype html>
<html lang="${site.language}" class="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Development</title>
<style>${site.colors ? colourStyles(site.colors).replace(/:root|\.dark/g, '$&$&') : ''}</style>
</head>
<body>
<div id="root">${markup}</div>
<script type="module">
import { start } from '/entry-client.tsx';
document.documentElement.className = localStorage.getItem('theme') === 'dark' ? 'dark' : 'light';
start();
</script>
</body>
</html>`;

const servePage: Plugin = {
  name: 'page',
  configureServer: (server) => () => {
    server.middlewares.use((request, response, next) => {
      const url = request.originalUrl ?? '/';
      server
        .ssrLoadModule('/entry-prerender.tsx')
        .then((module) =>
          (module as Prerenderer).prerender(URL.parse(url, 'http://localhost')?.pathname ?? '/'),
        )
        .then((markup) => server.transformIndexHtml(url, page(markup)))
        .then((html) => response.setHeader('content-type', 'text/html').end(html))
        .catch(next);
    });
  },
  // Static parts (web/landing/static-part.tsx) come with the page: a change of one needs the page anew.
  hotUpdate({ file }) {
    if (!STATIC.some((folder) => file.startsWith(folder))) return undefined;
    // Rendered again with the next request.
    if (this.environment.name !== 'client') return undefined;
    this.environment.hot.send({ type: 'full-reload' });
    return [];
  },
};

const serveMedia: Plugin = {
  name: 'media',
  configureServer: (server) => {
    server.middlewares.use('/media', (request, response, next) => {
      const name = path.basename(new URL(request.url ?? '/', 'http://localhost').pathname);
      try {
        const content = readFileSync(path.join(CAMPAIGN_FOLDER, 'media', name));
        response.setHeader('content-type', mime.getType(name) ?? 'application/octet-stream').end(content);
      } catch {
        next();
      }
    });
  },
};

const vite = await createServer({
  ...viteConfig,
  appType: 'custom',
  // A dependency that is found late makes the page load anew, and takes what was typed with it.
  optimizeDeps: { entries: ['entry-client.tsx'] },
  plugins: [...(viteConfig.plugins ?? []), servePage, serveMedia],
  // Class names that say where they come from.
  css: { modules: { generateScopedName: '[name]_[local]' } },
  server: { host: HOST, port: PORT, strictPort: true, proxy: { '/api/': `http://${HOST}:${API_PORT}` } },
});
await vite.listen();
vite.printUrls();

// Once the page has its port: a start that is refused leaves nothing behind.
const api = spawn(
  process.execPath,
  ['--watch', path.join(PROJECT_FOLDER, 'server', 'main.ts'), '--api-only'],
  {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, PORT: String(API_PORT), PUBLIC_URL: `http://${HOST}:${PORT}` },
    stdio: 'inherit',
  },
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    api.kill();
    void vite.close();
  });
}
