// The process of `npm start`, which keeps the port, and `npm run restart`, which has another one serve from it.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { API } from '#shared/api.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';
import { filledForm, TEST_SECRET } from '#testing/server-under-test.ts';
import { restartPage, runningFileIn, runningIn, startPage, writeSettings } from '#testing/running-page.ts';
import { startSiteProcess } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';

const SETTINGS = { APP_SECRET: TEST_SECRET, MAIL_FROM: 'guide@example.com' };
/** A busy machine takes its time to start one process after the other. */
const PATIENCE_MS = 60_000;
const eventually = (holds: () => boolean | Promise<boolean>) => until(holds, PATIENCE_MS);

const PAUSE_MS = 25;

/** Asks for the page and its health again and again, on connections that are kept and on new ones; the answers that were none. */
function keepAsking(
  url: string,
): Disposable & { readonly stop: () => Promise<{ failed: string[]; asked: number }> } {
  let isOver = false;
  const failed: string[] = [];
  let asked = 0;
  const ask = async (address: string, headers: Record<string, string>) => {
    while (!isOver) {
      asked += 1;
      try {
        const response = await fetch(address, { headers });
        await response.arrayBuffer();
        if (response.status !== 200) failed.push(`${address}: ${response.status}`);
      } catch (error) {
        failed.push(`${address}: ${String(error instanceof Error ? error.cause : error)}`);
      }
      // As fast as they can, they would take the time from the process that starts.
      await setTimeout(PAUSE_MS);
    }
  };
  const asking = [{}, { connection: 'close' }].flatMap((headers) =>
    Array.from({ length: 4 }, () => ask(`${url}/`, headers)),
  );
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(asking);
      return { failed, asked };
    },
    [Symbol.dispose]: () => {
      isOver = true;
    },
  };
}

describe('a restart in place', { concurrency: 2 }, () => {
  it('refuses no request, takes new settings, and says so in one sentence', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder, { PUBLIC_URL: 'http://before.example.com' });
      try {
        using asking = keepAsking(site.url);
        writeSettings(folder, { PUBLIC_URL: 'http://after.example.com' });
        assert.deepEqual(await restartPage(folder), {
          code: 0,
          said: 'The page was restarted; its port stayed open all the while.\n',
        });
        const { failed, asked } = await asking.stop();
        assert.deepEqual(failed, []);
        assert.ok(asked > 0);
        assert.match(await (await fetch(`${site.url}/sitemap.xml`)).text(), /after\.example\.com/);
        assert.equal(new Set(site.workers()).size, 2);
        assert.match(site.output(), new RegExp(`"pid":${site.workers()[0]},.*"msg":"Stopped\\."`));
      } finally {
        assert.equal(await site.stop('SIGTERM'), 0);
      }
      assert.equal(existsSync(runningFileIn(folder)), false);
    }));

  it('leaves the process that serves where it is when the new one cannot start, and says why', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder, { PUBLIC_URL: 'http://before.example.com' });
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port: taken } = other.address() as AddressInfo;
      try {
        using asking = keepAsking(site.url);
        for (const [name, value, sentence] of [
          ['CODE_ATTEMPTS', 'many', 'CODE_ATTEMPTS must be a whole number from 0 to 1000'],
          [
            'METRICS_PORT',
            String(taken),
            `Port ${taken} is taken by another program. Stop that one, or set METRICS_PORT to another number.`,
          ],
        ] as const) {
          writeSettings(folder, { PUBLIC_URL: 'http://after.example.com', [name]: value });
          const { code, said } = await restartPage(folder);
          assert.equal(code, 1);
          assert.ok(
            said.startsWith(
              'The page was not restarted; what ran goes on serving. The new one says:\nThe server cannot start:\n  - ',
            ),
            said,
          );
          assert.ok(said.includes(sentence), said);
          assert.doesNotMatch(said, /running already/);
        }
        assert.deepEqual((await asking.stop()).failed, []);
        assert.match(await (await fetch(`${site.url}/sitemap.xml`)).text(), /before\.example\.com/);
      } finally {
        other.close();
        assert.equal(await site.stop('SIGINT'), 0);
      }
    }));

  it('while "npm ci" has taken Node itself away is refused, and the page goes on', () =>
    inFolder(async (folder) => {
      const node = path.join(folder, 'node');
      copyFileSync(process.execPath, node);
      const child = spawn(node, [path.join(PROJECT_FOLDER, 'server', 'primary.js')], {
        env: { ...SETTINGS, INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const ended = once(child, 'exit');
      try {
        const ready = /"msg":"Ready on ([^"]+)"/;
        await eventually(() => existsSync(runningFileIn(folder)) && ready.test(output));
        const [, url = ''] = ready.exec(output) ?? [];
        rmSync(node);
        assert.deepEqual(await restartPage(folder), {
          code: 1,
          said: `The page was not restarted; what ran goes on serving. The new one says:\n${node} cannot be run (ENOENT). Run "npm ci" in the folder of the project, and try again.\n`,
        });
        assert.equal((await fetch(url)).status, 200);
      } finally {
        child.kill('SIGINT');
      }
      assert.deepEqual(await ended, [0, null]);
    }));

  it('that is asked for twice at once is done for both, one after the other', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder);
      try {
        using asking = keepAsking(site.url);
        const { pid } = runningIn(folder);
        process.kill(pid, 'SIGHUP');
        await eventually(() => runningIn(folder).asked === 1);
        process.kill(pid, 'SIGHUP');
        await eventually(() => runningIn(folder).answered === 2);
        await eventually(() => new Set(site.workers()).size === 3);
        assert.deepEqual((await asking.stop()).failed, []);
      } finally {
        assert.equal(await site.stop('SIGINT'), 0);
      }
    }));

  it('takes another port when the settings name one', () =>
    inFolder(async (folder) => {
      const port = await freePort();
      const site = await startPage(folder);
      try {
        writeSettings(folder, { PORT: String(port) });
        assert.equal((await restartPage(folder)).code, 0);
        assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
        await assert.rejects(fetch(site.url));
      } finally {
        assert.equal(await site.stop('SIGINT'), 0);
      }
    }));

  it('is looked at before it is built: its own port is no complaint, a page that does not run is one', () =>
    inFolder(async (folder) => {
      const check = ['start.js', '--check', '--beside'];
      const site = await startPage(folder);
      try {
        writeSettings(folder, { PORT: String(site.port) });
        assert.deepEqual(await restartPage(folder, check), { code: 0, said: '' });
      } finally {
        // Killed: what it knew of itself stays behind.
        await site.stop('SIGKILL');
      }
      const file = runningFileIn(folder);
      assert.equal(existsSync(file), true);
      const sentence = `No page that "npm start" began is running (${file} knows of none). Use "npm start".`;
      assert.deepEqual(await restartPage(folder), { code: 1, said: `${sentence}\n` });
      await eventually(
        async () => (await restartPage(folder, check)).said === `The server cannot start:\n  - ${sentence}\n`,
      );
      const again = await startPage(folder);
      assert.equal((await restartPage(folder)).code, 0);
      assert.equal(await again.stop('SIGINT'), 0);
    }));
});

