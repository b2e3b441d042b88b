import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { it } from 'node:test';

import { environment } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { listening } from '#testing/listening.ts';
import { onPostgres, startPostgres } from '#testing/postgres-server.ts';
import { until } from '#testing/until.ts';

async function canConnect(url: string): Promise<boolean> {
  return onPostgres(url, async () => true).catch(() => false);
}

it('PostgreSQL starts on another port if its port is in use', () =>
  inFolder(async (folder) => {
    // PostgreSQL runs as another user.
    chmodSync(folder, 0o755);
    await using taken = await listening(createServer());
    const ports = [taken.port];
    using _environment = environment({ ...process.env, TMPDIR: folder });
    const server = await startPostgres({ choosePort: async () => ports.shift() ?? freePort() });
    try {
      assert.equal(ports.length, 0);
      assert.equal(await canConnect(server.url), true);
      assert.equal(readdirSync(folder).length, 1);
    } finally {
      await server.stop();
    }
    assert.deepEqual(readdirSync(folder), []);
  }));

it('the PostgreSQL of a killed process stops, and its folder is removed', () =>
  inFolder(async (folder) => {
    chmodSync(folder, 0o755);
    const script = `
      const { startPostgres } = await import(${JSON.stringify(path.resolve(import.meta.dirname, 'postgres-server.ts'))});
      process.stdout.write((await startPostgres()).url);
      setInterval(() => {}, 1_000_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(await canConnect(url.toString()), true);
    child.kill('SIGKILL');
    await until(() => readdirSync(folder).length === 0);
    assert.equal(await canConnect(url.toString()), false);
  }));
