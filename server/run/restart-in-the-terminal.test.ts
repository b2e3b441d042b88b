// What `npm run restart` tells the person who typed it, and what a monitor sees of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { restartPage, startPage, writeSettings } from '#testing/running-page.ts';
import { until } from '#testing/until.ts';

const RESTARTED = 'The page was restarted; its port stayed open all the while.\n';
const RESTARTS = 3;
/** Monitors that ask at the same time, of each kind. */
const MONITORS = 2;

/** Asks again and again until it is stopped; the answers that were not 200. */
function keepAsking(address: string, headers: Record<string, string>) {
  let isOver = false;
  let asked = 0;
  const failed: string[] = [];
  const ask = async () => {
    while (!isOver) {
      asked += 1;
      try {
        const response = await fetch(address, { headers });
        const body = await response.text();
        if (response.status !== 200) failed.push(`${address}: ${response.status} ${body}`);
      } catch (error) {
        failed.push(`${address}: ${String(error instanceof Error ? error.cause : error)}`);
      }
    }
  };
  const asking = Promise.all(Array.from({ length: MONITORS }, ask));
  return {
    failed,
    stop: async (): Promise<number> => {
      isOver = true;
      await asking;
      return asked;
    },
  };
}

describe('a restart in place', { concurrency: true }, () => {
  it('is seen by no monitor: health is 200 all the while, on the port of the page and on that of the metrics', () =>
    inFolder(async (folder) => {
      const metricsPort = await freePort();
      const page = await startPage(folder, { METRICS_PORT: String(metricsPort) });
      const monitors = [page.port, metricsPort].flatMap((port) =>
        [{}, { connection: 'close' }].map((headers) =>
          keepAsking(`http://127.0.0.1:${port}${API.health}`, headers),
        ),
      );
      try {
        for (let count = 0; count < RESTARTS; count += 1)
          assert.deepEqual(await restartPage(folder), { code: 0, said: RESTARTED });
        for (const monitor of monitors) {
          assert.ok((await monitor.stop()) > 0);
          assert.deepEqual(monitor.failed, []);
        }
        assert.equal(page.workers().length, RESTARTS + 1);
      } finally {
        await Promise.all(monitors.map((monitor) => monitor.stop()));
        assert.equal(await page.stop('SIGTERM'), 0);
      }
    }));

  it('is another thing than an end: then health is 503 on connections that are kept, and no new ones are taken', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const health = async () => {
        const request = get(`${page.url}${API.health}`, { agent });
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        return { status: response.statusCode, body: await text(response) };
      };
      assert.equal((await health()).status, 200);
      page.child.kill('SIGTERM');
      await until(() => page.output().includes('"msg":"Stopping."'));
      assert.deepEqual(await health(), { status: 503, body: 'This process is stopping.' });
      await assert.rejects(health(), { code: 'ECONNREFUSED' });
      assert.equal(await page.stop('SIGTERM'), 0);
    }));

  it('moves the page to another path and back to the root, without another build', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder, { PUBLIC_URL: 'http://example.com/guide' });
      try {
        const origin = `http://127.0.0.1:${page.port}`;
        assert.equal(page.url, `${origin}/guide`);
        const home = async (path: string) => {
          const answer = await fetch(origin + path);
          return [answer.status, /rel="canonical" href="([^"]+)"/.exec(await answer.text())?.[1]];
        };
        assert.deepEqual(await home('/guide/'), [200, 'http://example.com/guide/']);
        for (const [path, publicUrl] of [
          ['/en/guide/', 'http://example.com/en/guide'],
          ['/', 'http://example.com'],
        ] as const) {
          writeSettings(folder, { PUBLIC_URL: publicUrl });
          assert.deepEqual(await restartPage(folder), { code: 0, said: RESTARTED });
          assert.deepEqual(await home(path), [200, `http://example.com${path}`]);
          assert.deepEqual(await home('/guide/'), [404, undefined]);
        }
      } finally {
        assert.equal(await page.stop('SIGTERM'), 0);
      }
    }));

  it('shows what the new process warns of, the mail account included', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      try {
        const port = await freePort();
        writeSettings(folder, {
          SMTP_URL: `smtp://127.0.0.1:${port}`,
          PUBLIC_URL: 'http://guide.example.com',
        });
        assert.deepEqual(await restartPage(folder), {
          code: 0,
          said: `${RESTARTED}Warning: The mail server 127.0.0.1:${port} cannot be used (ECONNREFUSED): check host and port in SMTP_URL. Mail waits in the outbox and is tried again.\n`,
        });
      } finally {
        assert.equal(await page.stop('SIGTERM'), 0);
      }
    }));

  it('does not wait for long for a mail server that says nothing', () =>
    inFolder(async (folder) => {
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const page = await startPage(folder);
      try {
        writeSettings(folder, { SMTP_URL: `smtp://127.0.0.1:${port}` });
        const { code, said } = await restartPage(folder);
        assert.equal(code, 0);
        assert.match(
          said,
          new RegExp(
            `^${RESTARTED}Warning: The mail (?:server 127\\.0\\.0\\.1:${port} cannot be used \\(ETIMEDOUT\\): .*|account has not answered yet; the log will say whether it can be used\\.)\\n$`,
          ),
        );
      } finally {
        silent.close();
        await page.stop('SIGTERM');
      }
    }));
});
