import assert from 'node:assert/strict';

import { consentVersion } from '#server/campaign/campaign.ts';
import { createDigestQueuer } from '#server/housekeeping/lead-digests.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { codeIn, smtpError } from '#testing/inbox.ts';
import { adding } from '#testing/campaign-copy.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { erasePerson } from '#testing/erase-person.ts';
import { askAndReceive, askForCode, enter } from '#testing/lead-calls.ts';
import { refuseWrites } from '#testing/refuse-writes.ts';
import { seePage } from '#testing/see-page.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

const OPERATOR = 'you@example.com';
const OPERATORS = `${OPERATOR}, ada@example.org`;
const PAGE = { OPERATOR_EMAIL: OPERATOR, PUBLIC_URL: 'https://guide.example.com' };
const DESK = { DESK_URL: 'https://desk.example.com', DESK_PEOPLE: OPERATOR, TRUST_PROXY: '1' };
const EACH = { ...PAGE, NEW_LEAD_EMAIL: 'each', FREE_MAIL: 'flag' };
const DAILY = { ...PAGE, NEW_LEAD_EMAIL: 'daily' };

const NEWS = { 'consent.yaml': adding('newsConsent: Send me news.\n') };
const AGREES_TO_NEWS = { newsConsentVersion: consentVersion('Send me news.') };
const FROM_SPRING = { [VISIT_HEADER]: 'last=utm_source%3Dnewsletter%26utm_campaign%3Dspring' };

const rowsOf = async ({ database }: ServerUnderTest, kind: string) =>
  database.db.selectFrom('outbox').selectAll().where('kind', '=', kind).execute();

const newsOf = ({ database, config, service }: ServerUnderTest) =>
  createDigestQueuer({ database, config, clock: service.clock });

onEachEngine('mail about each new lead', { env: EACH, campaign: NEWS }, ({ test, both }) => {
  both('the operator immediately gets one mail per new lead, without the code', async (server) => {
    const email = 'ada@gmail.com';
    const { code } = await becomeLead(server, email, 1, {
      form: { ...AGREES_TO_NEWS, name: 'Ada <b> & Co', company: 'Engines "1"' },
      headers: FROM_SPRING,
      // An e-mail address that is only typed is not reported.
      beforeCode: async () => assert.deepEqual(await rowsOf(server, 'new-lead'), []),
    });
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    const { text = '', html = '' } = parsed;
    assert.equal(parsed.subject, 'New lead: Ada <b> & Co, Engines "1"');
    assert.deepEqual(parsed.replyTo, [{ name: '', address: email }]);
    assert.equal(
      text.trimEnd(),
      [
        'Ada <b> & Co, Engines "1"',
        '',
        'ada@gmail.com',
        '',
        'A visitor entered their code. Your reply goes to them.',
        '',
        'Source    newsletter',
        'Campaign  spring',
        'Verified  November 20, 2026 at 12:00 PM UTC',
        'Remarks   free mail provider, agreed to get news',
        '',
        '-- ',
        'You get this email from guide.example.com because you asked for one email per lead (NEW_LEAD_EMAIL).',
      ].join('\n'),
    );
    assert.match(html, /<h1 [^>]*>Ada &lt;b&gt; &amp; Co, Engines &quot;1&quot;<\/h1>/);
    assert.match(html, /<a href="mailto:ada@gmail\.com"/);
    assert.ok(!`${parsed.subject}${text}${html}`.includes(codeIn(code)));
    const [row] = await rowsOf(server, 'new-lead');
    assert.doesNotMatch(row?.payload ?? '', /Ada|gmail|Engines/, 'the outbox does not know them');

    await server.advance(3_600);
    await becomeLead(server, email, 2);
    assert.equal((await rowsOf(server, 'new-lead')).length, 1, 'who comes again is not new');
  });

  test("the operator's mail about a lead links to its page in the desk", { env: DESK }, async (server) => {
    const { leadId } = await becomeLead(server, 'ada@bücher.example');
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    const url = `https://desk.example.com/person?id=${leadId}`;
    assert.ok(parsed.text?.includes(`\n\nOpen in the desk:\n${url}\n\n`));
    assert.ok(parsed.html?.includes(`<a href="${url}"`));
    assert.deepEqual(parsed.replyTo, [{ name: '', address: 'ada@xn--bcher-kva.example' }]);
  });

  test("the operator's mail about a lead keeps joiners in the campaign's name", async (server) => {
    const campaign = 'می\u200Cنو 👩\u200D💻';
    const touch = encodeURIComponent(new URLSearchParams({ utm_campaign: campaign }).toString());
    await becomeLead(server, 'ada@example.com', 1, { headers: { [VISIT_HEADER]: `last=${touch}` } });
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    assert.ok(parsed.text?.includes(`\nCampaign  ${campaign}\n`), parsed.text);
  });

  test(
    'several operators each get a separate mail, even if one e-mail address is refused',
    { env: { OPERATOR_EMAIL: `gone@example.com, ${OPERATOR}, ada@example.org` } },
    async (server) => {
      server.inbox.behave({
        onRecipient: (address) => (address === 'gone@example.com' ? smtpError(550, 'No such user') : null),
      });
      await becomeLead(server, 'ada@example.com');
      for (const address of [OPERATOR, 'ada@example.org']) {
        const { parsed } = await server.inbox.waitForMail(address);
        assert.deepEqual(parsed.to, [{ name: '', address }], 'the others are not shown');
      }
      await until(async () => (await rowsOf(server, 'new-lead')).every(({ state }) => state !== 'queued'));
      const states = (await rowsOf(server, 'new-lead')).map((row) => `${row.recipient} ${row.state}`);
      assert.deepEqual(states.toSorted(), [
        'ada@example.org sent',
        'gone@example.com failed',
        `${OPERATOR} sent`,
      ]);
    },
  );

  both("a lead is stored only if the operator's mail about it can be queued", async (server) => {
    await refuseWrites(server.database, 'insert on outbox', "new.kind = 'new-lead'");
    const { visitor, code } = await askForCode(server);
    assert.equal((await enter(visitor, code)).statusCode, 500);
    assert.equal(await server.countRows('leads'), 0);
  });

  test('the operator gets no mail about a lead erased before it is sent', async (server) => {
    server.inbox.behave({
      onRecipient: (address) => (address === OPERATOR ? smtpError(451, 'Later') : null),
    });
    await becomeLead(server, 'ada@example.com');
    await until(() => server.mailEvents.some(({ type }) => type === 'failed for now'));
    await erasePerson(server);
    await server.advance(60);
    server.wakeWorker();
    await until(async () => (await rowsOf(server, 'new-lead'))[0]?.state === 'dropped');
    assert.equal(server.inbox.mailsTo(OPERATOR).length, 0);
  });
});

