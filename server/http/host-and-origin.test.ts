import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';

import { TEST_DIST } from '#testing/built-site.ts';
import { sharedServer, withServer } from '#testing/server-under-test.ts';

async function ask(ofServer: string, lines: readonly string[]): Promise<string> {
  const socket = connect(Number(ofServer), '127.0.0.1');
  await once(socket, 'connect');
  socket.end([...lines, 'Connection: close', '', ''].join('\r\n'));
  return text(socket);
}

const REFUSED =
  /^HTTP\/1\.1 400 [^]*\r\nx-error-code: malformed-body\r\n[^]*\r\n\r\n[A-Z][^<>]+Host[^<>]+\.$/;

const server = await sharedServer({ engine: 'sqlite', siteFolder: TEST_DIST });
const { port } = await server.listen();

it('a request with several hosts, no host or an invalid host gets 400 on every path', async () => {
  for (const first of [
    'GET / HTTP/1.1',
    'GET /api/live HTTP/1.1',
    'GET /nowhere HTTP/1.1',
    'POST /api/leads HTTP/1.1',
  ]) {
    for (const hosts of [
      ['Host: a.example', 'Host: b.example'],
      ['Host: a.example', 'hOST: a.example'],
      ['Host: a.example', 'Host:'],
      [],
      ['Host: a.example, b.example'],
      ['Host: a b'],
      ['Host: a.example/path'],
      ['Host: user@a.example'],
      ['Host: a.example:80x'],
    ])
      assert.match(await ask(port, [first, ...hosts]), REFUSED, `${first} ${hosts.join()}`);
  }
  for (const host of [
    'a.example',
    'A.EXAMPLE:8080',
    '127.0.0.1:3000',
    '[::1]:3000',
    'xn--bcher-kva.example',
    'a_b',
    '',
  ])
    assert.match(await ask(port, ['GET / HTTP/1.1', `Host: ${host}`]), /^HTTP\/1\.1 200 /, host);
  assert.match(await ask(port, ['GET / HTTP/1.0']), /^HTTP\/1\.1 200 /);
  assert.match(await ask(port, ['GET / HTTP/1.0', 'Host: a', 'Host: b']), REFUSED);
});

it('a request with an absolute URL gets the response of its path', async () => {
  for (const [url, status, type] of [
    ['http://a.example', 200, 'text/html'],
    ['http://a.example?utm_source=x', 200, 'text/html'],
    ['HTTPS://A.EXAMPLE:443/robots.txt', 200, 'text/plain'],
    ['http://a.example/api/live', 200, 'application/json'],
    ['http://a.example/api/nowhere', 404, 'text/plain'],
    ['http://a.example/nowhere', 404, 'text/html'],
  ] as const)
    assert.match(
      await ask(port, [`GET ${url} HTTP/1.1`, 'Host: a.example']),
      new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\ncontent-type: ${type}`),
      url,
    );
});

it('a page opened under another name of its host redirects to PUBLIC_URL', () =>
  withServer(
    {
      engine: 'sqlite',
      siteFolder: TEST_DIST,
      env: { PUBLIC_URL: 'https://guide.example.com/free', TRUST_PROXY: '1' },
    },
    async (elsewhere) => {
      const { port: otherPort } = await elsewhere.listen();
      for (const [request, host, location] of [
        ['GET /free/', 'www.guide.example.com', '/free/'],
        ['GET /free/?utm_source=x', 'Guide.Example.com.', '/free/?utm_source=x'],
        ['HEAD /free/', 'www.guide.example.com.', '/free/'],
        ['GET http://www.guide.example.com/free/', 'www.guide.example.com', '/free/'],
        ['GET /free/', 'guide.example.com', null],
        ['GET http://guide.example.com/free/api/live', 'guide.example.com', null],
        ['GET /free/', '127.0.0.1:3000', null],
        ['GET /free/', '192.0.2.1', null],
        ['GET /free/', 'lead-page:3000', null],
        ['GET /free/', 'origin.guide.example.com', null],
        ['GET /free/robots.txt', 'www.guide.example.com', null],
        ['GET /free/api/live', 'www.guide.example.com', null],
        ['GET /api/health', 'www.guide.example.com', null],
      ] as const) {
        const answer = await ask(otherPort, [`${request} HTTP/1.1`, `Host: ${host}`]);
        if (location === null) assert.match(answer, /^HTTP\/1\.1 200 /, `${request} ${host}`);
        else {
          assert.match(answer, /^HTTP\/1\.1 308 /, `${request} ${host}`);
          assert.match(
            answer,
            new RegExp(`^location: https://guide\\.example\\.com${location.replace('?', '\\?')}\r$`, 'm'),
          );
        }
      }
    },
  ));

it('a visitor with more than 30 kB of cookies gets advice to clear them', async () => {
  const open = (kilobytes: number) =>
    ask(port, ['GET / HTTP/1.1', 'Host: a.example', `Cookie: a=${'x'.repeat(kilobytes * 1024)}`]);
  assert.match(await open(30), /^HTTP\/1\.1 200 /);
  assert.match(
    await open(33),
    /^HTTP\/1\.1 431 [^]*\r\n\r\n[A-Z][^<>]*Please clear the cookies of this site/,
  );
});
