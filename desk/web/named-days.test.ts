import assert from 'node:assert/strict';
import { it } from 'node:test';

import { nameOfSpan, spanNamed } from '#desk/web/named-days.ts';
import type { NamedDays } from '#shared/days.ts';

/** Tuesday in Berlin, but still Monday in UTC. */
const NOW = Date.parse('2026-11-23T23:30:00Z');

for (const [name, from, to] of [
  ['today', '2026-11-24', '2026-11-24'],
  ['yesterday', '2026-11-23', '2026-11-23'],
  ['this-week', '2026-11-23', '2026-11-24'],
  ['last-week', '2026-11-16', '2026-11-22'],
] as const satisfies readonly (readonly [NamedDays, string, string])[])
  it(`${name} in Berlin is ${from} to ${to}`, () => {
    assert.deepEqual(spanNamed(name, NOW, 'Europe/Berlin'), { from, to });
    assert.equal(nameOfSpan({ from, to }, NOW, 'Europe/Berlin'), name);
  });

it('other days have no name', () => {
  assert.equal(nameOfSpan({ from: '2026-11-23' }, NOW, 'UTC'), undefined);
  assert.equal(nameOfSpan({}, NOW, 'UTC'), undefined);
});
