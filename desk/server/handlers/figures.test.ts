import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { REPORT_FILE_PATH } from '#desk/endpoints/figures.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { deskClient } from '#testing/desk-handlers.ts';
import { withDnsServer } from '#testing/dns-server.ts';
import { refuseByName as inbox } from '#testing/inbox.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { askFrom } from '#testing/lead-calls.ts';
import { until } from '#testing/until.ts';
import { becomeLead as becomeLeadOfWebhooks, withWebhook } from '#testing/webhook-leads.ts';
import { refuse } from '#testing/webhook-receiver.ts';

const asks = (server: ServerUnderTest, email: string) => askFrom(server, '198.51.100.7', email);

onEachEngine('overview, lists and report of the desk', ({ both: test, engine }) => {
  test('the overview compares today with yesterday up to the same time', { inbox }, async (server) => {
    const { ask, warmUp } = deskClient(server.service);
    const empty = (await ask('today'))!;
    assert.deepEqual(
      empty.toDo.map(({ page, sentence }) => [page, sentence.replace(/\d+/, 'N')]),
      [
        [
          '/doctor',
          'The site still has the sample’s words, figures or pictures in N places. Replace them before you invite visitors.',
        ],
      ],
    );
    await becomeLead(server, 'ada@example.com');
    await asks(server, 'eve@example.com');
    await server.advance(23 * 3_600);
    await becomeLead(server, 'gus@example.com');
    await asks(server, 'refused@example.com');
    await until(() => server.mailEvents.some(({ type }) => type === 'refused'));
    await asks(server, 'deferred@example.com');
    await until(() => server.mailEvents.some(({ type }) => type === 'failed for now'));
    await warmUp();
    await becomeLead(server, 'zoe@example.com');
    const { spans, byDay, newest } = (await ask('today'))!;
    assert.deepEqual(
      spans.map(({ span, now, before }) => [span, now.leads, now.asked, before.leads, before.asked]),
      [
        ['day', 2, 4, 0, 0],
        ['week', 3, 6, 0, 0],
        ['month', 3, 6, 0, null],
      ],
    );
    assert.equal(byDay.length, 30);
    assert.deepEqual(byDay.slice(-2), [
      { day: '2026-11-20', leads: 1 },
      { day: '2026-11-21', leads: 2 },
    ]);
    assert.deepEqual(
      newest.map(({ name, since }) => [name, since]),
      [
        ['Ada Lovelace', '2026-11-21T11:00:00.000Z'],
        ['Ada Lovelace', '2026-11-21T11:00:00.000Z'],
        ['Ada Lovelace', '2026-11-20T12:00:00.000Z'],
      ],
    );
    // Ends before the code expires, because the worker then drops its mail.
    await server.advance(7 * 60);
    const toDo = (await ask('today'))!.toDo.map(({ sentence }) => sentence).join('\n');
    assert.match(toDo, /1 e-mail is queued, the oldest since 2026-11-21 11:00 \(UTC\)/);
    assert.match(toDo, /1 e-mail was permanently refused in the last day/);
    const mail = (await ask('mail'))!;
    assert.deepEqual(
      mail.waiting.map(({ domain, count, putOff }) => [domain, count, putOff]),
      [['example.com', 1, 1]],
    );
    assert.equal(mail.refused.length, 1);
    assert.match(mail.refused[0]!.reply, /5\.1\.1 …: No such user here/);
    assert.ok(!JSON.stringify(mail).includes('refused@'), 'no address');
    assert.deepEqual([mail.refused[0]?.domain, mail.refused[0]?.count], ['example.com', 1]);
    assert.equal(mail.isWritable, true);
  });

  test('the overview calls views unknown if leads came before the first view or without any', async (server) => {
    await becomeLead(server, 'ada@example.com');
    await server.advance(5 * 24 * 3_600);
    const day = Math.floor(server.now() / DAY_MS);
    await server.database.db
      .insertInto('funnel_counts')
      .values({ day, step: 'seen', source: 'direct', count: 4 })
      .execute();
    const { ask } = deskClient(server.service);
    const seenAndLeads = async () =>
      (await ask('today'))!.spans.map(({ now: { seen, leads } }) => `${seen} ${leads}`);
    assert.deepEqual(await seenAndLeads(), ['4 0', 'null 1', 'null 1']);
    await server.advance(27 * 24 * 3_600);
    await becomeLead(server, 'eve@example.com');
    assert.deepEqual(await seenAndLeads(), ['null 1', 'null 1', '4 1']);
  });

  test('the report in the desk equals the report file and is cached for a minute', async (server) => {
    const { ask, file, noted } = deskClient(server.service);
    await becomeLead(server, 'ada@example.com', 1, {
      headers: { [VISIT_HEADER]: 'last=utm_source%3Dnewsletter%26utm_campaign%3Dspring' },
    });
    const report = (await ask('report'))!;
    const leadsOf = async (asked = {}) =>
      /<dt>New leads<\/dt><dd class="report-value">(\d+)</.exec((await ask('report', asked))!.html)?.[1];
    assert.equal(report.title, 'Leads, 22 October to 20 November 2026');
    assert.deepEqual(report.campaigns, ['spring']);
    assert.doesNotMatch(report.html, /<style|<script| style=| on\w+=/);

    await becomeLead(server, 'eve@example.com');
    assert.equal(await leadsOf(), '1', 'kept');
    await server.advance(61);
    assert.equal(await leadsOf(), '2');
    assert.equal(await leadsOf({ source: 'newsletter' }), '1');

    const page = (await file(REPORT_FILE_PATH, { period: '7d' }))!;
    assert.equal(page.fileName, 'report-7d.html');
    assert.equal(page.styles?.length, 1);
    assert.doesNotMatch(page.text, / style=/);
    assert.ok(page.text.includes((await ask('report', { period: '7d' }))!.html));
    assert.deepEqual(await noted(), [{ action: 'downloaded-report', about: null, details: '7d' }]);
  });

  test('the report of yesterday changes at midnight, even if it is cached', async (server) => {
    const { ask } = deskClient(server.service);
    const titleOf = async () => (await ask('report', { period: 'yesterday' }))!.title;
    await server.advance(12 * 3_600 - 10);
    assert.equal(await titleOf(), 'Leads, 19 November 2026');
    await server.advance(20);
    assert.equal(await titleOf(), 'Leads, 20 November 2026');
  });

  it('the report is mailed to a desk user, and to nobody else', () =>
    withServer(
      { engine, env: { DESK_URL: 'http://desk.localhost:3001', DESK_PEOPLE: 'bob@example.com' } },
      async (server) => {
        const { ask, noted } = deskClient(server.service);
        assert.deepEqual(await ask('reportReaders'), { emails: ['bob@example.com'] });
        await becomeLead(server, 'ada@example.com');
        await ask('sendReport', { period: '7d', to: 'bob@example.com' });
        server.wakeWorker();
        const { parsed } = await server.inbox.waitForMail('bob@example.com');
        assert.match(parsed.subject ?? '', /: Leads, 14 November to 20 November 2026$/);
        assert.match(parsed.text ?? '', /^New leads: 1\. 0 in the 7 days before\.$/m);
        assert.equal(parsed.attachments[0]?.filename, 'report-7d.html');
        const content = new Uint8Array(parsed.attachments[0]?.content as ArrayBuffer);
        assert.match(new TextDecoder().decode(content), /<h2 id="report-1">Funnel<\/h2>/);
        await assert.rejects(
          ask('sendReport', { period: '7d', to: 'ada@example.com' }),
          /ada@example\.com is not a desk user\. Add the address to DESK_PEOPLE/,
        );
        assert.deepEqual(await noted(), [{ action: 'sent-report', about: 'bob@example.com', details: '7d' }]);
      },
    ));

  it('the list of webhook events shows only the host and can retry dead events', () =>
    withWebhook({ engine }, async (server, receiver) => {
      receiver.respondWith(refuse);
      const { ask, noted } = deskClient(server.service);
      await becomeLeadOfWebhooks(server);
      await until(async () => server.webhookOutcomes.length >= 1 && (await ask('webhooks'))!.queued === 2);
      const waiting = (await ask('webhooks'))!;
      assert.deepEqual([waiting.queued, waiting.dead], [2, 0]);
      assert.deepEqual(waiting.events.map(({ type, state, to }) => [type, state, to]).toSorted(), [
        ['lead.read', 'queued', new URL(receiver.url).host],
        ['lead.verified', 'queued', new URL(receiver.url).host],
      ]);
      assert.ok(!JSON.stringify(waiting).includes(receiver.url));
      await server.database.db
        .updateTable('webhook_events')
        .set({ state: 'dead', finished_at: server.now() })
        .execute();
      const [first] = (await ask('today'))!.toDo;
      assert.match(`${first?.page}: ${first?.sentence}`, /^\/mail: 2 webhook events were given up\. Fix/);
      const dead = (await ask('webhooks'))!;
      assert.deepEqual([dead.queued, dead.dead, dead.events[0]?.due_at], [0, 2, null]);
      assert.deepEqual(await ask('retryWebhooks', { ids: [] }), { revived: 0 });
      assert.deepEqual(await ask('retryWebhooks', { ids: [dead.events[0]!.id] }), { revived: 1 });
      assert.deepEqual(await ask('retryWebhooks', { ids: null }), { revived: 1 });
      assert.deepEqual(await noted(), [
        { action: 'viewed', about: null, details: 'list: newest leads' },
        { action: 'retried-webhooks', about: null, details: '1 event' },
        { action: 'retried-webhooks', about: null, details: '1 event' },
      ]);
    }));

  test('suppressions are listed page by page, without the e-mail addresses of erased people', async (server) => {
    const { ask } = deskClient(server.service);
    const listed = Array.from({ length: 150 }, (_, at) => ({
      address_key: `key-${at}`,
      ...(at % 2 === 0
        ? { reason: 'by-hand' as const, email: `past-${at}@example.com` }
        : { reason: 'erased' as const, email: null }),
      note: null,
      created_at: server.now() - (at % 7) * 1_000,
    }));
    await server.database.db.insertInto('suppressions').values(listed).execute();
    await asks(server, 'past-0@example.com');
    await becomeLead(server, 'past-2@example.com');
    const first = (await ask('suppressions'))!;
    const second = (await ask('suppressions', { after: first.next }))!;
    assert.deepEqual([first.suppressions.length, second.suppressions.length, second.next], [100, 50, null]);
    const all = [...first.suppressions, ...second.suppressions];
    assert.equal(new Set(all.flatMap(({ email }) => email ?? [])).size, 75);
    assert.ok(all.every(({ since }, at) => at === 0 || since <= all[at - 1]!.since));
    const led = all.filter(({ id }) => id !== null);
    assert.deepEqual(led.map(({ email }) => email).toSorted(), ['past-0@example.com', 'past-2@example.com']);
    for (const { id, email } of led)
      assert.equal((await ask('personDetails', { id: id! }))?.person.email, email);
    await assert.rejects(ask('suppressions', { after: '1; drop table' }), /start at the top/);
  });
});

