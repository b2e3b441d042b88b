import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

import { contactPages, searchContacts } from '#server/db/contacts/people.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import { leadRow } from '#testing/lead-row.ts';

const PEOPLE = [
  ['ada@example.com', 'Ada Lovelace', 'Analytical Engines'],
  ['zoe@example.com', 'Zoë MÜLLER', 'Rabatt 50%'],
  ['m.ueller@example.com', 'Max', 'müller_& Söhne'],
  ['li@example.com', '李明', 'Rabatt 50 Euro'],
  ['ines@xn--mnchen-3ya.example', 'İnes Weißkopf', 'GROẞ & Cie'],
] as const;

const FINDS = [
  ['ADA@', 'ada'],
  ['lovelace', 'ada'],
  [' ENGINES ', 'ada'],
  ['Müller', 'zoe', 'm.ueller'],
  ['müLLER', 'zoe', 'm.ueller'],
  ['Mu\u0308ller', 'zoe', 'm.ueller'],
  ['50%', 'zoe'],
  ['müller_', 'm.ueller'],
  ['李', 'li'],
  ['rabatt', 'zoe', 'li'],
  ['münchen.ex', 'ines'],
  ['ines@MÜNCHEN.example', 'ines'],
  ['\u200Bines@münchen.example', 'ines'],
  ['xn--mnchen', 'ines'],
  ['weissk', 'ines'],
  ['WEIẞKOPF', 'ines'],
  ['gross', 'ines'],
  ['ınes', 'ada', 'ines'],
  ['INES w', 'ines'],
  ['nothing'],
] as const;

for (const engine of ENGINES)
  describe(`search for contacts on ${engine}`, () => {
    let database: OpenDatabase;
    before(async () => {
      database = await freshDatabase(engine);
      const rows = PEOPLE.map(([email, name, company], at) => leadRow(`0${at}`, { email, name, company }));
      await database.db.insertInto('leads').values(rows).execute();
    });
    after(() => database.close());

    for (const [search, ...expected] of FINDS)
      it(`a search for “${search}” finds ${expected.join(' and ') || 'no one'}`, async () => {
        const filter = { search: search.trim() };
        const pages = await Array.fromAsync(contactPages(database.db, 'verified', filter));
        const limits = { cursor: null, limit: 10, timeLimitMs: 10_000 };
        const { found: people } = await searchContacts(database.db, 'verified', filter, limits);
        for (const found of [pages.flat(), people.toReversed()])
          assert.deepEqual(
            found.map(({ email }) => email.split('@')[0]),
            expected,
          );
      });
  });
