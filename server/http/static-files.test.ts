// The page and its files, to the letter of HTTP (RFC 9110).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import type { LightMyRequestResponse } from 'fastify';

import { TEST_CAMPAIGN, TEST_DIST } from '#testing/built-site.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const FILM = '/media/film.mp4';
const film = readFileSync(path.join(TEST_CAMPAIGN, FILM));

type Get = (
  url: string,
  headers?: Readonly<Record<string, string>>,
  method?: 'GET' | 'HEAD' | 'POST',
) => Promise<LightMyRequestResponse>;

const withSite = (test: (get: Get, chunk: string, server: ServerUnderTest) => Promise<void>): Promise<void> =>
  withServer({ engine: 'sqlite', siteFolder: TEST_DIST }, async (server) => {
    const get: Get = (url, headers = {}, method = 'GET') => server.app.inject({ url, headers, method });
    const chunk = /data-app="([^"]+)"/.exec((await get('/')).body)?.[1] ?? '';
    await test(get, chunk, server);
  });

/** The bytes behind the encoding. */
function decode({ rawPayload, headers }: LightMyRequestResponse): Buffer {
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(rawPayload);
  return headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload;
}

describe('which encoding is sent', () => {
  it('is the one that Accept-Encoding asks for', () =>
    withSite(async (get, chunk) => {
      for (const [accepted, expected] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip', 'gzip'],
        ['GZIP', 'gzip'],
        ['*', 'br'],
        ['br;q=0.5, gzip', 'gzip'],
        ['br;q=0.5, gzip;q=0.4', 'br'],
        ['identity, br;q=0.5', undefined],
        ['br;q=0, gzip;q=0', undefined],
        ['br; q=0.000', undefined],
        ['br;q=0, *', 'gzip'],
        ['br;q=0, *;q=0.1', 'gzip'],
        ['identity;q=1, *;q=0', undefined],
        ['*;q=0', undefined],
        ['identity;q=0, br', 'br'],
        ['identity;q=0, *', 'br'],
        ['xbr, brotli, notgzip', undefined],
        ['', undefined],
        [',;=,"', undefined],
        // Nothing that we have is accepted: the plain bytes are better than a refusal.
        ['identity;q=0', undefined],
      ] as const) {
        for (const url of ['/', chunk, '/robots.txt', '/no/such/page']) {
          const response = await get(url, { 'accept-encoding': accepted });
          assert.equal(response.headers['content-encoding'], expected, `${url}, "${accepted}"`);
          assert.equal(response.headers.vary, 'accept-encoding', url);
          assert.deepEqual(decode(response), (await get(url)).rawPayload, `${url}, "${accepted}"`);
        }
      }
    }));

  it('is none for what was not compressed, and then the answer varies with nothing', () =>
    withSite(async (get) => {
      const response = await get(FILM, { 'accept-encoding': 'br, gzip' });
      assert.equal(response.headers['content-encoding'], undefined);
      assert.equal(response.headers.vary, undefined);
      assert.deepEqual(response.rawPayload, film);
    }));

  it('is not looked for in a header that no browser sends', () =>
    withSite(async (get) => {
      const response = await get('/', { 'accept-encoding': `${','.repeat(600)}br` });
      assert.equal(response.headers['content-encoding'], undefined);
    }));
});

describe('an entity tag', () => {
  it('is strong, and another one for each encoding', () =>
    withSite(async (get, chunk) => {
      for (const url of ['/', chunk]) {
        const tags = await Promise.all(
          ['br', 'gzip', 'identity'].map(
            async (encoding) => (await get(url, { 'accept-encoding': encoding })).headers.etag,
          ),
        );
        assert.equal(new Set(tags).size, 3, url);
        for (const tag of tags) assert.match(String(tag), /^"[\w-]{22}"$/);
      }
    }));

  it('that If-None-Match names is answered with 304 and the headers of a 200', () =>
    withSite(async (get, chunk) => {
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
          assert.equal(
            (await get(url, { ...accept, 'if-none-match': tags })).statusCode,
            200,
            `${url} ${tags}`,
          );
      }
    }));

  it('that If-Match does not name is answered with 412', () =>
    withSite(async (get) => {
      const etag = String((await get(FILM)).headers.etag);
      for (const tags of [etag, `"other", ${etag}`, '*'])
        assert.equal((await get(FILM, { 'if-match': tags, range: 'bytes=0-9' })).statusCode, 206, tags);
      for (const tags of ['"other"', `W/${etag}`]) {
        const response = await get(FILM, { 'if-match': tags, range: 'bytes=0-9' });
        assert.equal(response.statusCode, 412, tags);
        assert.equal(response.headers['x-error-code'], 'precondition-failed');
      }
    }));

  it('does not turn the 404 page into a 304', () =>
    withSite(async (get) => {
      const response = await get('/no/such/page', { 'if-none-match': '*', range: 'bytes=0-9' });
      assert.equal(response.statusCode, 404);
      assert.match(response.body, /404 Page Not Found/);
    }));
});

