import assert from 'node:assert/strict';
import { it } from 'node:test';

import { mergeDomains } from '#desk/web/companies/sums.ts';

it('people per company are added up across all pages, largest first', () => {
  assert.deepEqual(
    mergeDomains([
      { domains: [{ domain: 'b.example', people: 2 }] },
      { domains: [] },
      {
        domains: [
          { domain: 'a.example', people: 3 },
          { domain: 'b.example', people: 4 },
          { domain: 'c.example', people: 3 },
        ],
      },
    ]),
    [
      { domain: 'b.example', people: 6 },
      { domain: 'a.example', people: 3 },
      { domain: 'c.example', people: 3 },
    ],
  );
});