describe('the process that keeps the port', { concurrency: 2 }, () => {
  it('ends with the process that serves, and with its code', () =>
    inFolder(async (folder) => {
      for (const [signal, code] of [
        ['SIGKILL', 137],
        ['SIGTERM', 0],
      ] as const) {
        const site = await startPage(folder);
        const ended = once(site.child, 'exit');
        process.kill(site.workers()[0]!, signal);
        assert.deepEqual(await ended, [code, null]);
        assert.equal(existsSync(runningFileIn(folder)), false);
      }
    }));

  it('takes the process that serves along when it is killed itself', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder);
      await site.stop('SIGKILL');
      const { port } = site;
      await eventually(() =>
        fetch(`http://127.0.0.1:${port}/api/live`).then(
          () => false,
          () => true,
        ),
      );
    }));

  it('stops in order when a terminal sends Ctrl-C to every process, and npm once more', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder);
      const ended = once(site.child, 'exit');
      process.kill(site.workers()[0]!, 'SIGINT');
      site.child.kill('SIGINT');
      await eventually(() => site.output().includes('"msg":"Stopping."'));
      site.child.kill('SIGINT');
      assert.deepEqual(await ended, [0, null]);
      assert.match(site.output(), /"msg":"Stopped\."/);
    }));

  it('ends with everything when the terminal is closed', () =>
    inFolder(async (folder) => {
      const site = await startPage(folder);
      const ended = once(site.child, 'exit');
      // A terminal tells all of its processes.
      site.child.kill('SIGHUP');
      process.kill(site.workers()[0]!, 'SIGHUP');
      assert.deepEqual(await ended, [0, null]);
      await eventually(() =>
        fetch(site.url).then(
          () => false,
          () => true,
        ),
      );
    }));

  it('refuses to start with the sentences of the process that would serve, and its code', () =>
    inFolder(async (folder) => {
      const { code, said } = await new Promise<{ code: unknown; said: string }>((resolve) => {
        execFile(
          process.execPath,
          [path.join(PROJECT_FOLDER, 'server', 'primary.js')],
          { env: { INSTANCE_FOLDER: folder, CAMPAIGN_FOLDER: TEST_CAMPAIGN, PORT: 'http' } },
          (error, stdout, stderr) => resolve({ code: error?.code, said: stdout + stderr }),
        );
      });
      assert.equal(code, 1);
      assert.match(said, /^The server cannot start:\n {2}- PORT must be [^\n]+\n$/);
      assert.equal(existsSync(path.join(folder, 'data')), false);
    }));
});