describe('a range', () => {
  it('is sent as it was asked for', () =>
    withSite(async (get) => {
      const last = film.length - 1;
      for (const [range, first, end] of [
        ['bytes=0-99', 0, 99],
        ['bytes=0-0', 0, 0],
        ['bytes=100-', 100, last],
        ['bytes=-100', film.length - 100, last],
        [`bytes=${last}-`, last, last],
        [`bytes=5-${'9'.repeat(30)}`, 5, last],
        // Longer than the file: all of it.
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
    }));

  it('that is none is ignored', () =>
    withSite(async (get) => {
      for (const range of [
        'bytes=',
        'bytes=-',
        'bytes=5-2',
        'bytes=a-b',
        'lines=0-9',
        '0-9',
        'bytes=0-1,5-6',
        '',
      ]) {
        const response = await get(FILM, { range });
        assert.equal(response.statusCode, 200, range);
        assert.equal(response.headers['content-range'], undefined);
        assert.equal(response.headers['accept-ranges'], 'bytes');
        assert.equal(response.rawPayload.length, film.length, range);
      }
    }));

  it('beyond the end is refused, and the refusal says where the end is', () =>
    withSite(async (get, chunk) => {
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
    }));

  it('of a compressed file is a range of the compressed bytes, and says so', () =>
    withSite(async (get, chunk) => {
      for (const url of ['/', chunk]) {
        for (const encoding of ['br', 'gzip']) {
          const accept = { 'accept-encoding': encoding };
          const whole = await get(url, accept);
          const half = Math.floor(whole.rawPayload.length / 2);
          const parts = await Promise.all(
            [`bytes=0-${half - 1}`, `bytes=${half}-`].map((range) => get(url, { ...accept, range })),
          );
          for (const part of parts) {
            assert.equal(part.statusCode, 206);
            assert.equal(part.headers['content-encoding'], encoding);
            assert.equal(part.headers.etag, whole.headers.etag);
            assert.equal(part.headers.vary, 'accept-encoding');
          }
          assert.deepEqual(Buffer.concat(parts.map(({ rawPayload }) => rawPayload)), whole.rawPayload);
          // Going on with another encoding begins again.
          const etag = String(whole.headers.etag);
          const mixed = await get(url, { 'if-range': etag, range: `bytes=${half}-` });
          assert.equal(mixed.statusCode, 200);
          assert.equal(mixed.headers['content-encoding'], undefined);
        }
      }
    }));

  it('is sent only if If-Range names what is there now', () =>
    withSite(async (get) => {
      const etag = String((await get(FILM)).headers.etag);
      const range = 'bytes=0-9';
      assert.equal((await get(FILM, { range, 'if-range': etag })).statusCode, 206);
      for (const validator of ['"other"', `W/${etag}`, 'Sat, 21 Nov 2026 12:00:00 GMT', '*'])
        assert.equal((await get(FILM, { range, 'if-range': validator })).statusCode, 200, validator);
    }));
});

it('HEAD answers what GET answers, without the bytes', () =>
  withSite(async (get, chunk) => {
    for (const url of ['/', '/site.webmanifest', chunk, FILM, '/no/such/page']) {
      for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip, br;q=0' }]) {
        const [whole, head] = [await get(url, headers), await get(url, headers, 'HEAD')];
        assert.equal(head.statusCode, whole.statusCode, url);
        assert.equal(head.rawPayload.length, 0);
        const own = new Set(['x-request-id', 'date']);
        const comparable = (response: LightMyRequestResponse) =>
          Object.entries(response.headers).filter(([name]) => !own.has(name));
        assert.deepEqual(
          Object.fromEntries(comparable(head)),
          Object.fromEntries(comparable(whole)),
          `${url} ${JSON.stringify(headers)}`,
        );
      }
      // Ranges are defined for GET alone.
      const ranged = await get(url, { range: 'bytes=0-9' }, 'HEAD');
      assert.notEqual(ranged.statusCode, 206, url);
    }
  }));

it('another method on the page or a file is answered with 405 and the methods there are', () =>
  withSite(async (get) => {
    for (const url of ['/', '/robots.txt', FILM]) {
      const response = await get(url, {}, 'POST');
      assert.equal(response.statusCode, 405, url);
      assert.equal(response.headers.allow, 'GET, HEAD');
    }
    assert.equal((await get('/no/such/page', {}, 'POST')).statusCode, 404);
  }));

it('hashed files are kept for a year, others for an hour, the page for no time, and each has its type', () =>
  withSite(async (get, chunk) => {
    for (const [url, type, cacheControl] of [
      ['/', 'text/html; charset=utf-8', 'no-cache'],
      [chunk, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
      ['/proof-of-work.js', 'text/javascript; charset=utf-8', 'public, max-age=3600'],
      ['/fonts/newsreader.woff2', 'font/woff2', 'public, max-age=3600'],
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
  }));
