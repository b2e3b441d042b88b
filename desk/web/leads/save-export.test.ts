import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, mock } from 'node:test';

import { HEAD_ROWS_HEADER } from '#desk/endpoints/people.ts';
import { CallError } from '#desk/web/ask.ts';
import { saveExport, type Progress } from '#desk/web/leads/save-export.ts';

const CSV = { 'content-type': 'text/csv; charset=utf-8', 'x-people-at-most': '5' };

/** Exports with a real server and fetch, but without a browser to receive the file. */
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

describe('exports in the browser', () => {
  it('an interrupted export fails, leaves no partial file, and has counted people without headings', async () => {
    for (const [headRows, head] of [
      ['1', 'email\n'],
      ['2', 'Parameters:TimeZone=+0000\nemail\n'],
    ] as const) {
      const seen: Progress[] = [];
      let asked: string | undefined;
      await assert.rejects(
        exportFrom(
          (request, response) => {
            asked = request.url;
            response.writeHead(200, { ...CSV, [HEAD_ROWS_HEADER]: headRows });
            response.write(`${head}a@example.com\nb@example.com\n`, () =>
              setTimeout(() => response.destroy(), 50),
            );
          },
          undefined,
          (progress) => seen.push(progress),
        ),
        (error: unknown) =>
          error instanceof CallError && error.message.startsWith('The response was incomplete.'),
      );
      assert.equal(asked, '/api/export?format=csv&state=verified&source=newsletter');
      assert.deepEqual(seen.at(-1), { people: 2, atMost: 5 });
    }
  });

  it("a refused export shows the server's sentence", async () => {
    await assert.rejects(
      exportFrom((_, response) => {
        response.writeHead(403, { 'content-type': 'text/plain', 'x-error-code': 'may-not' });
        response.end('Your role only allows viewing.');
      }),
      { message: 'Your role only allows viewing.', code: 'may-not' },
    );
  });

  it('stopping an export in the browser also stops it on the server', async () => {
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
