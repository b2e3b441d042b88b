import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { openDatabase } from '#server/db/engine/connect.ts';
import { command, valuesOf, type Value } from '#server/db/engine/statement.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { API } from '#shared/api.ts';
import { behindPgBouncer, createPostgresDatabase, ENGINES, freshDatabase } from '#testing/databases.ts';
import { codeIn } from '#testing/inbox.ts';
import { countRoundTrips } from '#testing/round-trips.ts';
import { createVisitor, filledForm, withServer } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const insert = command((db, value: Value<ReturnType<typeof window>>) =>
  db.insertInto('limit_windows').values(valuesOf(value, ['key', 'started_at', 'ends_at', 'count'])),
);
const window = (key: string) => ({ key, started_at: 0, ends_at: 1, count: 1 });

for (const engine of ENGINES)
  describe(`statements of a transaction that are begun together, on ${engine}`, () => {
    it('run in the order in which they were begun', async () => {
      const { db, close } = await freshDatabase(engine);
      try {
        const counts = await db.transaction().execute(async (tx) => {
          const count = () => tx.selectFrom('limit_windows').select('key').execute();
          const add = (key: string) => tx.insertInto('limit_windows').values(window(key)).execute();
          const [before, , between, , after] = await Promise.all([
            count(),
            add('a'),
            count(),
            add('b'),
            count(),
          ]);
          return [before, between, after].map(({ length }) => length);
        });
        assert.deepEqual(counts, [0, 1, 2]);
      } finally {
        await close();
      }
    });

    it('of which no result is needed fail the commit with their own error, and nothing is kept', async () => {
      const { db, close, writes } = await freshDatabase(engine);
      try {
        await assert.rejects(
          db.transaction().execute(async (tx) => {
            for (const key of ['a', 'a', 'b']) await insert(tx, window(key));
          }),
          /unique/i,
        );
        assert.deepEqual(await db.selectFrom('limit_windows').selectAll().execute(), []);
        // The next transaction on this connection knows nothing of it.
        await db.transaction().execute((tx) => insert(tx, window('c')));
        assert.equal((await db.selectFrom('limit_windows').selectAll().execute()).length, 1);
        assert.equal(writes.fault(), null);
        // Outside a transaction, the call itself fails.
        await assert.rejects(insert(db, window('c')), /unique/i);
      } finally {
        await close();
      }
    });

    it('fail with what failed first, also those behind it that are awaited', async () => {
      const { db, close } = await freshDatabase(engine);
      try {
        await assert.rejects(
          db.transaction().execute(async (tx) => {
            await insert(tx, window('a'));
            await insert(tx, window('a'));
            await tx.selectFrom('limit_windows').selectAll().execute();
          }),
          /unique/i,
        );
      } finally {
        await close();
      }
    });

    it('never come after the commit: one that nothing awaits is refused', async () => {
      const { db, close } = await freshDatabase(engine);
      let late: Promise<void> | undefined;
      try {
        await db.transaction().execute(async (tx) => {
          late = (async () => {
            await tx.selectFrom('limit_windows').selectAll().execute();
            await insert(tx, window('late'));
          })();
          late.catch(() => {});
        });
        await late?.catch(() => {});
        assert.deepEqual(await db.selectFrom('limit_windows').select('key').execute(), []);
      } finally {
        await close();
      }
    });
  });

/** Of a visitor who does everything once. Each more is waited for by every visitor, and costs the server a tenth of a flow. */
const MOST_ROUND_TRIPS = 11;

/** Of the code screen's question whether its mail has been sent, which it asks several times. */
const MOST_ROUND_TRIPS_TO_ASK = 4;

it(
  `on PostgreSQL a visitor's whole way takes ${MOST_ROUND_TRIPS} round trips, and ${MOST_ROUND_TRIPS_TO_ASK} a question of the code screen`,
  { skip: behindPgBouncer() },
  async () => {
    const counted = await countRoundTrips(await createPostgresDatabase());
    const database = openDatabase({ engine: 'postgres', url: counted.url }, assert.fail);
    try {
      await migrate(database);
      await withServer({ engine: 'postgres', database }, async (server) => {
        const trips: number[] = [];
        const tripsToAsk: number[] = [];
        for (let number = 1; number <= 6; number += 1) {
          const email = `visitor-${number}@example.com`;
          const visitor = createVisitor(server, `198.51.100.${number}`);
          counted.take();
          await visitor.post(API.leads, filledForm({ email }));
          const code = codeIn(await server.inbox.waitForMail(email));
          await until(() => server.mailEvents.length === 2 * number - 1);
          assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
          trips.push(counted.take());
          await setTimeout(0);
          const waiting = createVisitor(server, `198.51.100.${number}`);
          await waiting.post(API.leads, filledForm({ email: `waiting-${email}` }));
          await server.inbox.waitForMail(`waiting-${email}`);
          await until(() => server.mailEvents.length === 2 * number);
          counted.take();
          assert.equal((await waiting.get(API.challenge)).statusCode, 200);
          tripsToAsk.push(counted.take());
        }
        // What is looked at now and then comes on top of some.
        assert.ok(Math.min(...trips) <= MOST_ROUND_TRIPS, `took ${trips.join(', ')}`);
        assert.ok(Math.min(...trips) >= 4, 'they are counted');
        assert.ok(Math.min(...tripsToAsk) <= MOST_ROUND_TRIPS_TO_ASK, `took ${tripsToAsk.join(', ')}`);
        assert.ok(Math.min(...tripsToAsk) >= 1, 'they are counted');
      });
    } finally {
      counted.close();
    }
  },
);
