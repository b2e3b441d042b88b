import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { sql } from 'kysely';

import { migrate } from '#server/db/migrations/migrate.ts';
import { explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { createPostgresDatabase, openTestDatabase, POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { startPgBouncer } from '#testing/pgbouncer.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { withServer } from '#testing/server-under-test.ts';

const missing = findProgram('pgbouncer') === undefined && notTested('pgbouncer');

async function throughPgBouncer(story: (url: string, direct: string) => Promise<void>): Promise<void> {
  const direct = await createPostgresDatabase();
  const pgBouncer = await startPgBouncer(process.env[POSTGRES_URL_VARIABLE] ?? '');
  try {
    await story(`${pgBouncer.through(direct)}?prepare=false`, direct);
  } finally {
    await pgBouncer.stop();
  }
}

describe('PgBouncer with transaction pooling', { skip: missing }, () => {
  it('twenty simultaneous visitors reach the article through PgBouncer', () =>
    throughPgBouncer(async (url) => {
      const database = openTestDatabase({ engine: 'postgres', url });
      await migrate(database);
      await withServer({ engine: 'postgres', database }, async (server) => {
        const visit = async (number: number) => {
          const { visitor } = await becomeLead(server, `visitor-${number}@example.com`);
          assert.equal((await visitor.get(API.article)).statusCode, 200);
        };
        await Promise.all(Array.from({ length: 20 }, (_, number) => visit(number + 1)));
      });
    }));

  it('concurrent starts through PgBouncer run each migration once', () =>
    throughPgBouncer(async (url, direct) => {
      await using opened = new AsyncDisposableStack();
      const open = (to: string) => opened.use(openTestDatabase({ engine: 'postgres', url: to }));
      await Promise.all(Array.from({ length: 6 }, () => migrate(open(url))));
      const { rows } = await sql`
        select pid from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())
      `.execute(open(direct).db);
      assert.deepEqual(rows, []);
    }));

  it('a refused start through PgBouncer is explained in a sentence', () =>
    throughPgBouncer(async (url) => {
      for (const [change, sentence] of [
        [{ password: 'wrong' }, ' refused the login. Check user and password in DATABASE_URL.'],
        [
          { pathname: '/nowhere' },
          ' has no database with that name. Create the database, or name another in DATABASE_URL.',
        ],
        [
          { search: 'prepare=false&options=-c%20work_mem=1MB' },
          ' refused to work (unsupported startup parameter: options). Correct this there or in DATABASE_URL, and try again.',
        ],
        [{ search: '' }, ' is reached through a pooler. Add ?prepare=false to DATABASE_URL.'],
      ] as const) {
        const address = Object.assign<URL, object>(new URL(url), change);
        const config = { engine: 'postgres', url: address.href } as const;
        await using database = openTestDatabase(config);
        const error = await migrate(database).catch((thrown: unknown) => thrown);
        assert.equal(explainDatabaseFailure(error, config), `PostgreSQL at ${address.host}${sentence}`);
      }
    }));
});