describe('a socket that systemd hands over', { concurrency: 2 }, () => {
  /** What systemd does: it listens, never accepts, and hands the socket over as the fourth file, with a word on whom it is for. */
  const systemd = (file: string) => `
    const { spawnSync } = require('node:child_process');
    const socket = require('node:net').createServer().listen(0, '127.0.0.1', () => {
      const serve = 'echo "Process $$"; exec env LISTEN_FDS=1 LISTEN_PID=$$ "$0" "$1"';
      const command = ['-c', serve, process.execPath, ${JSON.stringify(file)}];
      // Nothing is accepted meanwhile: this one does nothing but wait.
      for (const _ of [1, 2]) spawnSync('/bin/sh', command, { stdio: ['ignore', 'inherit', 'inherit', socket._handle.fd] });
      process.exit();
    });`;

  for (const name of ['start.js', 'primary.js']) {
    it(`is served by ${name}, and a visitor who comes while none serves waits for the next`, () =>
      inFolder(async (folder) => {
        const file = path.join(PROJECT_FOLDER, 'server', name);
        const env = {
          ...SETTINGS,
          PATH: process.env['PATH'],
          INSTANCE_FOLDER: folder,
          CAMPAIGN_FOLDER: TEST_CAMPAIGN,
        };
        // Of two places the socket is the one that counts.
        const child = spawn(process.execPath, ['-e', systemd(file)], { env: { ...env, PORT: '1' } });
        let output = '';
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
        const urls = () => Array.from(output.matchAll(/"msg":"Ready on ([^"]+)"/g), ([, url = '']) => url);
        const processes = () => Array.from(output.matchAll(/^Process (\d+)$/gm), ([, pid]) => Number(pid));
        const stopNewest = () => process.kill(processes().at(-1) ?? child.pid ?? process.pid, 'SIGTERM');
        const ended = once(child, 'exit');
        await eventually(() => urls().length === 1 || child.exitCode !== null);
        const [url = ''] = urls();
        assert.notEqual(url, '', output);
        using asking = keepAsking(url);
        stopNewest();
        await eventually(() => urls().length === 2);
        assert.deepEqual((await asking.stop()).failed, []);
        assert.equal(urls()[1], url);
        stopNewest();
        await ended;
      }));
  }
});

it('nothing is loaded any more once the page serves, so that "npm ci" may put other packages into its place', async () => {
  const inbox = await startInbox();
  const receiver = await startReceiver();
  // Reports each module of ours and of packages as Node loads it.
  const tell = `import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) {
      if (!url.startsWith('node:')) process.stdout.write('Loaded ' + url + '\\n');
      return next(url, context);
    } });`;
  const env = {
    ...SETTINGS,
    SMTP_URL: inbox.url,
    GUIDE_EMAIL: 'link',
    WEBHOOK_URLS: receiver.url,
    WEBHOOK_ALLOW_PRIVATE: 'yes',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tell)}`,
  };
  try {
    await inFolder(async (folder) => {
      const site = await startSiteProcess(env, folder);
      const post = (address: string, body: object, cookie = '') =>
        fetch(`${site.url}${address}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie },
          body: JSON.stringify(body),
        });
      const cookieOf = (response: Response) =>
        response.headers
          .getSetCookie()
          .map((line) => line.split(';', 1)[0])
          .join('; ');
      try {
        const asked = await post(API.leads, filledForm());
        const code = codeIn(await inbox.waitForMail('ada@example.com'));
        const verified = await post(API.verify, { email: 'ada@example.com', code }, cookieOf(asked));
        assert.deepEqual([asked.status, verified.status], [202, 200]);
        const headers = { cookie: cookieOf(verified) };
        await eventually(async () => (await fetch(`${site.url}${API.article}`, { headers })).status === 200);
        await inbox.waitForMail('ada@example.com', 2);
        await eventually(() => receiver.received.length >= 1);
        assert.equal((await fetch(`${site.url}/nothing-here`)).status, 404);
      } finally {
        assert.equal(await site.stop('SIGTERM'), 0);
      }
      const [before = '', after = ''] = site.output().split(/^.*"msg":"Ready on .*$/m);
      assert.match(before, /^Loaded file:.*\/server\/run\/main\.ts$/m);
      assert.deepEqual(after.match(/^Loaded .*$/gm), null);
    });
  } finally {
    await inbox.close();
    await receiver.close();
  }
});
