import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';

import { openDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { API } from '#shared/api.ts';
import { behindPgBouncer, createPostgresDatabase, freshDatabase } from '#testing/databases.ts';
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

for (const { query, prepared } of [
  { query: '', prepared: true },
  { query: '?prepare=false', prepared: false },
]) {
  it(
    `statements are ${prepared ? 'prepared' : 'not prepared'} for DATABASE_URL with "${query}"`,
    { skip: prepared && behindPgBouncer() },
    async () => {
      const url = (await createPostgresDatabase()) + query;
      const database = openDatabase({ engine: 'postgres', url }, assert.fail);
      try {
        await migrate(database);
        await database.db.connection().execute(async (db) => {
          await db.selectFrom('leads').select('id').where('email', '=', 'ada@example.com').execute();
          await db.selectFrom('leads').selectAll().where('email', '=', 'ada@example.com').execute();
          const { rows } = await sql<{
            statement: string;
          }>`select statement from pg_prepared_statements`.execute(db);
          const ofLeads = rows.map(({ statement }) => statement).filter((text) => text.includes('"leads"'));
          assert.deepEqual(ofLeads, prepared ? ['select "id" from "leads" where "email" = $1'] : []);
        });
      } finally {
        await database.close();
      }
    },
  );
}
