import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, type OutgoingHttpHeaders } from 'node:http';
import path from 'node:path';
import { after, it } from 'node:test';

import { API } from '#shared/api.ts';
import { TEST_CAMPAIGN, TEST_DIST } from '#testing/built-site.ts';
import { decodedBody } from '#testing/decoded-body.ts';
import { rawRequest } from '#testing/raw-request.ts';
import { sharedServer, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const FILM = '/media/film.mp4';
const film = readFileSync(path.join(TEST_CAMPAIGN, FILM));

const agent = new Agent({ keepAlive: true });

async function overConnection({ listen }: ServerUnderTest) {
  const { port } = await listen();
  return (url: string, headers: OutgoingHttpHeaders = {}, method = 'GET') =>
    rawRequest({ port, path: url, headers, method, agent });
}

const SITE = {
  engine: 'sqlite',
  siteFolder: TEST_DIST,
  env: { PUBLIC_URL: 'https://example.com' },
} as const;
const server = await sharedServer(SITE);
const get = await overConnection(server);
const chunk = /data-app="([^"]+)"/.exec((await get('/')).body)?.[1] ?? '';
// Tests of other files run first, perhaps for longer than the server keeps an idle connection.
agent.destroy();
after(() => agent.destroy());

it('the encoding of a file follows Accept-Encoding', async () => {
  for (const [accepted, expected] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['identity;q=0, *', 'br'],
    ['*;q=0', undefined],
    ['', undefined],
    [',;=,"', undefined],
    [`${','.repeat(600)}br`, undefined],
  ] as const) {
    for (const url of ['/', chunk, '/robots.txt', '/no/such/page']) {
      const response = await get(url, { 'accept-encoding': accepted });
      assert.equal(response.headers['content-encoding'], expected, `${url}, "${accepted}"`);
      assert.equal(response.headers.vary, 'accept-encoding', url);
      assert.deepEqual(decodedBody(response), (await get(url)).rawPayload, `${url}, "${accepted}"`);
    }
  }
});

it('a file that is never compressed is sent unencoded and without Vary', async () => {
  const response = await get(FILM, { 'accept-encoding': 'br, gzip' });
  assert.equal(response.headers['content-encoding'], undefined);
  assert.equal(response.headers.vary, undefined);
  assert.deepEqual(response.rawPayload, film);
});

it('a request with a matching If-None-Match gets 304 with the headers of a 200', async () => {
  for (const url of ['/', '/robots.txt', chunk, FILM]) {
    const accept = { 'accept-encoding': 'br' };
    const whole = await get(url, accept);
    const etag = String(whole.headers.etag);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, `W/"a,b" , W/${etag},`, '*']) {
      for (const method of ['GET', 'HEAD'] as const) {
        const response = await get(url, { ...accept, 'if-none-match': tags, range: 'bytes=0-9' }, method);
        assert.equal(response.statusCode, 304, `${method} ${url} ${tags}`);
        assert.equal(response.rawPayload.length, 0);
        for (const name of ['etag', 'cache-control', 'vary', 'content-security-policy'])
          assert.equal(response.headers[name], whole.headers[name], `${url} ${name}`);
      }
    }
    const other = String((await get(url, { 'accept-encoding': 'gzip' })).headers.etag);
    for (const tags of [
      '"other"',
      etag.slice(1, -1),
      `"x${etag.slice(1)}`,
      `"a ${etag.slice(1, -1)} b"`,
      ...(other === etag ? [] : [other]),
    ])
      assert.equal((await get(url, { ...accept, 'if-none-match': tags })).statusCode, 200, `${url} ${tags}`);
  }
});

it('a request for an unknown URL never gets 304', async () => {
  const response = await get('/no/such/page', { 'if-none-match': '*', range: 'bytes=0-9' });
  assert.equal(response.statusCode, 404);
  assert.match(response.body, /404 Page Not Found/);
});

it('a range request gets 206 with the requested bytes', async () => {
  const last = film.length - 1;
  for (const [range, first, end] of [
    ['bytes=0-99', 0, 99],
    ['bytes=0-0', 0, 0],
    ['bytes=100-', 100, last],
    ['bytes=-100', film.length - 100, last],
    [`bytes=${last}-`, last, last],
    [`bytes=5-${'9'.repeat(30)}`, 5, last],
    [`bytes=-${film.length + 1}`, 0, last],
    ['BYTES=7-8', 7, 8],
  ] as const) {
    const response = await get(FILM, { range });
    assert.equal(response.statusCode, 206, range);
    assert.equal(response.headers['content-range'], `bytes ${first}-${end}/${film.length}`);
    assert.equal(response.headers['content-length'], String(end - first + 1));
    assert.equal(response.headers['content-type'], 'video/mp4');
    assert.equal(response.headers['cache-control'], 'public, max-age=3600');
    assert.deepEqual(response.rawPayload, film.subarray(first, end + 1));
  }
});

