import assert from 'node:assert/strict';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import path from 'node:path';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { rawRequest } from '#testing/raw-request.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';
import { spawnSite } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

/** Every write fails as on a full disk; exists only on Linux. */
const FULL_DISK = '/dev/full';
const noFullDisk = existsSync(FULL_DISK) ? false : `there is no ${FULL_DISK} here`;
const ANSWER_WITHIN_MS = 20_000;
const START_WITHIN_MS = 60_000;

type Server = {
  readonly child: ChildProcess;
  readonly get: (address: string, agent?: Agent) => Promise<number | undefined>;
};

async function start(
  folder: string,
  stdio: StdioOptions,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  const child = spawnSite({ PORT: String(port), APP_SECRET: TEST_SECRET, ...env }, folder, stdio);
  const get: Server['get'] = async (address, agent) => {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return (await rawRequest({ port, path: address, agent: agent ?? false, signal })).statusCode;
  };
  try {
    await until(
      () =>
        get('/').then(
          () => true,
          () => child.exitCode !== null,
        ),
      START_WITHIN_MS,
    );
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { child, get };
}

async function servesAndStops({ child, get }: Server, strangers: number): Promise<void> {
  const ended = once(child, 'exit');
  try {
    const agent = new Agent({ keepAlive: true });
    for (let count = 0; count < strangers; count += 1)
      assert.equal(await get(`/nothing-${count}`, agent), 404);
    agent.destroy();
    assert.deepEqual(
      await Promise.all(['/', API.live, API.health].map((address) => get(address))),
      [200, 200, 200],
    );
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
}

describe('unwritable log', { concurrency: true }, () => {
  it(
    'a server whose log disk is full exits with its code after an unhandled error',
    { skip: noFullDisk },
    () =>
      inFolder(async (folder) => {
        await using disk = await open(FULL_DISK, 'w');
        const fault = `process.on('SIGUSR2', () => { throw new Error('A fault.'); });`;
        const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` };
        const { child } = await start(folder, ['ignore', disk.fd, disk.fd], env);
        const ended = once(child, 'exit', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
        child.kill('SIGUSR2');
        assert.deepEqual(await ended, [1, null]);
      }),
  );

  it('a server whose log disk is full works and stops, even if its desk fails', { skip: noFullDisk }, () =>
    inFolder(async (folder) => {
      await using disk = await open(FULL_DISK, 'w');
      const deskPort = await freePort();
      const report = `
        import fs from 'node:fs';
        if (process.argv[1]?.endsWith('desk/serve.js')) {
          fs.writeSync(2, 'An error.');
          fs.appendFileSync(${JSON.stringify(path.join(folder, 'desk-starts'))}, '.');
          process.exit(1);
        }`;
      const env = {
        DESK_URL: `http://127.0.0.1:${deskPort}`,
        DESK_PORT: String(deskPort),
        DESK_PEOPLE: 'ada@example.com',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}`,
      };
      const server = await start(folder, ['ignore', disk.fd, disk.fd], env);
      const starts = () => readFile(path.join(folder, 'desk-starts'), 'utf8').catch(() => '');
      await until(
        async () => (await starts()).length >= 2 || server.child.exitCode !== null,
        START_WITHIN_MS,
      );
      await servesAndStops(server, 20);
    }),
  );

  it('a server whose log reader is stalled works and stops normally', () =>
    inFolder(async (folder) => {
      // Writes more lines than fit into the pipe and the log's buffer.
      await servesAndStops(await start(folder, ['ignore', 'pipe', 'inherit']), 1_000);
    }));
});