onEachEngine('daily and weekly mail', { env: DAILY }, ({ test, both }) => {
  test('the operator gets no daily mail if all its leads are erased before it is sent', async (server) => {
    await becomeLead(server, 'ada@example.com');
    await server.advance(19 * 3_600);
    await newsOf(server)();
    await erasePerson(server);
    server.wakeWorker();
    await until(async () => (await rowsOf(server, 'digest'))[0]?.state === 'dropped');
    assert.equal(server.inbox.mailsTo(OPERATOR).length, 0);
  });

  both(
    'the operator gets a daily mail with stats and new leads at the configured time',
    { env: { OPERATOR_EMAIL: OPERATORS, NEW_LEAD_EMAIL_AT: '06:30' } },
    async (server) => {
      await becomeLead(server, 'early@example.com');
      await server.advance(86_400);
      for (const email of ['ada@example.com', 'grace@example.com']) await becomeLead(server, email);
      await askAndReceive(server, 'never@example.com');
      await seePage(server, 'newsletter', { times: 1_000 });
      const processes = [newsOf(server), newsOf(server)];
      const look = () => Promise.all(processes.map((news) => news()));
      await look();
      await look();
      server.wakeWorker();
      const first = await server.inbox.waitForMail(OPERATOR);
      assert.match(first.parsed.subject ?? '', /^1 new lead on November 20, 2026: /);
      await server.advance(18 * 3_600 + 29 * 60);
      await look();
      assert.equal((await rowsOf(server, 'digest')).length, 2, 'not before 06:30');
      await server.advance(60);
      await look();
      await look();
      await newsOf(server)();
      server.wakeWorker();
      const { parsed } = await server.inbox.waitForMail(OPERATOR, 2);
      const { text = '', html = '' } = parsed;
      assert.match(parsed.subject ?? '', /^2 new leads on November 21, 2026: /);
      assert.match(
        text,
        /^2 new leads\n\nNovember 21, 2026\. The day before: 1\.\n\n0\.2% of 1,000 views became leads\.$/m,
      );
      assert.match(text, /^All visitors\nPage seen +1,000$/m);
      assert.match(
        text,
        /^From the form on\nAsked for a code +3\nWere sent a code +3\nEntered the code +2$/m,
      );
      assert.match(text, /^Where the new leads came from\n\ndirect {2}2$/m);
      assert.match(text, /^Ada Lovelace, Analytical Engines\nada@example\.com\ndirect · /m);
      assert.match(html, /<table [^>]*width="67%"/);
      assert.doesNotMatch(text + html, /never@|early@/);
      const rows = await rowsOf(server, 'digest');
      assert.deepEqual(rows.map(({ recipient }) => recipient).toSorted(), [
        'ada@example.org',
        'ada@example.org',
        OPERATOR,
        OPERATOR,
      ]);
      for (const { payload } of rows) assert.doesNotMatch(payload, /@|Ada|Engines/);

      await server.advance(86_400);
      await look();
      assert.equal((await rowsOf(server, 'digest')).length, 4, 'a day without new leads is left out');
    },
  );

  test(
    'the daily mail shows days and times in TIME_ZONE, campaigns and news consents',
    { env: { NEW_LEAD_EMAIL_AT: '06:30', TIME_ZONE: 'Europe/Berlin' }, campaign: NEWS },
    async (server) => {
      await becomeLead(server, 'early@example.com');
      // In UTC, it is still 20 November.
      await server.advance(11.5 * 3_600);
      await becomeLead(server, 'ada@example.com', 1, { form: AGREES_TO_NEWS, headers: FROM_SPRING });
      const news = newsOf(server);
      await server.advance(30 * 3_600 - 60);
      await news();
      const before = await rowsOf(server, 'digest');
      await server.advance(60);
      await news();
      assert.equal((await rowsOf(server, 'digest')).length - before.length, 1, 'at 06:30 in Berlin');
      server.wakeWorker();
      const { parsed } = await server.inbox.waitForMail(OPERATOR, before.length + 1);
      assert.match(parsed.subject ?? '', /^1 new lead on November 21, 2026: /);
      assert.match(
        parsed.text ?? '',
        /^ada@example\.com\nnewsletter · spring · 12:30\sAM GMT\+1 · agreed to get news$/m,
      );
      assert.match(parsed.text ?? '', /^Days are in Europe\/Berlin\. /m);
      assert.doesNotMatch(parsed.text ?? '', /early@/);
    },
  );

  both(
    'the operator gets a weekly mail on Monday that compares two weeks',
    { env: { NEW_LEAD_EMAIL: 'weekly' } },
    async (server) => {
      const news = newsOf(server);
      await becomeLead(server, 'early@example.com');
      await server.advance(2 * 86_400);
      await seePage(server, 'newsletter', { times: 5 });
      await news();
      assert.deepEqual(await rowsOf(server, 'digest'), [], 'the week is not over on Sunday');
      await server.advance(12 * 3_600 + 6 * 3_600);
      await news();
      assert.deepEqual(await rowsOf(server, 'digest'), [], 'not before 07:00 on Monday');
      await server.advance(3_600);
      for (let look = 0; look < 3; look += 1) await news();
      server.wakeWorker();
      const first = await server.inbox.waitForMail(OPERATOR);
      assert.match(first.parsed.subject ?? '', /^1 new lead in the week of November 16\s–\s22, 2026: /);
      // Views are unknown before Sunday, but the lead came on Friday.
      assert.doesNotMatch(first.parsed.text ?? '', /views|Page seen|Read /);

      for (const email of ['ada@example.com', 'grace@example.com']) await becomeLead(server, email);
      await server.advance(7 * 86_400);
      await Promise.all([newsOf(server)(), newsOf(server)()]);
      server.wakeWorker();
      const { text = '', html = '' } = (await server.inbox.waitForMail(OPERATOR, 2)).parsed;
      assert.match(text, /^2 new leads\n\nNovember 23\s–\s29, 2026\. The week before: 1\.$/m);
      assert.match(text, /^Ada Lovelace, Analytical Engines\nada@example\.com\ndirect · /m);
      assert.doesNotMatch(text + html, /early@/);
      assert.equal((await rowsOf(server, 'digest')).length, 2);
    },
  );

  for (const [zone, waits] of [
    ['UTC', Array.from({ length: 9 }, () => 24)],
    // From Friday, 20 November, to Wednesday, 25 November, 03:00 UTC: nine days and three hours after the week began in UTC.
    ['America/Los_Angeles', [3 * 24 + 4, 35]],
  ] as const)
    both(
      `the operator gets a weekly mail once in ${zone}, even if the server restarts after it was deleted`,
      { env: { NEW_LEAD_EMAIL: 'weekly', MAIL_RETENTION_DAYS: '9', TIME_ZONE: zone } },
      async (server) => {
        await becomeLead(server, 'ada@example.com');
        for (const hours of waits) {
          await server.advance(hours * 3_600);
          await newsOf(server)();
          server.wakeWorker();
          await until(async () => (await rowsOf(server, 'digest')).every(({ state }) => state !== 'queued'));
          await housekeeperOf(server).runHousekeeping();
          await newsOf(server)();
        }
        assert.deepEqual(await rowsOf(server, 'digest'), [], 'nothing says any longer that it was mailed');
        assert.equal(server.inbox.mailsTo(OPERATOR).length, 1);
      },
    );
});
