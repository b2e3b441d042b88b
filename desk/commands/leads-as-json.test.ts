import assert from 'node:assert/strict';
import { it } from 'node:test';

import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { API, VISIT_HEADER } from '#shared/api.ts';
import { CONSENT_SOURCE, desk, importFile, succeeded } from '#testing/desk.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, filledForm, type ServerUnderTest } from '#testing/server-under-test.ts';
import { becomeLead, outcomes, withWebhook } from '#testing/webhook-leads.ts';

const EMAIL = 'ada@gmail.com';

async function people(server: ServerUnderTest, state: string): Promise<readonly Record<string, unknown>[]> {
  const listed = await desk(server.service, ['leads', '--state', state, '--json']);
  const exported = await desk(server.service, ['export', '--state', state, '--format', 'jsonl']);
  const rows = JSON.parse(listed.out) as Record<string, unknown>[];
  assert.equal(exported.out, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return rows;
}

onEachEngine('leads as JSON', ({ both: test, engine }) => {
  it('a lead as JSON has the fields of a webhook event, its state and its unsubscribe link', () =>
    withWebhook({ engine, env: { FREE_MAIL: 'flag' } }, async (server, receiver) => {
      const leadId = await becomeLead(server, EMAIL);
      await outcomes(server, 2);
      const inEvent = receiver.received[1]!.event.data.lead;
      assert.ok('email' in inEvent);
      assert.deepEqual(inEvent.flags, ['free-mail']);
      assert.equal(inEvent.unsubscribe_url, unsubscribeUrlOf(server.service)(leadId));
      const since = { state: 'verified', state_since: inEvent.first_verified_at };
      assert.deepEqual(await people(server, 'verified'), [{ ...inEvent, ...since }]);
      await desk(server.service, ['suppress', 'add', EMAIL]);
      assert.deepEqual(await people(server, 'suppressed'), [{ ...inEvent, ...since, state: 'suppressed' }]);
      assert.deepEqual(await people(server, 'verified'), []);
    }));

  test('a lead as JSON has null for unknown values and an empty list for no flags', async (server) => {
    const headers = { [VISIT_HEADER]: 'last=utm_source%3Dnewsletter' };
    await createVisitor(server).post(API.leads, filledForm({ email: 'never@example.com' }), { headers });
    const list = 'email,name,consent date\nbob@example.com,Bob Noyce,2024-03-04\neve@example.com,,\n';
    await succeeded(importFile(server, list));
    const now = new Date(server.now()).toISOString();
    const [never, ...others] = await people(server, 'unverified');
    assert.deepEqual(others, []);
    const noLead = {
      first_verified_at: null,
      last_verified_at: null,
      first_read_at: null,
      consent: null,
      flags: [],
      state_since: now,
      unsubscribe_url: null,
    };
    assert.deepEqual(never, {
      ...noLead,
      id: never?.['id'],
      email: 'never@example.com',
      name: 'Ada Lovelace',
      first_name: 'Ada',
      last_name: 'Lovelace',
      company: 'Analytical Engines',
      source: 'newsletter',
      attribution: { utm_source: 'newsletter' },
      state: 'unverified',
    });
    const [bob, eve] = await people(server, 'imported');
    const imported = { ...noLead, source: 'import', attribution: {}, state: 'imported', company: '' };
    const consent = { version: null, text: `Not given here. Imported: ${CONSENT_SOURCE}` };
    assert.deepEqual(bob, {
      ...imported,
      id: bob?.['id'],
      email: 'bob@example.com',
      name: 'Bob Noyce',
      first_name: 'Bob',
      last_name: 'Noyce',
      consent: { given_at: '2024-03-04T00:00:00.000Z', ...consent },
    });
    assert.deepEqual(eve?.['consent'], { given_at: null, ...consent });
  });
});