it('an invalid range request gets the whole file', async () => {
  for (const range of [
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'bytes=a-b',
    'lines=0-9',
    '0-9',
    'bytes=0-1,5-6',
    `bytes=${Array.from({ length: 1_000 }, (_, index) => `${index}-`).join()}`,
    '',
  ]) {
    const response = await get(FILM, { range });
    assert.equal(response.statusCode, 200, range);
    assert.equal(response.headers['content-range'], undefined);
    assert.equal(response.headers['accept-ranges'], 'bytes');
    assert.equal(response.rawPayload.length, film.length, range);
  }
});

it('a range request beyond the end gets 416 with the length', async () => {
  for (const range of [`bytes=${film.length}-`, `bytes=${'9'.repeat(400)}-`, 'bytes=-0']) {
    const response = await get(FILM, { range });
    assert.equal(response.statusCode, 416, range);
    assert.equal(response.headers['content-range'], `bytes */${film.length}`, range);
    assert.equal(response.headers['x-error-code'], 'range-not-satisfiable');
    assert.equal(response.headers.etag, undefined);
  }
  const compressed = await get(chunk, { 'accept-encoding': 'br' });
  const refused = await get(chunk, { 'accept-encoding': 'br', range: 'bytes=99999999-' });
  assert.equal(refused.headers['content-range'], `bytes */${compressed.rawPayload.length}`);
  assert.equal(refused.headers.vary, 'accept-encoding');
});

it('a range request for a compressed file gets bytes of the same encoding', async () => {
  for (const encoding of ['br', 'gzip']) {
    const accept = { 'accept-encoding': encoding };
    const whole = await get(chunk, accept);
    const part = await get(chunk, { ...accept, range: 'bytes=10-' });
    assert.equal(part.statusCode, 206);
    assert.equal(part.headers['content-encoding'], encoding);
    assert.equal(part.headers.etag, whole.headers.etag);
    assert.equal(part.headers.vary, 'accept-encoding');
    assert.deepEqual(part.rawPayload, whole.rawPayload.subarray(10));
    const mixed = await get(chunk, { 'if-range': String(whole.headers.etag), range: 'bytes=10-' });
    assert.equal(mixed.statusCode, 200);
    assert.equal(mixed.headers['content-encoding'], undefined);
  }
});

it('a range request gets the whole file if If-Range does not match', async () => {
  const etag = String((await get(FILM)).headers.etag);
  const range = 'bytes=0-9';
  assert.equal((await get(FILM, { range, 'if-range': etag })).statusCode, 206);
  for (const validator of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 12:00:00 GMT', '*'])
    assert.equal((await get(FILM, { range, 'if-range': validator })).statusCode, 200, validator);
});

it('HEAD returns the headers of GET without the body', async () => {
  for (const url of ['/', '/site.webmanifest', chunk, FILM, '/no/such/page']) {
    for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip, br;q=0' }]) {
      const [whole, head] = [await get(url, headers), await get(url, headers, 'HEAD')];
      assert.equal(head.statusCode, whole.statusCode, url);
      assert.equal(head.rawPayload.length, 0);
      const own = { 'x-request-id': null, date: null };
      assert.deepEqual(
        { ...head.headers, ...own },
        { ...whole.headers, ...own },
        JSON.stringify([url, headers]),
      );
    }
    const ranged = await get(url, { range: 'bytes=0-9' }, 'HEAD');
    assert.notEqual(ranged.statusCode, 206, url);
  }
});

