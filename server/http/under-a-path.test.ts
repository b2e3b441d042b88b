import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { it } from 'node:test';

import { distFolder, filesFolder, newestRelease } from '#server/http/releases.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { API } from '#shared/api.ts';
import { ensureBuilt } from '#testing/built-site.ts';
import { codeIn } from '#testing/inbox.ts';
import { campaignUnderPath } from '#testing/other-campaigns.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { valuesOf } from '#testing/values-of.ts';

const PAGE = 'https://example.com/guide';
const CAMPAIGN = campaignUnderPath();
ensureBuilt(CAMPAIGN, PAGE);
const DIST = distFolder(PROJECT_FOLDER, CAMPAIGN);
const UNDER_A_PATH = { engine: 'sqlite', siteFolder: DIST, env: { PUBLIC_URL: PAGE } } as const;
const release = newestRelease(DIST);
assert.ok(release);
const NAMES = [
  'api',
  ...readdirSync(filesFolder(DIST, release.name)),
  ...readdirSync(`${release.folder}/pages`),
].filter((name) => !/\.(?:br|gz|html)$/.test(name));
/** A URL on the site without its path. In scripts, the path may be a variable, as in `${path}/media/`. */
const WITHOUT_PATH = new RegExp(
  `(?<!/guide|[\\w.}])/(?:${NAMES.filter((name) => name !== 'api').join('|')})(?![\\w.-])`,
  'g',
);

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

it('a page under a path serves everything there, and every URL in it has the path', () =>
  withServer(UNDER_A_PATH, async ({ app }) => {
    const get = (url: string) => app.inject({ url, headers: { 'accept-encoding': 'identity' } });
    const page = await get('/guide/');
    assert.equal(page.statusCode, 200);
    assert.match(page.body, /<link rel="canonical" href="https:\/\/example\.com\/guide\/">/);
    assert.match(page.body, /"url":"https:\/\/example\.com\/guide\/"/);
    const missing = await get('/guide/nothing/here');
    assert.equal(missing.statusCode, 404);
    assert.match(missing.body, /404 Page Not Found/);
    const manifest = await get('/guide/site.webmanifest');
    assert.equal((JSON.parse(manifest.body) as { start_url: string }).start_url, '/guide/');
    const [chunk = ''] = /(?<=data-app=")[^"]+/.exec(page.body) ?? [];
    const [second = ''] = /(?<=data-later=")[^"]+/.exec(page.body) ?? [];
    const scripts = await Promise.all([chunk, second].map(get));
    for (const { statusCode, body } of [page, missing, manifest, ...scripts]) {
      assert.ok(statusCode === 200 || statusCode === 404);
      assert.deepEqual(body.match(WITHOUT_PATH), null);
    }
    for (const { body, headers } of [page, missing]) {
      const policy = String(headers['content-security-policy']);
      for (const element of [/^<style>(.*?)<\/style>/ms, /<script [^>]*data-app[^>]*>(.*?)<\/script>/s])
        assert.ok(policy.includes(sha256(element.exec(body)?.[1] ?? '')), String(element));
    }
    for (const address of page.body.matchAll(/(?:src|href|data-app|data-later)="(\/[^"]+)"/g))
      assert.equal((await get(address[1] ?? '')).statusCode, 200, address[1]);
  }));

it('a page under a path serves only probes outside it and redirects the bare path', () =>
  withServer(UNDER_A_PATH, async ({ app, logLines, listen }) => {
    const { origin } = await listen();
    for (const url of ['/guidebook', '/guidebook/', '/nothing', '/guide/guide/', '//guide/', '/GUIDE/']) {
      assert.equal((await app.inject(url)).statusCode, 404, url);
      assert.equal((await fetch(origin + url)).status, 404, url);
    }
    assert.deepEqual(
      logLines.filter((line) => line.includes('without /guide')),
      [],
    );
    for (const url of ['/', '/fonts/newsreader.woff2', API.article, API.unsubscribe])
      assert.equal((await fetch(origin + url)).status, 404, url);
    const [warning, ...more] = logLines.filter((line) => line.includes('without /guide'));
    assert.match(warning ?? '', /"level":40.*Make the proxy forward/);
    assert.deepEqual(more, []);
    for (const path of ['', '/guide'])
      for (const probe of [API.live, API.health, `${API.health}?from=balancer`])
        assert.equal((await fetch(origin + path + probe)).status, 200, path + probe);
    for (const [from, to] of [
      ['/guide', '/guide/'],
      ['/guide?utm_source=mail', '/guide/?utm_source=mail'],
    ] as const) {
      const answer = await fetch(origin + from, { redirect: 'manual' });
      assert.deepEqual([answer.status, answer.headers.get('location')], [308, to]);
    }
    assert.equal((await app.inject({ method: 'POST', url: '/guide' })).statusCode, 404);
    assert.equal((await app.inject({ method: 'POST', url: '/guide/' })).statusCode, 405);
  }));

it('a page under a path limits its cookies to the path and accepts forms only from its host', () =>
  withServer(UNDER_A_PATH, async (server) => {
    const email = 'ada@example.com';
    const headers = { origin: 'https://example.com' };
    const visitor = createVisitor(server);
    const asked = await visitor.post(`/guide${API.leads}`, filledForm({ email }), { headers });
    assert.equal(asked.statusCode, 202, asked.body);
    const code = codeIn(await server.inbox.waitForMail(email));
    const entered = await visitor.post(`/guide${API.verify}`, { email, code }, { headers });
    assert.equal(entered.statusCode, 200, entered.body);
    const cookies = [...asked.cookies, ...entered.cookies];
    assert.deepEqual(valuesOf(cookies, 'name'), ['__Secure-challenge', '__Secure-session']);
    for (const cookie of cookies)
      assert.partialDeepStrictEqual(cookie, {
        path: '/guide',
        httpOnly: true,
        secure: true,
        sameSite: 'Lax',
      });
    assert.equal((await visitor.get(`/guide${API.article}`)).statusCode, 200);
    assert.ok(server.logLines.some((line) => line.includes('"route":"/api/leads"')));
    assert.match((await server.metrics.render()).body, /route="\/api\/verify"/);
    const foreign = await createVisitor(server).post(`/guide${API.leads}`, filledForm(), {
      headers: { origin: 'https://evil.example' },
    });
    assert.equal(foreign.headers['x-error-code'], 'wrong-origin');
  }));
