import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, mock } from 'node:test';

import { CallError } from '#desk/web/ask.ts';
import { saveExport, type Progress, rowCounter } from '#desk/web/leads/save-export.ts';

const CSV = { 'content-type': 'text/csv; charset=utf-8', 'x-people-at-most': '5' };

/** Uses a real server and fetch, but no browser to receive a file. */
async function exportFrom(
  answer: RequestListener,
  signal = new AbortController().signal,
  onProgress: (progress: Progress) => void = () => {},
): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const realFetch = fetch;
  Object.assign(globalThis, { location: new URL('https://desk.example.com/') });
  mock.method(globalThis, 'fetch', (path: string, init: RequestInit) =>
    realFetch(`http://127.0.0.1:${port}${path}`, init),
  );
  try {
    return await saveExport('csv', { state: 'verified', source: 'newsletter' }, signal, onProgress);
  } finally {
    mock.reset();
    server.closeAllConnections();
    server.close();
  }
}

describe('an export in the browser', () => {
  it('an interrupted export is an error, without a partial file', async () => {
    const seen: Progress[] = [];
    let asked: string | undefined;
    await assert.rejects(
      exportFrom(
        (request, response) => {
          asked = request.url;
          response.writeHead(200, CSV);
          response.write('email\na@example.com\nb@example.com\n', () =>
            setTimeout(() => response.destroy(), 50),
          );
        },
        undefined,
        (progress) => seen.push(progress),
      ),
      (error: unknown) =>
        error instanceof CallError && error.message.startsWith('The response arrived incomplete.'),
    );
    assert.equal(asked, '/api/export?format=csv&state=verified&source=newsletter');
    assert.deepEqual(seen.at(-1), { people: 2, atMost: 5 });
  });

  it("a refused export fails with the server's sentence", async () => {
    await assert.rejects(
      exportFrom((_, response) => {
        response.writeHead(403, { 'content-type': 'text/plain', 'x-error-code': 'may-not' });
        response.end('Your role only allows viewing.');
      }),
      { message: 'Your role only allows viewing.', code: 'may-not' },
    );
  });

  it('an export that the reader stops ends with the reason, and the server notices', async () => {
    const stop = new AbortController();
    let gone = (): void => {};
    const left = new Promise<void>((resolve) => {
      gone = resolve;
    });
    await assert.rejects(
      exportFrom(
        (_, response) => {
          response.once('close', gone);
          response.writeHead(200, CSV);
          response.write('email\na@example.com\n');
        },
        stop.signal,
        () => stop.abort(new Error('stopped by hand')),
      ),
      /stopped by hand/,
    );
    await left;
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);
const count = (isCsv: boolean, ...chunks: readonly string[]) => {
  const counter = rowCounter(isCsv);
  return chunks.map((chunk) => counter(bytes(chunk)));
};

describe('counting people in a downloading file', () => {
  it('counts the same number of people wherever a chunk is cut', () => {
    assert.deepEqual(count(true, 'email,na', 'me\r\na@example.com,A\r', '\nb@example.com,B\r\n'), [0, 0, 2]);
  });

  it('counting people ignores a line break within quotes', () => {
    assert.deepEqual(count(true, 'email,answer\n', 'a@example.com,"one\ntw', 'o ""three""\n"\n'), [0, 0, 1]);
  });

  it('counting people expects no heading and no CSV quotes in JSON Lines', () => {
    assert.deepEqual(count(false, '{"a":"\\""}\n{"b":1}\n'), [2]);
  });
});