it('hashed files are cached for a year, others for an hour and the page not at all', async () => {
  for (const [url, type, cacheControl] of [
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    [chunk, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/proof-of-work.js', 'text/javascript; charset=utf-8', 'public, max-age=3600'],
    ['/fonts/newsreader.woff2', 'font/woff2', 'public, max-age=3600'],
    ['/fonts/hanken-grotesk.woff2', 'font/woff2', 'public, max-age=3600'],
    ['/fonts/OFL.txt', 'text/plain; charset=utf-8', 'public, max-age=3600'],
    ['/media/film.vtt', 'text/vtt; charset=utf-8', 'public, max-age=3600'],
    ['/media/film.webm', 'video/webm', 'public, max-age=3600'],
    ['/media/hero-640.avif', 'image/avif', 'public, max-age=3600'],
    ['/media/hero-640.webp', 'image/webp', 'public, max-age=3600'],
    ['/media/og.png', 'image/png', 'public, max-age=3600'],
    ['/favicon.svg', 'image/svg+xml', 'public, max-age=3600'],
    ['/favicon.ico', 'image/vnd.microsoft.icon', 'public, max-age=3600'],
  ] as const) {
    const { statusCode, headers } = await get(`${url}?2000`);
    assert.equal(statusCode, 200, url);
    assert.equal(headers['content-type'], type, url);
    assert.equal(headers['cache-control'], cacheControl, url);
  }
});

it('other sites may show the picture of link previews, and nothing else', async () => {
  for (const [url, policy] of [
    ['/media/og.png', 'cross-origin'],
    ['/media/hero-640.webp', 'same-origin'],
    ['/', 'same-origin'],
  ] as const)
    assert.equal((await get(url)).headers['cross-origin-resource-policy'], policy, url);
});

it('every response has the same security headers and a unique ID', async () => {
  const ids = new Set<unknown>();
  let asked = 0;
  const policies = new Map<string, unknown>();
  for (const url of ['/', chunk, '/robots.txt', FILM])
    for (const address of [url, `${url}?utm_source=x&a=%zz`])
      for (const [method, headers, status] of [
        ['GET', {}, 200],
        ['HEAD', {}, 200],
        ['GET', { range: 'bytes=1-5' }, 206],
        ['GET', { origin: 'https://elsewhere.example' }, 200],
        ['GET', { range: 'bytes=99999999-' }, 416],
        ['POST', {}, 405],
      ] as const) {
        const { statusCode, headers: sent } = await get(address, headers, method);
        const what = `${method} ${address} ${JSON.stringify(headers)}`;
        assert.equal(statusCode, status, what);
        assert.equal(sent['strict-transport-security'], 'max-age=31536000', what);
        assert.equal(sent['x-content-type-options'], 'nosniff', what);
        assert.match(String(sent['x-request-id']), /^[\da-f-]{36}$/, what);
        ids.add(sent['x-request-id']);
        asked += 1;
        if (statusCode === 405) assert.equal(sent.allow, 'GET, HEAD', what);
        if (status > 206) continue;
        policies.set(url, policies.get(url) ?? sent['content-security-policy']);
        assert.equal(sent['content-security-policy'], policies.get(url), what);
      }
  assert.equal(ids.size, asked);
  assert.equal((await get(`/?${'x'.repeat(3_000)}`)).statusCode, 414);
});

it('another spelling of a URL serves the same file, while an unknown URL gets 404', async () => {
  for (const [url, status] of [
    ['/robots%2Etxt', 200],
    ['/robots%2etxt?x', 200],
    ['http://elsewhere.example/robots.txt', 200],
    ['http://elsewhere.example/', 200],
    ['/?', 200],
    ['//', 404],
    ['/.', 404],
    ['/%2F', 404],
    ['/constructor', 404],
    ['/media', 404],
    ['/media/', 404],
    ['/ROBOTS.TXT', 404],
    ['/offer-100%', 404],
    ['/%', 404],
    ['/%E0%A4%A', 404],
    ['/%C0%AF?x', 404],
  ] as const) {
    const { statusCode, body, headers } = await get(url);
    assert.equal(statusCode, status, url);
    if (status === 404) assert.match(body, /404 Page Not Found/, url);
    assert.ok(headers['content-security-policy'] && headers['x-request-id'], url);
  }
  for (const url of ['/api', '/api?x', '/api/no', '/api/100%', '/api/leads%']) {
    const { statusCode, headers } = await get(url);
    assert.equal(statusCode, 404, url);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8', url);
  }
});

it('served files are only counted, while refused and missing files are also logged', async () => {
  const counted = (labels: string) => server.metric(`lead_page_request_seconds_count{${labels}}`);
  const lines = server.logLines.length;
  const home = 'method="GET",route="/",status="200"';
  const before = await counted(home);
  const { headers } = await get('/?utm_source=x');
  await get('/', { 'if-none-match': String(headers.etag) });
  await get(chunk, {}, 'HEAD');
  await get(FILM, { range: 'bytes=0-9' });
  assert.equal(server.logLines.length, lines);
  await until(async () => (await counted(`method="GET",route="${FILM}",status="206"`)) > 0);
  assert.equal(await counted(home), before + 1);
  assert.ok((await counted('method="GET",route="/",status="304"')) > 0);
  assert.ok((await counted(`method="HEAD",route="${chunk}",status="200"`)) > 0);

  for (const [ask, route, status] of [
    [() => get('/no/such/page'), 'unknown', 404],
    [() => get('/', {}, 'POST'), '/', 405],
    [() => get(FILM, { range: 'bytes=99999999-' }), FILM, 416],
    [() => get(API.proofOfWork), API.proofOfWork, 200],
  ] as const) {
    const { headers: refused } = await ask();
    await until(() =>
      server.logLines.some((line) => {
        const entry = JSON.parse(line) as Record<string, unknown>;
        const isSame = entry['route'] === route && entry['status'] === status;
        return isSame && entry['reqId'] === refused['x-request-id'];
      }),
    );
  }
});

it('a stopping process sends Connection: close on kept-alive connections', () => {
  let isStopping = false;
  return withServer({ ...SITE, isStopping: () => isStopping }, async (stopping) => {
    const getThere = await overConnection(stopping);
    const told = () =>
      Promise.all(
        ['/', FILM, API.live].map(async (url) => (await getThere(url)).headers.connection === 'close'),
      );
    assert.deepEqual(await told(), [false, false, false]);
    isStopping = true;
    assert.deepEqual(await told(), [true, true, true]);
  });
});
