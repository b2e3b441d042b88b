import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { API } from '#shared/api.ts';
import { behindPgBouncer, freshDatabase } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';

it('a release that adds columns beside this one breaks none of its prepared statements', async () => {
  const database = await freshDatabase('postgres');
  await withServer({ engine: 'postgres', database }, async (server) => {
    const flow = async (number: number) => {
      const email = `visitor-${number}@example.com`;
      const visitor = createVisitor(server, `198.51.100.${number}`);
      assert.equal((await visitor.post(API.leads, filledForm({ email }))).statusCode, 202);
      const code = codeIn(await server.inbox.waitForMail(email));
      assert.equal((await visitor.get(API.challenge)).statusCode, 200);
      assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
      assert.equal((await visitor.get(API.article)).statusCode, 200);
    };
    for (let number = 1; number <= 5; number += 1) await flow(number);
    for (const table of ['challenges', 'codes', 'submissions', 'outbox', 'leads', 'limit_windows'] as const)
      await sql`alter table ${sql.table(table)} add column of_a_later_release text`.execute(database.db);
    for (let number = 6; number <= 10; number += 1) await flow(number);
  });
});

it('prepares statements, except those that ask for all columns', { skip: behindPgBouncer() }, async () => {
  const database = await freshDatabase('postgres');
  try {
    await database.db.connection().execute(async (db) => {
      await db.selectFrom('leads').select('id').where('email', '=', 'ada@example.com').execute();
      await db.selectFrom('leads').selectAll().where('email', '=', 'ada@example.com').execute();
      const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(
        db,
      );
      const ofLeads = rows.map(({ statement }) => statement).filter((text) => text.includes('"leads"'));
      assert.deepEqual(ofLeads, ['select "id" from "leads" where "email" = $1']);
    });
  } finally {
    await database.close();
  }
});
