import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import type { Config } from '#server/settings/settings.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { API } from '#shared/api.ts';
import { MATRIX_ENGINES, openTestDatabase, type Engine } from '#testing/databases.ts';
import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { postJson } from '#testing/post-json.ts';
import { rawRequest } from '#testing/raw-request.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { startProgram } from '#testing/start-program.ts';
import { siteProgram, startSite, type Site } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

async function withDatabaseOf<Result>(site: Site, look: (db: Db) => Promise<Result>): Promise<Result> {
  const config: Config['database'] = site.databaseUrl.startsWith('file:')
    ? { engine: 'sqlite', file: path.join(site.folder, 'data', 'leads.db') }
    : { engine: 'postgres', url: site.databaseUrl };
  await using database = openTestDatabase(config);
  return await look(database.db);
}

const outboxRow = (site: Site) =>
  withDatabaseOf(site, (db) => db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow());

const ask = (site: { readonly url: string }) => postJson(`${site.url}/api/leads`, filledForm());

async function withBusySite(
  engine: Engine,
  test: (site: Site, release: () => void) => Promise<void>,
): Promise<void> {
  const held = Promise.withResolvers<null>();
  const inHand = Promise.withResolvers<void>();
  const onMessage = () => {
    inHand.resolve();
    return held.promise;
  };
  const release = () => held.resolve(null);
  const site = await startSite({ engine, inbox: { onMessage } });
  try {
    assert.equal((await ask(site)).status, 202);
    await inHand.promise;
    await test(site, release);
  } finally {
    release();
    await site.close();
  }
}

const isStopping = (site: Site) => until(() => site.output().includes('"msg":"Stopping."'));

it('Ctrl-C pressed twice stops the server immediately', () =>
  withBusySite('sqlite', async (site) => {
    const stopped = site.stop('SIGINT');
    await isStopping(site);
    // Sent repeatedly, because pending signals of one kind are merged.
    while (site.child.exitCode === null && site.child.signalCode === null) {
      site.child.kill('SIGINT');
      await setTimeout(5);
    }
    assert.equal(await stopped, 130);
    assert.doesNotMatch(site.output(), /"msg":"Stopped\."/);
  }));

for (const engine of MATRIX_ENGINES) {
  describe(`stop on ${engine}`, { concurrency: true }, () => {
    it('Ctrl-C sent twice by npm lets the server finish the mail being sent and store the counted visits', () =>
      withBusySite(engine, async (site, release) => {
        const headers = { 'user-agent': 'Mozilla/5.0 Chrome/142.0.0.0 Safari/537.36' };
        await (await fetch(`${site.url}/?utm_source=late`, { headers })).arrayBuffer();
        const stopped = site.stop('SIGINT');
        await isStopping(site);
        site.child.kill('SIGINT');
        release();
        assert.equal(await stopped, 0);
        assert.match(site.output(), /"msg":"Stopped\."/);
        assert.equal(site.inbox.mails.length, 1);
        assert.equal((await outboxRow(site)).state, 'sent');
        const counts = await withDatabaseOf(site, (db) =>
          db.selectFrom('funnel_counts').select(['step', 'source', 'count']).execute(),
        );
        assert.deepEqual(counts, [{ step: 'seen', source: 'late', count: 1 }]);
        assert.doesNotMatch(site.output(), /late|Chrome/);
      }));

    for (const signal of ['SIGTERM', 'SIGHUP'] as const)
      it(`${signal} stops the server, which releases an unfinished mail for the next process`, () =>
        withBusySite(engine, async (site) => {
          assert.equal(await site.stop(signal), 0);
          assert.match(site.output(), /"msg":"Stopped\."/);
          const row = await outboxRow(site);
          assert.equal(row.state, 'queued');
          assert.equal(row.lease_id, null);
          assert.ok(row.due_at <= Date.now());
        }));
  });
}

it('a stopping server responds to health with 503 and accepts no new connections', async () => {
  await using site = await startSite();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const health = async () => {
    const { statusCode, body } = await rawRequest({ port: site.port, path: API.health, agent });
    return { statusCode, body };
  };
  const socket = connect({ port: site.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    'POST /api/leads HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n' +
      'expect: 100-continue\r\n\r\n',
  );
  await once(socket, 'data');
  assert.equal((await health()).statusCode, 200);
  const stopped = site.stop('SIGTERM');
  await isStopping(site);
  assert.deepEqual(await health(), { statusCode: 503, body: 'This process is stopping.' });
  await assert.rejects(health(), { code: 'ECONNREFUSED' });
  assert.equal(await stopped, 0);
  assert.match(site.output(), /"msg":"Stopped\."/);
});

it('a signal that arrives before the ports are open stops the server', () =>
  inFolder(async (folder) => {
    const early =
      'process.on("newListener", (name) => name === "SIGHUP" && process.emit("SIGTERM", "SIGTERM"))';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(early)}`;
    const env = { NODE_OPTIONS, METRICS_PORT: String(await freePort()) };
    const { args, ...options } = siteProgram(env, folder);
    const site = await startProgram(args, /"msg":"Stopped\."/, options);
    assert.equal(await site.stop(), 0);
    assert.doesNotMatch(site.output(), /"level":[56]0/);
  }));
