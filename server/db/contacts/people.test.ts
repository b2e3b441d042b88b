import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { lookForPeople, leadPages } from '#server/db/contacts/people.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { ENGINES, freshDatabase, withDatabase } from '#testing/databases.ts';

const NOW = Date.UTC(2026, 10, 20);

for (const engine of ENGINES)
  it(`a person is found by any spelling or part of the e-mail address on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const email = 'ada@xn--bcher-kva.example';
      const times = { first_verified_at: NOW, last_verified_at: NOW };
      const ada = {
        id: '01',
        email,
        name: 'Ada',
        company: 'Books',
        answers: null,
        attribution: '{}',
        flags: '',
      };
      await db
        .insertInto('leads')
        .values([
          { ...ada, ...times },
          { ...ada, ...times, id: '02', email: 'eve@example.com' },
        ])
        .execute();
      for (const search of [
        email,
        'ada@bücher.example',
        ' ADA@Bücher.example ',
        'xn--bcher',
        'Ada@',
        '@BÜCHER',
        'cher.example',
        'ü',
      ]) {
        const found = await lookForPeople(
          db,
          'verified',
          { search },
          { from: null, most: 10, forMs: 10_000 },
        );
        assert.deepEqual([search, ...found.people.map(({ id }) => id)], [search, '01']);
        const listed = await Array.fromAsync(leadPages(db, 'verified', { search }));
        assert.deepEqual([search, ...listed.flat().map(({ id }) => id)], [search, '01']);
      }
    }));

for (const engine of ENGINES)
  it(`paging from either end lists each person in a period once on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const lead = { name: 'Ada', company: 'Books', answers: null, attribution: '{}', flags: '' };
      const leads = Array.from({ length: 300 }, (_, index) => {
        const at = index === 0 ? NOW - 2 * DAY_MS : NOW;
        const id = uuid({ msecs: at, seq: index });
        return { ...lead, id, email: `${id}@example.com`, first_verified_at: at, last_verified_at: at };
      });
      await db.insertInto('leads').values(leads).execute();
      const span = { since: NOW - DAY_MS, until: NOW + DAY_MS };
      const listed = async (filter: Parameters<typeof leadPages>[2]) =>
        (await Array.fromAsync(leadPages(db, 'verified', filter))).flat().map(({ id }) => id);
      const [, ...ids] = leads.map(({ id }) => id);
      assert.deepEqual(await listed(span), ids);
      assert.deepEqual(await listed({ ...span, newestFirst: true }), ids.toReversed());
      assert.deepEqual(await listed({ ...span, search: 'books' }), ids);
      const { people } = await lookForPeople(db, 'verified', span, { from: null, most: 120, forMs: 10_000 });
      assert.deepEqual(
        people.map(({ id }) => id),
        ids.toReversed().slice(0, 120),
      );
    }));

it('a page of people is read with at most one bound per side, so that SQLite can seek', async () => {
  const statements: string[] = [];
  const { db, close } = await freshDatabase('sqlite', { onStatement: (sql) => void statements.push(sql) });
  try {
    for (let index = 0; index < 300; index += 1)
      await db
        .insertInto('leads')
        .values({
          id: uuid({ msecs: NOW, seq: index }),
          email: `${index}@example.com`,
          name: 'Ada Lovelace',
          company: 'Analytical Engines',
          answers: null,
          first_verified_at: NOW,
          last_verified_at: NOW,
          attribution: '{}',
          flags: '',
        })
        .execute();
    statements.length = 0;
    const span = { since: NOW - DAY_MS, until: NOW + DAY_MS };
    for (const filter of [{}, span, { ...span, search: 'Lovelace' }])
      for (const newestFirst of [false, true]) {
        const pages = await Array.fromAsync(leadPages(db, 'verified', { ...filter, newestFirst }));
        assert.equal(pages.flat().length, 300);
      }
    for (let from: string | null = null, looks = 0; looks === 0 || from !== null; looks += 1)
      ({ next: from } = await lookForPeople(db, 'verified', span, { from, most: 120, forMs: 10_000 }));
    assert.ok(statements.length > 20);
    for (const statement of statements)
      for (const bound of [/\bid" >=? /g, /\bid" <=? /g])
        assert.ok((statement.match(bound)?.length ?? 0) <= 1, statement);
  } finally {
    await close();
  }
});
