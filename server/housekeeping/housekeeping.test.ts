import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { startHousekeeping } from '#server/housekeeping/housekeeping.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { deleteExpired, expirySteps, runStep, type Expired } from '#server/db/queries/expiry.ts';
import { countInWindow, readWindow } from '#server/db/tables/limit-windows.ts';
import { keepMailDomains } from '#server/db/tables/mail-domains.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import { countWaitingStatements } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { ask, askAndReceive } from '#testing/lead-calls.ts';
import { withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { until } from '#testing/until.ts';

async function sendForm(server: ServerUnderTest, email: string): Promise<void> {
  await askAndReceive(server, email);
  await server.advance(0);
}

async function atDaysAgo(server: ServerUnderTest, days: number, act: () => Promise<void>): Promise<void> {
  const now = server.now();
  server.setClock(now - days * DAY_MS);
  await act();
  server.setClock(now);
}

const sendOldForms = (server: ServerUnderTest, count: number) =>
  atDaysAgo(server, 31, async () => {
    for (let at = 0; at < count; at += 1) await sendForm(server, `old-${at}@example.com`);
  });

const emailsOf = async ({ database }: ServerUnderTest, table: 'submissions' | 'codes') => {
  const rows = await database.db.selectFrom(table).select('email').orderBy('email').execute();
  return rows.map(({ email }) => email);
};

it('housekeeping that is cut off by a stop logs no failure', () =>
  withServer({ engine: 'sqlite' }, async ({ service, logLines }) => {
    const closed = Promise.withResolvers<void>();
    const funnel = { ...service.funnel, write: () => closed.promise };
    const { stop } = startHousekeeping({ ...service, funnel });
    stop();
    closed.reject(new Error('The database is closed.'));
    for (let round = 0; round < 10; round += 1) await setImmediate();
    assert.deepEqual(
      logLines.filter((line) => line.includes('will try again')),
      [],
    );
  }));

onEachEngine('housekeeping', ({ test, both, engine }) => {
  both('housekeeping deletes a bounced e-mail address but keeps its suppression', async (server) => {
    const { db } = server.database;
    const keysOf = (email: string) => pseudonymsOf(server.service.secrets, email);
    const note = (email: string, reason: 'bounced' | 'complained' | 'by-hand') =>
      suppress(db, { keys: keysOf(email), reason, email, note: `said of ${email}`, now: server.now() });
    await atDaysAgo(server, 31, async () => {
      await sendForm(server, 'old@example.com');
      for (const reason of ['bounced', 'complained'] as const) await note('old@example.com', reason);
      await note('hand@example.com', 'by-hand');
      await becomeLead(server, 'lead@example.com');
      await note('lead@example.com', 'bounced');
    });
    await atDaysAgo(server, 29, async () => void (await note('young@example.com', 'bounced')));
    const { reports, runHousekeeping } = housekeeperOf(server);
    await runHousekeeping();
    const rows = await db.selectFrom('suppressions').select(['email', 'note']).execute();
    const left = rows.map(({ email, note: kept }) => `${email ?? '-'}: ${kept ?? '-'}`).toSorted();
    assert.deepEqual(left, [
      '-: -',
      '-: -',
      'hand@example.com: said of hand@example.com',
      'lead@example.com: said of lead@example.com',
      'young@example.com: said of young@example.com',
    ]);
    assert.equal(reports[0]?.suppressions, 2);
    assert.equal(
      (await suppressionsOf(db, { keys: keysOf('old@example.com'), email: 'old@example.com' })).length,
      2,
    );
  });

  both('housekeeping deletes unverified data after 30 days and keeps leads and receipts', async (server) => {
    await atDaysAgo(server, 31, async () => {
      await sendForm(server, 'old@example.com');
      const beforeCode = (visitor: Visitor) => ask(visitor, { email: 'lead@example.com' });
      await becomeLead(server, 'lead@example.com', 1, { beforeCode });
    });
    await atDaysAgo(server, 29, () => sendForm(server, 'young@example.com'));
    const { reports, runHousekeeping } = housekeeperOf(server);
    await runHousekeeping();
    assert.deepEqual(await emailsOf(server, 'submissions'), ['lead@example.com', 'young@example.com']);
    assert.deepEqual(await emailsOf(server, 'codes'), ['young@example.com']);
    assert.equal(await server.countRows('outbox'), 1);
    assert.equal(await server.countRows('leads'), 1);
    assert.equal(await server.countRows('consent_receipts'), 1);
    assert.equal(await server.countRows('limit_windows'), 0, 'windows end within hours');
    const [{ limit_windows: windows, ...rest } = {}] = reports;
    assert.ok(windows !== undefined && windows > 0);
    assert.deepEqual(rest, { outbox: 2, codes: 2, submissions: 1 });

    await runHousekeeping();
    assert.equal(reports.length, 1);

    await becomeLead(server, 'lead@example.com', 2);
    await server.advance(2 * 86_400);
    await runHousekeeping();
    assert.deepEqual(await emailsOf(server, 'submissions'), ['lead@example.com', 'lead@example.com']);
    assert.equal(await server.countRows('consent_receipts'), 2);
  });

  test(
    'RETENTION_DAYS=0 keeps all data except mail older than MAIL_RETENTION_DAYS',
    { env: { RETENTION_DAYS: '0', MAIL_RETENTION_DAYS: '9' } },
    async (server) => {
      await atDaysAgo(server, 400, () => sendForm(server, 'old@example.com'));
      const { reports, runHousekeeping } = housekeeperOf(server);
      await runHousekeeping();
      assert.equal(await server.countRows('outbox'), 0);
      assert.deepEqual(await emailsOf(server, 'codes'), ['old@example.com']);
      assert.equal(await server.countRows('submissions'), 1);
      assert.equal(reports[0]?.outbox, 1);
    },
  );

  test('housekeeping deletes unused mail domains after the clock was set back', async (server) => {
    const { runHousekeeping } = housekeeperOf(server);
    await atDaysAgo(server, -365, runHousekeeping);
    await keepMailDomains(server.database.db, [
      { domain: 'unused.example', mx_host: null, looked_up_at: server.now() },
    ]);
    await runHousekeeping();
    assert.equal(await server.countRows('mail_domains'), 0);
  });

  test(
    'housekeeping deletes rows in small transactions and lets requests through in between',
    { env: { LEADS_PER_IP_PER_HOUR: '0' } },
    async (server) => {
      await sendOldForms(server, 7);
      const cutoff = server.now() - 30 * DAY_MS;
      const cutoffs = { unverified: cutoff, mail: cutoff, windows: 0, funnel: 0 };
      for (const step of expirySteps(cutoffs)) {
        const outcome = await runStep(server.database.db, step, 2);
        if (outcome?.deleted.outbox === undefined) continue;
        assert.deepEqual(outcome, { deleted: { outbox: 2 }, done: false });
        break;
      }
      assert.equal(await server.countRows('outbox'), 5);

      let ended = false;
      const { reports, runHousekeeping } = housekeeperOf(server);
      const kept = runHousekeeping().finally(() => (ended = true));
      await server.countRows('leads');
      assert.equal(ended, false, 'a request was served before it ended');
      await kept;
      assert.deepEqual(reports, [{ outbox: 5, codes: 7, submissions: 7 }]);
    },
  );

  both('two simultaneous housekeeping processes delete each row once', async (server) => {
    await sendOldForms(server, 12);
    const past = { started_at: server.now() - 2, ends_at: server.now() - 1, count: 1 };
    const windows = Array.from({ length: 1_200 }, (_, index) => ({ ...past, key: `past-${index}` }));
    await server.database.db.insertInto('limit_windows').values(windows).execute();
    const ended = await server.countRows('limit_windows');
    const one = housekeeperOf(server);
    const other = housekeeperOf(server);
    await Promise.all([one.runHousekeeping(), other.runHousekeeping()]);
    await one.runHousekeeping();
    const sumOf = (table: keyof Expired) =>
      [...one.reports, ...other.reports].reduce((total, { [table]: count = 0 }) => total + count, 0);
    assert.deepEqual([sumOf('limit_windows'), sumOf('codes')], [ended, 12]);
    assert.equal(await server.countRows('submissions'), 0);
  });

  both('housekeeping keeps a limit that begins again while its window is being deleted', async (server) => {
    const { db } = server.database;
    const now = server.now();
    await countInWindow(db, 'asks', 1_000, now - 2_000);
    const deleting = await db.transaction().execute(async (tx) => {
      await countInWindow(tx, 'asks', 1_000, now);
      const deleted = deleteExpired(db, 'limit_windows', { before: now, limit: 10 });
      if (engine === 'postgres') await until(async () => (await countWaitingStatements(db)) === 1);
      return { deleted };
    });
    await deleting.deleted;
    assert.equal((await readWindow(db, 'asks', now)).count, 1);
  });
});
