import assert from 'node:assert/strict';
import { it } from 'node:test';

import { detailsOf, groupByDay } from '#desk/web/person/timeline-entry.ts';

it('a timeline entry shows which mail failed and why without being expanded', () => {
  const details = {
    kind: 'code',
    attempts: '1',
    'the mail server said': '550 5.1.1 User unknown',
    reference: '0190',
  };
  assert.deepEqual(detailsOf({ kind: 'mail', what: 'mail sent', details }), {
    primary: [{ name: 'kind', value: 'code' }],
    more: [
      { name: 'attempts', value: '1' },
      { name: 'the mail server said', value: '550 5.1.1 User unknown' },
      { name: 'reference', value: '0190' },
    ],
  });
  assert.deepEqual(
    detailsOf({ kind: 'mail', what: 'mail failed', details }).primary.map(({ name }) => name),
    ['kind', 'the mail server said'],
  );
});

it('a timeline entry shows all changes made by a correction without being expanded', () => {
  const { primary, more } = detailsOf({
    kind: 'correction',
    what: 'was corrected by the operator',
    details: { name: 'Ada → Ada King', Phone: '– → 12' },
  });
  assert.equal(primary.length, 2);
  assert.deepEqual(more, []);
});

it('timeline entries are listed by day, newest first', () => {
  const entries = ['2026-11-20T10:00Z', '2026-11-21T09:00Z', '2026-11-21T11:00Z'].map((at) => ({ at }));
  assert.deepEqual(
    groupByDay(entries, (at) => at.slice(0, 10)),
    [
      { day: '2026-11-21', entries: [entries[2], entries[1]] },
      { day: '2026-11-20', entries: [entries[0]] },
    ],
  );
});
