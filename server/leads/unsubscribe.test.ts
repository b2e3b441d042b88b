import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { deriveSecrets } from '#server/secrets/secrets.ts';
import { unsubscribeUrl } from '#server/secrets/mail-links.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { verifyChain } from '#server/consent/check.ts';
import { queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { exportProof } from '#testing/consents.ts';
import { desk, succeeded } from '#testing/desk.ts';
import { askForCode, EMAIL, enter } from '#testing/lead-calls.ts';
import { reasons } from '#testing/mail-providers.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { typesOf, withWebhook } from '#testing/webhook-leads.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const pathOf = (server: ServerUnderTest, leadId: string): string =>
  unsubscribeUrl(server.service.secrets, '', leadId);

const press = (
  server: ServerUnderTest,
  url: string,
  {
    payload = 'List-Unsubscribe=One-Click',
    type = 'application/x-www-form-urlencoded',
    headers = {},
  }: { payload?: string; type?: string; headers?: Record<string, string> } = {},
) =>
  server.app.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': type, 'user-agent': 'Mail/1', ...headers },
  });

onEachEngine('unsubscribe link', ({ test, both, engine }) => {
  both('the unsubscribe link does nothing until its button is pressed', async (server) => {
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    for (const method of ['GET', 'HEAD'] as const) {
      const opened = await server.app.inject({ method, url });
      assert.equal(opened.statusCode, 200);
      assert.equal(opened.headers['cache-control'], 'no-store');
      assert.doesNotMatch(opened.body, /ada/i);
    }
    assert.deepEqual(await reasons(server), []);

    const { body } = await server.app.inject({ method: 'GET', url });
    assert.match(body, /<form method="post">/);
    const fields = [...body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)];
    const payload = new URLSearchParams(fields.map(([, name = '', value = '']) => [name, value])).toString();
    const pressed = await press(server, url, { payload });
    assert.equal(pressed.statusCode, 200);
    assert.match(pressed.body, /You are unsubscribed/);
    assert.deepEqual(await reasons(server), ['unsubscribed']);
    const [withdrawal] = await server.database.db.selectFrom('withdrawals').selectAll().execute();
    assert.equal(withdrawal?.way, 'page');
    assert.equal(withdrawal.user_agent, 'Mail/1');
  });

  test("a mail program's one-click request unsubscribes only once, from any origin", async (server) => {
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    const parts = [
      '--x',
      'Content-Disposition: form-data; name="List-Unsubscribe"',
      '',
      'One-Click',
      '--x--',
      '',
    ];
    for (const options of [
      {},
      { headers: { origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' } },
      { payload: parts.join('\r\n'), type: 'multipart/form-data; boundary=x' },
    ]) {
      const pressed = await press(server, url, options);
      assert.equal(pressed.statusCode, 200);
      assert.equal(pressed.headers['set-cookie'], undefined);
      assert.equal(pressed.headers.location, undefined);
    }
    assert.equal(await server.countRows('withdrawals'), 1);
    assert.deepEqual(await reasons(server), ['unsubscribed']);
  });

  test('an unsubscribe request is accepted with any body and content type', async (server) => {
    for (const [index, [payload, type]] of (
      [
        ['List-Unsubscribe=One-Click', 'text/plain'],
        ['', undefined],
        ['', 'application/x-www-form-urlencoded'],
        ['{"List-Unsubscribe":"One-Click"}', 'application/json'],
        ['List-Unsubscribe=One-Click', ''],
        ['List-Unsubscribe=One-Click', 'form'],
        ['List-Unsubscribe=One-Click', 'application/x-www-form-urlencoded, text/plain'],
      ] as const
    ).entries()) {
      const url = pathOf(server, (await becomeLead(server, `ada-${index}@example.com`)).leadId);
      const headers = type === undefined ? {} : { 'content-type': type };
      const pressed = await server.app.inject({ method: 'POST', url, payload, headers });
      assert.equal(pressed.statusCode, 200);
      assert.equal(await server.countRows('suppressions'), index + 1, `"${payload}" as ${type}`);
    }
  });

  test('an unsubscribe request of more than 4 kB is refused', async (server) => {
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    const refused = await press(server, url, { payload: 'x'.repeat(5_000) });
    assert.equal(refused.statusCode, 413);
    assert.match(refused.body, /^[A-Z][^<>]+\.$/);
    assert.deepEqual(await reasons(server), []);
  });

  test('the unsubscribe link cannot be guessed and does not reveal who is a lead', async (server) => {
    const { leadId } = await becomeLead(server, EMAIL);
    const url = pathOf(server, leadId);
    const nobody = pathOf(server, '01930000-0000-7000-8000-000000000000');
    const others = deriveSecrets(['another-secret-of-somebody-else-0123456789']);
    const { visitor } = await becomeLead(server, 'eve@example.com');
    const session = visitor.cookies.get('session')?.replace('session:', '');
    assert.ok(session);
    for (const wrong of [
      API.unsubscribe,
      `${API.unsubscribe}?t=`,
      `${API.unsubscribe}?t=${leadId}`,
      // The signature's last character is one of sixteen, including A.
      `${url.slice(0, -1)}${url.endsWith('A') ? 'E' : 'A'}`,
      url.slice(0, -1),
      `${url}&t=x`,
      unsubscribeUrl(others, '', leadId),
      `${API.unsubscribe}?t=${encodeURIComponent(session)}`,
    ]) {
      assert.equal((await server.app.inject({ method: 'GET', url: wrong })).statusCode, 404, wrong);
      assert.equal((await press(server, wrong)).statusCode, 404, wrong);
    }
    assert.deepEqual(await reasons(server), []);
    for (const act of [
      (link: string) => server.app.inject({ method: 'GET', url: link }),
      (link: string) => press(server, link),
    ]) {
      const [known, unknown] = [await act(url), await act(nobody)];
      assert.equal(known.body, unknown.body);
      assert.equal(known.statusCode, unknown.statusCode);
    }
  });

  test(
    'a suppression survives the loss of its secret and ends with a new consent',
    { env: { GUIDE_EMAIL: 'link' } },
    async (server) => {
      const { leadId } = await becomeLead(server, EMAIL);
      await press(server, pathOf(server, leadId));
      const { db } = server.database;
      await sql`update suppressions set address_key = 'made with another secret'`.execute(db);
      await queueGuideMail(db, { id: uuid(), leadId, recipient: EMAIL, now: server.now() });
      server.wakeWorker();
      await until(async () => {
        const rows = await db.selectFrom('outbox').select('state').where('kind', '=', 'guide').execute();
        return rows.some(({ state }) => state === 'dropped');
      });
      await server.advance(61);
      await becomeLead(server, EMAIL, server.inbox.mailsTo(EMAIL).length + 1);
      assert.deepEqual(await reasons(server), []);
    },
  );

  it('unsubscribing sends one webhook event', () =>
    withWebhook({ engine }, async (server, receiver) => {
      const { leadId } = await becomeLead(server, EMAIL);
      for (let times = 0; times < 2; times += 1) await press(server, pathOf(server, leadId));
      await becomeLead(server, 'eve@example.com');
      await until(() => receiver.received.length >= 3);
      const ofLead = receiver.received.filter(({ event }) => event.data.lead.id === leadId);
      assert.deepEqual(typesOf(ofLead), ['lead.verified', 'lead.unsubscribed']);
    }));

  both('a verified consent undoes an unsubscription, but no suppression by the operator', async (server) => {
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    await press(server, url);
    await server.advance(61);
    const { visitor, code } = await askForCode(server, '198.51.100.8');
    await succeeded(desk(server.service, ['suppress', 'add', EMAIL]));
    assert.deepEqual(await reasons(server), ['by-hand', 'unsubscribed']);
    assert.equal((await enter(visitor, code)).statusCode, 200);
    assert.deepEqual(await reasons(server), ['by-hand']);
    await press(server, url);
    assert.equal(await server.countRows('withdrawals'), 2);
  });

  test('unsubscribing adds a withdrawal to the consent chain in the right order', async (server) => {
    const { db } = server.database;
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    await server.advance(30);
    // Sealing the consent waits for the mail server's reply, and sealing the withdrawal waits for the consent.
    const dueAt = server.now() + 3_600_000;
    await db.updateTable('outbox').set({ state: 'queued', due_at: dueAt }).execute();
    await press(server, url);
    assert.equal((await sealConsents(server.service)).sealed, 0);
    await db.updateTable('outbox').set({ state: 'sent' }).execute();
    await server.advance(61);
    await becomeLead(server, EMAIL, 2);
    await server.advance(1);
    await press(server, url);
    assert.equal((await sealConsents(server.service)).sealed, 4);
    const entries = await db.selectFrom('consent_chain').select('kind').orderBy('position').execute();
    assert.deepEqual(valuesOf(entries, 'kind'), ['consent', 'withdrawal', 'consent', 'withdrawal']);
  });

  both('a withdrawal is in timeline and proof, and its suppression outlasts an erasure', async (server) => {
    const { db } = server.database;
    const url = pathOf(server, (await becomeLead(server, EMAIL)).leadId);
    await server.advance(61);
    await press(server, url);
    assert.equal((await sealConsents(server.service)).sealed, 2);
    const { out } = await desk(server.service, ['show', EMAIL]);
    assert.match(out, /withdrew the consent/);
    assert.match(out, /was suppressed/);
    const proof = await exportProof(server, EMAIL);
    assert.deepEqual(
      proof.entries.map(({ kind, content }) => [kind, content['email'], content['way']]),
      [
        ['consent', EMAIL, undefined],
        ['withdrawal', EMAIL, 'one-click'],
      ],
    );
    assert.match(proof.page, /Agreed on [^]+Withdrawn on [^]+the unsubscribe button of a mail program/);
    await succeeded(desk(server.service, ['erase', EMAIL, '--yes']));
    const { entries, erased, errors } = await verifyChain(db, {
      secrets: server.service.secrets,
      now: server.now(),
    });
    assert.deepEqual([entries, erased, errors], [4, 2, []]);
    const left = await db.selectFrom('suppressions').selectAll().execute();
    assert.deepEqual(left.map(({ reason }) => reason).toSorted(), ['erased', 'unsubscribed']);
    for (const { email, note } of left) assert.deepEqual([email, note], [null, null]);
  });
});
