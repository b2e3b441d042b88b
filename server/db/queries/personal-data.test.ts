import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Db } from '#server/db/engine/connect.ts';
import { columnsOf, TABLE_NAMES } from '#server/db/all-tables.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { listPersonalData } from '#server/db/queries/personal-data.ts';
import { withdrawConsent } from '#server/consent/withdraw.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { createTurkishDatabase, openTestDatabase } from '#testing/databases.ts';
import { desk } from '#testing/desk.ts';
import { smtpError } from '#testing/inbox.ts';
import { ask, askForCode, EMAIL, enter, enterWrong, refusalOf } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { erasePerson } from '#testing/erase-person.ts';

const TYPED = 'Ada@Example.com';
const HOME = '198.51.100.7';

/** Rows of a person who signed up once, after workAtTheDesk. */
const OF_ONE_PERSON = {
  consent_chain: 2,
  suppressions: 1,
  withdrawals: 1,
  suppression_removals: 0,
  exported_leads: 1,
  corrections: 1,
  webhook_events: 0,
  consent_receipts: 1,
  leads: 1,
  imported_corrections: 0,
  imported_leads: 0,
  submissions: 1,
  outbox: 1,
  codes: 1,
  desk_log: 1,
};

const columnsIn = async (db: Db): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await db.introspection.getTables()).map(({ name, columns }) => [
      name,
      columns.map((column) => column.name).sort(),
    ]),
  );

const knownColumns = (): Record<string, string[]> =>
  Object.fromEntries(TABLE_NAMES.map((table) => [table, columnsOf(table).toSorted()]));

const dump = async ({ database: { db } }: ServerUnderTest): Promise<Record<string, unknown[]>> => {
  const rows: Record<string, unknown[]> = {};
  for (const table of TABLE_NAMES) rows[table] = await db.selectFrom(table).selectAll().execute();
  return rows;
};

async function verify(server: ServerUnderTest, email: string, from: string, mail = 1) {
  const headers = { 'user-agent': `Browser of ${email}` };
  return (await becomeLead(server, email, mail, { headers, from })).visitor;
}

async function workAtTheDesk(server: ServerUnderTest): Promise<void> {
  await server.advance(60);
  await desk(server.service, ['export', '--since-last', 'crm']);
  await desk(server.service, ['correct', EMAIL, '--name', 'Ada King ada@example.com']);
  const { db } = server.database;
  const lead = await db.selectFrom('leads').select('id').where('email', '=', EMAIL).executeTakeFirstOrThrow();
  await withdrawConsent(server.service, {
    leadId: lead.id,
    way: 'page',
    clientAddress: HOME,
    userAgent: 'Mail/1',
    now: server.now(),
  });
  await desk(server.service, ['consent', 'anchor']);
}

onEachEngine('personal data', ({ both: test }) => {
  test('every table and column with personal data is classified', async ({ database: { db } }) => {
    assert.deepEqual(await columnsIn(db), knownColumns());
  });

  test('personal data is listed for exactly one e-mail address', async (server) => {
    await verify(server, TYPED, HOME);
    await verify(server, 'eve@example.com', '198.51.100.8');
    await workAtTheDesk(server);
    const listed = await listPersonalData(server.database.db, ' ADA@example.com ');
    assert.deepEqual(
      Object.fromEntries(Object.entries(listed).map(([table, rows]) => [table, rows.length])),
      { ...OF_ONE_PERSON, desk_sign_ins: 0, desk_sessions: 0, desk_passkeys: 0 },
    );
    assert.ok(!JSON.stringify(listed).includes('eve@'));
  });

  test('an erasure removes one person everywhere and ends their session', async (server) => {
    await verify(server, 'eve@example.com', '198.51.100.8');
    await server.advance(0);
    const before = await dump(server);
    const visitor = await verify(server, TYPED, HOME);
    await workAtTheDesk(server);
    await createVisitor(server, '198.51.100.9').post(API.leads, filledForm({ email: EMAIL }));
    await server.inbox.waitForMail(EMAIL, 2);
    await server.advance(0);
    const rows = { ...OF_ONE_PERSON, submissions: 2, outbox: 2, codes: 2 };
    assert.deepEqual(await erasePerson(server, 'ADA@example.com'), rows);

    const after = await dump(server);
    const { limit_windows: windows, ...others } = after;
    assert.doesNotMatch(JSON.stringify(others), /ada@|198\.51\.100\.[79]/i, 'nothing of it is left');
    assert.doesNotMatch(JSON.stringify(windows), /ada@/i);
    for (const table of ['leads', 'submissions', 'consent_receipts', 'outbox'] as const)
      assert.deepEqual(after[table], before[table], `${table} of others stay`);
    assert.equal((await visitor.get(API.article)).statusCode, 401);

    const again = await verify(server, EMAIL, HOME, 3);
    assert.equal((await again.get(API.article)).statusCode, 200);
    assert.equal((await visitor.get(API.article)).statusCode, 401, 'the old session does not live again');
  });

  test('a person erased while mail is queued gets no mail, and the code opens nothing', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') });
    const visitor = createVisitor(server, HOME);
    await visitor.post(API.leads, filledForm());
    await server.advance(0);
    await erasePerson(server, EMAIL);
    await server.advance(60);
    server.wakeWorker();
    assert.equal(await server.countRows('outbox'), 0);
    assert.equal((await visitor.get(API.challenge)).statusCode, 204);
    assert.deepEqual(refusalOf(await enter(visitor, '000000')), [400, 'wrong-code', 'code']);
    assert.equal(server.inbox.mails.length, 0);
  });

  test(
    "the day's codes and attempts still count after an erasure",
    { env: { LEADS_PER_EMAIL_PER_HOUR: '2' } },
    async (server) => {
      const stranger = createVisitor(server, HOME);
      await enterWrong(stranger, (await askForCode(server, '203.0.113.1')).code, 5);
      await server.advance(0);
      await erasePerson(server, EMAIL);
      const { code } = await askForCode(server, '203.0.113.2');
      const tooMany = [429, 'too-many-tries-without-cookies', 'code'];
      assert.deepEqual(refusalOf(await enter(stranger, code)), tooMany);
      const third = await ask(createVisitor(server, HOME));
      assert.deepEqual(refusalOf(third), [429, 'too-many-codes', 'email']);
    },
  );
});

it('an erasure on a Turkish PostgreSQL deletes mail to an address typed in capitals', async () => {
  await using database = openTestDatabase({ engine: 'postgres', url: await createTurkishDatabase() });
  await migrate(database);
  await withServer({ engine: 'postgres', database, env: { GUIDE_EMAIL: 'link' } }, async (server) => {
    await becomeLead(server, 'INFO@example.com');
    await server.inbox.waitForMail('INFO@example.com', 2);
    await server.advance(0);
    await erasePerson(server, 'info@example.com');
    assert.equal(await server.countRows('outbox'), 0);
  });
});