it('parallel requests share one doctor run, whose problems appear on the overview', () =>
  withDnsServer({ 'example.com': { TXT: [] } }, ({ address }) =>
    withServer({ engine: 'sqlite' }, async (server) => {
      const service = { ...server.service, warnings: ['campaign/site.yaml:15: publisher: this is odd.'] };
      const { ask } = deskClient(service, { dnsServers: [address] });
      const [, warned] = (await ask('today'))!.toDo;
      const place = 'campaign/site.yaml:15';
      assert.deepEqual(warned, {
        state: 'warning',
        sentence: 'publisher: this is odd.',
        page: '/doctor',
        place,
      });
      const [one, other] = await Promise.all([ask('doctor'), ask('doctor')]);
      assert.deepEqual(one, other);
      assert.ok(one!.findings.some(({ check, state }) => check === 'words' && state === 'ok'));
      const problems = one!.findings.filter(({ state }) => state === 'problem');
      assert.ok(problems.length > 0);
      await server.advance(60);
      assert.equal((await ask('doctor'))?.checkedAt, '2026-11-20T12:00:00.000Z');
      assert.equal((await ask('doctor', { again: 'yes' }))?.checkedAt, '2026-11-20T12:01:00.000Z');
      const { toDo } = (await ask('today'))!;
      assert.equal(toDo.filter(({ state }) => state === 'problem').length, problems.length);
    }),
  ));

