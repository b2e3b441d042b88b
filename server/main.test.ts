// The production command as a process: how it starts, and how it stops.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { sql, type Selectable } from 'kysely';

import type { Config } from '#server/config.ts';
import { openDatabase } from '#server/db/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { ENGINES } from '#testing/databases.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { startSite, startSiteProcess, type Site } from '#testing/start-site.ts';
import { codeIn, startInbox } from '#testing/inbox.ts';

const MAIN = path.resolve(import.meta.dirname, 'main.ts');

async function outboxRow(site: Site): Promise<Selectable<Schema['outbox']>> {
  const config: Config['database'] = site.databaseUrl.startsWith('file:')
    ? { engine: 'sqlite', file: path.join(site.folder, 'data', 'leads.db') }
    : { engine: 'postgres', url: site.databaseUrl };
  const { db, close } = openDatabase(config, () => {});
  try {
    return await db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();
  } finally {
    await close();
  }
}

const ask = (site: Site) =>
  fetch(`${site.url}/api/leads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(filledForm()),
  });

describe('the start', () => {
  it('is refused with one sentence for each bad setting, and touches nothing', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'start-'));
    try {
      const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN], {
        cwd: folder,
        env: { PORT: 'http', APP_SECRET: 'hunter2', TRUST_PROXY: 'everybody' },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^The server cannot start:\n {2}- PORT must be .*\n {2}- APP_SECRET must be .*\n {2}- TRUST_PROXY must be .*\n$/,
      );
      assert.doesNotMatch(stderr, /hunter2/);
      assert.equal(stdout, '');
      assert.equal(existsSync(path.join(folder, 'data')), false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that fails leaves one line in the log, and no word of what the database said', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'start-'));
    const file = path.join(folder, 'data', 'leads.db');
    try {
      const { db, close } = openDatabase({ engine: 'sqlite', file }, () => {});
      await sql`create table consent_wordings (version text, ada_lovelace text)`.execute(db);
      await close();
      const { status, stderr, stdout } = spawnSync(process.execPath, [MAIN], {
        cwd: folder,
        env: { PORT: '0' },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.equal(stderr, '');
      assert.match(stdout, /^\{"level":60,.*"code":"ERR_SQLITE_ERROR","errcode":1,.*\}\n$/);
      assert.doesNotMatch(stdout, /consent_wordings|create table|already exists/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

for (const engine of ENGINES) {
  // Most of it is waiting, so they wait together.
  describe(`the stop on ${engine}`, { concurrency: true }, () => {
    it('finishes the mail in hand', async () => {
      let release = () => {};
      const held = new Promise<null>((resolve) => {
        release = () => resolve(null);
      });
      let arrived = () => {};
      const inHand = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const onMessage = () => {
        arrived();
        return held;
      };
      const site = await startSite({ engine, inbox: { onMessage } });
      try {
        assert.equal((await ask(site)).status, 202);
        await inHand;
        const stopped = site.stop('SIGTERM');
        void setTimeout(200).then(release);
        assert.equal(await stopped, 0);
        assert.equal(site.inbox.mails.length, 1);
        assert.equal((await outboxRow(site)).state, 'sent');
      } finally {
        await site.close();
      }
    });

    it('gives a mail back that does not get done, for the next process to send', async () => {
      let arrived = () => {};
      const inHand = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const onMessage = () => {
        arrived();
        return new Promise<null>(() => {});
      };
      const site = await startSite({ engine, inbox: { onMessage } });
      try {
        await ask(site);
        await inHand;
        assert.equal(await site.stop('SIGTERM'), 0);
        const row = await outboxRow(site);
        assert.equal(row.state, 'queued');
        assert.equal(row.lease_id, null);
        assert.ok(row.due_at <= Date.now());
      } finally {
        await site.close();
      }
    });
  });
}

describe('a server among rude neighbours', { concurrency: true }, () => {
  it('writes no address into the log, though the mail server repeats it', async () => {
    const onRecipient = (address: string) =>
      Object.assign(new Error(`5.1.1 <${address}>: Recipient address rejected`), { responseCode: 550 });
    const site = await startSite({ inbox: { onRecipient } });
    try {
      assert.equal((await ask(site)).status, 202);
      while (!site.output().includes('could not be delivered')) await setTimeout(10);
      assert.match(site.output(), /"type":"refused","errorClass":"5xx"/);
      assert.doesNotMatch(site.output(), /ada@example\.com/);
      assert.match((await outboxRow(site)).reply ?? '', /<ada@example\.com>: Recipient address rejected/);
    } finally {
      await site.close();
    }
  });

  it('stops in order, though somebody never ends a request', async () => {
    const site = await startSite();
    try {
      const socket = connect({ port: site.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(
        'POST /api/leads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n',
      );
      await setTimeout(200);
      assert.equal(await site.stop('SIGTERM'), 0);
      assert.match(site.output(), /"msg":"Stopped\."/);
    } finally {
      await site.close();
    }
  });
});

describe('a change of APP_SECRET', () => {
  it('signs nobody out and keeps the codes under way, as long as the old one stands second', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'rotation-'));
    const inbox = await startInbox();
    const start = (appSecret: string) =>
      startSiteProcess({ APP_SECRET: appSecret, SMTP_URL: inbox.url, LOG_LEVEL: 'fatal' }, folder);
    const post = (url: string, body: object, cookie = '') =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify(body),
      });
    const cookieOf = (response: Response) =>
      response.headers
        .getSetCookie()
        .map((line) => line.split(';', 1)[0])
        .join('; ');
    const readArticle = async (url: string, cookie: string) =>
      (await fetch(`${url}/api/article`, { headers: { cookie } })).status;
    const [old, fresh] = ['old-secret-'.repeat(4), 'new-secret-'.repeat(4)];
    try {
      const before = await start(old);
      const reader = await post(`${before.url}/api/leads`, filledForm({ email: 'reader@example.com' }));
      const readersCode = codeIn(await inbox.waitForMail('reader@example.com'));
      const session = cookieOf(
        await post(
          `${before.url}/api/verify`,
          { email: 'reader@example.com', code: readersCode },
          cookieOf(reader),
        ),
      );
      const waiter = await post(`${before.url}/api/leads`, filledForm({ email: 'waiter@example.com' }));
      const code = codeIn(await inbox.waitForMail('waiter@example.com'));
      await before.stop('SIGINT');

      const after = await start(`${fresh},${old}`);
      assert.equal(await readArticle(after.url, session), 200);
      const body = { email: 'waiter@example.com', code };
      const verified = await post(`${after.url}/api/verify`, body, cookieOf(waiter));
      assert.equal(verified.status, 200, await verified.text());
      await after.stop('SIGINT');

      // Only the new one: what it signed counts, what the old one signed does not.
      const later = await start(fresh);
      assert.equal(await readArticle(later.url, cookieOf(verified)), 200);
      assert.equal(await readArticle(later.url, session), 401);
      await later.stop('SIGINT');
    } finally {
      await inbox.close();
      rmSync(folder, { recursive: true });
    }
  });
});
