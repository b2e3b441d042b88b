import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { sql } from 'kysely';

import { openDatabase, type Db } from '#server/db/engine/connect.ts';
import { leaveToCommit, transaction } from '#server/db/engine/send-at-once.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { API } from '#shared/api.ts';
import { behindPgBouncer, createPostgresDatabase, ENGINES, freshDatabase } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { countRoundTrips } from '#testing/round-trips.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const window = (key: string) => ({ key, started_at: 0, ends_at: 1, count: 1 });

for (const engine of ENGINES)
  describe(`statements of a transaction that are begun together, on ${engine}`, () => {
    it('run in the order in which they were begun', async () => {
      const { db, close } = await freshDatabase(engine);
      try {
        const counts = await db.transaction().execute(async (tx) => {
          const count = () => tx.selectFrom('limit_windows').select('key').execute();
          const insert = (key: string) => tx.insertInto('limit_windows').values(window(key)).execute();
          const [before, , between, , after] = await Promise.all([
            count(),
            insert('a'),
            count(),
            insert('b'),
            count(),
          ]);
          return [before, between, after].map(({ length }) => length);
        });
        assert.deepEqual(counts, [0, 1, 2]);
      } finally {
        await close();
      }
    });

    it('that are left to the commit fail it with their own error, and nothing is kept', async () => {
      const { db, close, writes } = await freshDatabase(engine);
      try {
        await assert.rejects(
          transaction(db, async (tx) => {
            leaveToCommit(
              tx,
              tx.insertInto('limit_windows').values(window('a')).execute(),
              tx.insertInto('limit_windows').values(window('a')).execute(),
              tx.insertInto('limit_windows').values(window('b')).execute(),
            );
          }),
          /unique/i,
        );
        assert.deepEqual(await db.selectFrom('limit_windows').selectAll().execute(), []);
        // The next transaction on this connection knows nothing of it.
        await transaction(db, async (tx) => {
          leaveToCommit(tx, tx.insertInto('limit_windows').values(window('c')).execute());
        });
        assert.equal((await db.selectFrom('limit_windows').selectAll().execute()).length, 1);
        assert.equal(writes.fault(), null);
      } finally {
        await close();
      }
    });

    it('fail with what failed first, also those behind it that are awaited', async () => {
      const { db, close } = await freshDatabase(engine);
      try {
        await assert.rejects(
          transaction(db, async (tx) => {
            leaveToCommit(tx, sql`select no_such_column from limit_windows`.execute(tx));
            await tx.selectFrom('limit_windows').selectAll().execute();
          }),
          /no_such_column/,
        );
      } finally {
        await close();
      }
    });

    it('are not left to a commit in vain: what comes late, or never, fails the transaction', async () => {
      const { db, close } = await freshDatabase(engine);
      const late = async (tx: Db) => {
        await tx.insertInto('limit_windows').values(window('in time')).execute();
        await tx.insertInto('limit_windows').values(window('late')).execute();
      };
      const never = async () => {
        throw new TypeError('a slip of ours');
      };
      try {
        await assert.rejects(
          transaction(db, async (tx) => leaveToCommit(tx, late(tx))),
          /after the commit/,
        );
        await assert.rejects(
          transaction(db, async (tx) => leaveToCommit(tx, never())),
          /a slip of ours/,
        );
        const kept = await db.selectFrom('limit_windows').select('key').execute();
        assert.deepEqual(
          kept.map(({ key }) => key),
          ['in time'],
        );
        await assert.rejects(
          db.transaction().execute(async (tx) => leaveToCommit(tx, Promise.resolve())),
          /Only transaction\(\)/,
        );
      } finally {
        await close();
      }
    });
  });

/** Of a visitor who does everything once. Each more is waited for by every visitor, and costs the server a tenth of a flow. */
const MOST_ROUND_TRIPS = 11;

it(
  `on PostgreSQL a visitor's whole way takes ${MOST_ROUND_TRIPS} round trips`,
  { skip: behindPgBouncer() },
  async () => {
    const counted = await countRoundTrips(await createPostgresDatabase());
    const database = openDatabase({ engine: 'postgres', url: counted.url }, assert.fail);
    try {
      await migrate(database);
      await withServer({ engine: 'postgres', database }, async (server) => {
        const trips: number[] = [];
        for (let number = 1; number <= 6; number += 1) {
          const email = `visitor-${number}@example.com`;
          const visitor = createVisitor(server, `198.51.100.${number}`);
          counted.take();
          await visitor.post(API.leads, filledForm({ email }));
          const code = codeIn(await server.inbox.waitForMail(email));
          await until(() => server.mailEvents.length === number);
          assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
          trips.push(counted.take());
          await setTimeout(0);
        }
        // What is looked at now and then comes on top of some.
        assert.ok(Math.min(...trips) <= MOST_ROUND_TRIPS, `took ${trips.join(', ')}`);
        assert.ok(Math.min(...trips) >= 4, 'they are counted');
      });
    } finally {
      counted.close();
    }
  },
);