it('the overview groups refused mail by the first words of the reply', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const rows = Array.from({ length: 500 }, (_, at) => ({
      id: uuid(),
      kind: 'code',
      payload: '{}',
      recipient: `ada@${at}.example`,
      recipient_domain: `${at}.example`,
      state: 'failed' as const,
      due_at: 0,
      turn_at: 0,
      created_at: server.now(),
      finished_at: server.now(),
      reply: `550 <ada@${at}.example>: ${'x'.repeat(10_000)}`,
    }));
    await server.database.db.insertInto('outbox').values(rows).execute();
    const { ask } = deskClient(server.service);
    const before = process.cpuUsage();
    const { refused } = (await ask('mail'))!;
    // An earlier regular expression with backtracking took more than ten seconds.
    assert.ok(process.cpuUsage(before).user < 2_000_000);
    assert.match(refused[0]!.reply, /^550 …: x{400,500}$/);
  }));

it('the desk warns that visitors get no code until a mail account is connected', () =>
  withServer({ engine: 'sqlite', env: { SMTP_URL: '', MAIL_FROM: '' } }, async (server) => {
    const { toDo } = (await deskClient(server.service).ask('today'))!;
    assert.equal(toDo[0]?.state, 'problem');
    assert.deepEqual(
      toDo.filter(({ state }) => state === 'problem').map(({ sentence }) => sentence),
      [
        'Visitors get no codes, because no mail account is set up. Set SMTP_URL and MAIL_FROM, and restart the site.',
      ],
    );
  }));

it("the desk warns about queued mail before its code expires, however short the code's lifetime", () =>
  withServer({ engine: 'sqlite', inbox, env: { CODE_TTL_SECONDS: '300' } }, async (server) => {
    const { ask } = deskClient(server.service);
    await asks(server, 'deferred@example.com');
    await until(() => server.mailEvents.some(({ type }) => type === 'failed for now'));
    await server.advance(4 * 60);
    const { toDo } = (await ask('today'))!;
    assert.match(JSON.stringify(toDo), /1 e-mail is queued/);
  }));
