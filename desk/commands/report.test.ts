import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { CommandFailure } from '#desk/command-failure.ts';
import { askedGroups } from '#server/db/queries/report-figures.ts';
import type { Report } from '#desk/report/report.ts';
import type { LostLeadRow } from '#desk/report/lost-leads.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { inFolder } from '#testing/folder.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { deskClient } from '#testing/desk-handlers.ts';
import { codeIn, refuseByName } from '#testing/inbox.ts';
import { ask as askWith } from '#testing/lead-calls.ts';
import { leadVerifiedAt } from '#testing/lead-row.ts';
import { seePage } from '#testing/see-page.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

const DAY_SECONDS = 86_400;
const EVIL = '<script>alert("1")</script>';

let networks = 0;

async function ask(server: ServerUnderTest, email: string, source?: string): Promise<Visitor> {
  networks += 1;
  const visitor = createVisitor(server, `10.${networks >> 8}.${networks & 255}.1`);
  await askAgain(visitor, email, source);
  return visitor;
}

async function askAgain(visitor: Visitor, email: string, source?: string): Promise<void> {
  const referer = `http://localhost/${source === undefined ? '' : `?utm_source=${encodeURIComponent(source)}`}`;
  const response = await askWith(visitor, { email, name: `Name of ${email}` }, { referer });
  assert.equal(response.statusCode, 202, response.body);
}

async function enter({ inbox: mails }: ServerUnderTest, visitor: Visitor, email: string, mail = 1) {
  const code = codeIn(await mails.waitForMail(email, mail));
  assert.equal((await visitor.post('/api/verify', { email, code })).statusCode, 200);
}

async function walkFlows(server: ServerUnderTest): Promise<void> {
  const old = await ask(server, 'old@example.com', 'newsletter');
  await enter(server, old, 'old@example.com');
  await server.advance(8 * DAY_SECONDS);

  await enter(server, await ask(server, 'old@example.com', 'newsletter'), 'old@example.com', 2);
  const ada = await ask(server, 'ada@gmail.com', 'newsletter');
  const eve = await ask(server, 'eve@outlook.com', 'newsletter');
  await server.advance(30);
  await enter(server, ada, 'ada@gmail.com');
  await server.advance(60);
  await enter(server, eve, 'eve@outlook.com');

  const wrong = await ask(server, 'wrong@gmail.com');
  const right = codeIn(await server.inbox.waitForMail('wrong@gmail.com'));
  const code = right === '000000' ? '000001' : '000000';
  assert.equal((await wrong.post('/api/verify', { email: 'wrong@gmail.com', code })).statusCode, 400);
  await ask(server, 'never@example.com');
  const twice = await ask(server, 'twice@example.com');
  await ask(server, 'refused@example.org', EVIL);
  await ask(server, 'deferred@example.net');
  await ask(server, 'evil@example.com', EVIL);
  await ask(server, 'leaky@example.com', 'leaky@example.com');
  await server.inbox.waitForMail('leaky@example.com');
  await until(() => server.mailEvents.some(({ type }) => type === 'failed for now'));
  await server.advance(DAY_SECONDS);
  server.wakeWorker();
  await until(() => server.mailEvents.some(({ type }) => type === 'dropped'));
  await askAgain(twice, 'twice@example.com');
  await server.inbox.waitForMail('twice@example.com', 2);
  await server.advance(3_600);
  await ask(server, 'open@icloud.com');
  await server.inbox.waitForMail('open@icloud.com');
  await server.advance(1);
}

const reportOf = async ({ service }: ServerUnderTest, ...args: readonly string[]): Promise<Report> => {
  const answer = await succeeded(desk(service, ['report', '--json', ...args]));
  return JSON.parse(answer.out) as Report;
};

const peopleOf = (funnel: Report['funnel']) =>
  funnel?.map((step) => ('people' in step ? step.people : step.times)) ?? [];

const textOf = async ({ service }: ServerUnderTest, period: string, ...args: readonly string[]) =>
  (await succeeded(desk(service, ['report', '--text', '--period', period, ...args]))).out;

const pageOf = ({ service }: ServerUnderTest, ...args: readonly string[]) =>
  inFolder(async (folder) => {
    const file = path.join(folder, 'report.html');
    const answer = await succeeded(desk(service, ['report', '--out', file, ...args]));
    assert.equal(answer.out, '');
    return readFileSync(file, 'utf8');
  });

const lostOf = async ({ service }: ServerUnderTest, ...args: readonly string[]) => {
  const { out, notes } = await succeeded(desk(service, ['lost', '--json', ...args]));
  return { rows: JSON.parse(out) as LostLeadRow[], notes };
};

it('a report is written to its file even if the reader of its text stops early', () =>
  withServer({ engine: 'sqlite' }, ({ service }) =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'report.html');
      const print = () => Promise.reject(new CommandFailure('The reader is gone.'));
      const { exitCode } = await desk(service, ['report', '--text', '--out', file], { print });
      assert.equal(exitCode, 1);
      assert.match(readFileSync(file, 'utf8'), /<\/html>\s*$/);
    }),
  ));

onEachEngine('reports', { inbox: refuseByName }, ({ test, both, engine }) => {
  it('a week of visits appears in the report and among the lost leads', (part) =>
    withServer({ engine, inbox: refuseByName }, async (server) => {
      await walkFlows(server);

      await part.test(
        'the report counts each person once, and explains why codes were not entered',
        async () => {
          const report = await reportOf(server, '--period', '7d');
          assert.equal(report.leads, 2);
          assert.deepEqual(report.funnel, [
            { step: 'asked', people: 11 },
            { step: 'mailed', people: 9 },
            { step: 'entered', people: 3 },
          ]);
          assert.deepEqual(report.notEntered, [
            { status: 'not-tried', people: 4 },
            { status: 'open', people: 1 },
            { status: 'refused', people: 1 },
            { status: 'too-late', people: 1 },
            { status: 'wrong-attempts', people: 1 },
          ]);
          assert.deepEqual(
            report.byDay.filter(({ asked }) => asked > 0),
            [
              { day: '2026-11-28', days: 1, seen: null, asked: 10, entered: 3, leads: 2 },
              { day: '2026-11-29', days: 1, seen: null, asked: 1, entered: 0, leads: 0 },
            ],
          );
          assert.equal(report.byDay.length, 7);
          assert.deepEqual(report.bySource, [
            { name: 'direct', seen: null, asked: 5, entered: 0, leads: 0 },
            { name: 'newsletter', seen: null, asked: 3, entered: 3, leads: 2 },
            { name: EVIL, seen: null, asked: 2, entered: 0, leads: 0 },
            { name: 'others', seen: null, asked: 1, entered: 0, leads: 0 },
          ]);
          assert.deepEqual(report.byPlatform, [
            { name: 'other', asked: 7, entered: 1, leads: 0 },
            { name: 'Google', asked: 2, entered: 1, leads: 1 },
            { name: 'Microsoft', asked: 1, entered: 1, leads: 1 },
            { name: 'Apple', asked: 1, entered: 0, leads: 0 },
          ]);
          assert.partialDeepStrictEqual(report.timeToEnter, { people: 3, p50Seconds: 30, p95Seconds: 90 });
          assert.deepEqual(peopleOf(report.before.funnel), [1, 1, 1]);
          assert.deepEqual([report.codesFrom, report.mailFrom], [null, null]);

          const weeks = await reportOf(server, '--period', '2w');
          assert.deepEqual([weeks.leads, peopleOf(weeks.funnel)[0]], [3, 11], 'each address once');
          const month = await reportOf(server, '--period', '2026-11');
          assert.equal(month.leads, 3);
          const stopped = desk(server.service, ['report', '--text'], { signal: AbortSignal.abort() });
          await refused(stopped, '', 130);
        },
      );

      await part.test('the report has the same counts with any slice size', async () => {
        const count = async (atOnce?: number) => {
          const people = new Map<string, number>();
          const span = { from: server.now() - 20 * DAY_SECONDS * 1_000, to: server.now() };
          for await (const groups of askedGroups(
            server.database.db,
            { ...span, timeZone: 'UTC' },
            server.now(),
            atOnce,
          )) {
            for (const { people: some, ...group } of groups) {
              const key = Object.values(group).join(' ');
              people.set(key, (people.get(key) ?? 0) + some);
            }
          }
          return [...people].filter(([, some]) => some !== 0).toSorted();
        };
        const all = await count();
        assert.equal(
          all.reduce((sum, [, some]) => sum + some, 0),
          11,
        );
        assert.deepEqual(await count(1), all);
        assert.deepEqual(await count(4), all);
      });

      await part.test(
        'the report is a self-contained page without personal data, and shows untrusted input as text',
        async () => {
          const page = (await pageOf(server, '--period', '7d')).replace(/<style>.*?<\/style>/s, '');
          assert.match(page, /3 of 11 people who asked for a code entered it\./);
          assert.match(
            page,
            /Half of the people who entered a code did so within 30&nbsp;s after it was sent, and 95% within 1&nbsp;min 30&nbsp;s\./,
          );
          assert.match(page, /Most common of 8 people: Got the e-mail but never tried \(4\)\./);
          assert.match(page, /1 in the 7 days before\./);
          assert.doesNotMatch(page, /<script|<link|<img|https?:\/\//i);
          assert.match(page, /&lt;script&gt;alert/);
          const text = await textOf(server, '7d');
          assert.match(text, /3 of 11 people who asked for a code entered it\./);
          assert.match(text, /^ {2}newsletter +3 +3 +100% +2$/m);
          for (const written of [page, text, JSON.stringify(await reportOf(server))])
            assert.doesNotMatch(written, /@(?!media|page)|Ada|Name of|Analytical|No such user|10\.0\./);
        },
      );

      await part.test('lost leads are listed once, with the reply of their mail server', async () => {
        const { rows, notes } = await lostOf(server);
        assert.deepEqual(
          rows
            .map(({ email, reason, source, platform, codes, wrong_attempts: tries }) =>
              [email, reason, source, platform, codes, tries].join(' '),
            )
            .toSorted(),
          [
            'deferred@example.net too-late direct other 1 0',
            `evil@example.com not-tried ${EVIL} other 1 0`,
            'leaky@example.com not-tried leaky@example.com other 1 0',
            'never@example.com not-tried direct other 1 0',
            `refused@example.org refused ${EVIL} other 1 0`,
            'twice@example.com not-tried direct other 2 0',
            'wrong@gmail.com wrong-attempts direct Google 1 1',
          ],
        );
        assert.equal(rows.at(-1)?.email, 'twice@example.com', 'who asked last comes last');
        const refusal = rows.find(({ reason }) => reason === 'refused');
        assert.match(refusal?.reply ?? '', /^550 .*No such user here/);
        const late = rows.find(({ reason }) => reason === 'too-late');
        assert.deepEqual([late?.reply, late?.error_class], [null, '4xx']);
        assert.match(notes, /^7 lost leads\.$/m);
        assert.match(notes, /^Not included: 1 person who can still enter a code\.$/m);
        const listed = (await desk(server.service, ['lost'])).out;
        assert.match(
          listed,
          /^2026-11-28 12:01 +refused@example\.org .+Refused by the mail server: .*No such user here/m,
        );
        const [twice, ...others] = (await lostOf(server, '--since', '2026-11-29')).rows;
        assert.deepEqual([twice?.email, twice?.codes, others], ['twice@example.com', 1, []]);

        const { ask: askDesk } = deskClient(server.service);
        const { lost, open, next } = (await askDesk('lost', { from: '2026-11-28', to: '2026-11-29' }))!;
        assert.deepEqual(
          lost.toReversed().map(({ email, reply }) => [email, reply]),
          rows.map(({ email, reply }) => [email, reply]),
          'the desk begins with the newest',
        );
        assert.deepEqual([open, next], [1, null]);
        assert.equal(
          (await askDesk('personDetails', { id: lost[0]!.id }))?.person.email,
          'twice@example.com',
        );
        assert.deepEqual((await askDesk('lost', { from: '2026-11-27', to: '2026-11-27' }))?.lost, []);
      });

      await part.test('a lead is not lost, whenever they asked for a code', async () => {
        const never = await ask(server, 'never@example.com');
        await enter(server, never, 'never@example.com', 2);
        const { rows } = await lostOf(server, '--until', '2026-11-29');
        assert(rows.every(({ email }) => email !== 'never@example.com'));
      });

      await part.test('the report still counts an erased lead anonymously', async () => {
        await succeeded(desk(server.service, ['erase', 'ada@gmail.com', '--yes']));
        const erased = await reportOf(server, '--period', '7d');
        assert.deepEqual([erased.leads, peopleOf(erased.funnel)], [2, [11, 9, 4]]);
        assert.deepEqual(
          erased.bySource.find(({ name }) => name === 'no longer known'),
          { name: 'no longer known', seen: null, asked: 1, entered: 1, leads: 0 },
        );
      });
    }));

  both(
    'days are those of TIME_ZONE, also when the clocks change',
    { env: { TIME_ZONE: 'Europe/Berlin' } },
    async (server) => {
      const { database, service } = server;
      // In Berlin, 25 October lasts 25 hours.
      for (const [name, at] of [
        ['saturday', '2026-10-24T21:59:59.999Z'],
        ['sunday', '2026-10-24T22:00:00Z'],
        ['late', '2026-10-25T22:59:59.999Z'],
        ['monday', '2026-10-25T23:00:00Z'],
      ] as const)
        await database.db
          .insertInto('leads')
          .values(leadVerifiedAt(`${name}@example.com`, Date.parse(at)))
          .execute();
      const october = await reportOf(server, '--period', '2026-10');
      const days = october.byDay.filter(({ leads }) => leads > 0);
      assert.equal(
        days.map(({ day, leads }) => `${day}: ${leads}`).join(', '),
        '2026-10-24: 1, 2026-10-25: 2, 2026-10-26: 1',
      );
      assert.deepEqual(
        [october.timeZone, october.period.from, october.period.to],
        ['Europe/Berlin', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z'],
      );

      await seePage(server, 'newsletter', { times: 2 });
      // In UTC, it is still 20 November.
      await server.advance(11.5 * 3_600);
      await seePage(server, 'newsletter', { times: 3 });
      const ada = await ask(server, 'ada@example.com', 'newsletter');
      await enter(server, ada, 'ada@example.com');
      const week = await reportOf(server, '--period', 'this-week');
      assert.deepEqual(week.byDay.slice(-2), [
        { day: '2026-11-20', days: 1, seen: 2, asked: 0, entered: 0, leads: 0 },
        { day: '2026-11-21', days: 1, seen: 3, asked: 1, entered: 1, leads: 1 },
      ]);
      const text = await textOf(server, 'today');
      assert.match(text, /: 21 November 2026\n/);
      assert.match(text, /^Days are in Europe\/Berlin\. /m);
      for (const [options, people] of [
        [['--since', 'today'], 1],
        [['--since', 'yesterday', '--until', 'today'], 0],
        [['--since', '2026-10-25', '--until', '2026-10-26'], 2],
      ] as const) {
        const { out } = await desk(service, ['leads', '--json', ...options]);
        assert.equal((JSON.parse(out) as unknown[]).length, people, options.join(' '));
      }
      assert.match((await desk(service, ['leads'])).out, /^2026-10-25 23:59 +late@example\.com/m);
      const { ask: askDesk } = deskClient(service);
      const overview = (await askDesk('today'))!;
      assert.deepEqual(overview.byDay.at(-1), { day: '2026-11-21', leads: 1 });
      const sunday = (await askDesk('people', { from: '2026-10-25', to: '2026-10-25' }))!;
      assert.deepEqual(valuesOf(sunday.people, 'email'), ['late@example.com', 'sunday@example.com']);
    },
  );

  test(
    'the report compares the first hour of a day with the day before, which lacks this hour',
    { env: { TIME_ZONE: 'America/Santiago' } },
    async (server) => {
      // At 00:30. On 5 September, the clocks went from 00:00 to 01:00.
      await server.advance((Date.UTC(2027, 8, 6, 3, 30) - server.now()) / 1000);
      assert.match(await textOf(server, 'today'), /^ {2}Asked for a code +0 +0 in the same part of the day/m);
    },
  );

  both("the report's funnel runs from page view to article once these steps are counted", async (server) => {
    await ask(server, 'early@example.com', 'newsletter');
    await server.advance(3 * DAY_SECONDS);
    await seePage(server, 'newsletter', {
      times: 4,
      steps: ['opened', 'quarter', 'half', 'three-quarters', 'whole'],
    });
    await seePage(server, 'banner', { times: 7 });
    await seePage(server, 'leaky@example.com', { steps: ['opened'] });
    await enter(server, await ask(server, 'ada@gmail.com', 'newsletter'), 'ada@gmail.com');

    const whole = await reportOf(server, '--period', '2d');
    assert.deepEqual(whole.funnel, [
      { step: 'seen', times: 12 },
      { step: 'opened', times: 2 },
      { step: 'asked', people: 1 },
      { step: 'mailed', people: 1 },
      { step: 'entered', people: 1 },
      { step: 'quarter', times: 1 },
      { step: 'half', times: 1 },
      { step: 'three-quarters', times: 1 },
      { step: 'whole', times: 1 },
    ]);
    assert.deepEqual(whole.bySource, [
      { name: 'newsletter', seen: 4, asked: 1, entered: 1, leads: 1 },
      { name: 'banner', seen: 7, asked: 0, entered: 0, leads: 0 },
      { name: 'others', seen: 1, asked: 0, entered: 0, leads: 0 },
    ]);
    assert.deepEqual(valuesOf(whole.byDay, 'seen'), [null, 12], 'from the first day that was counted');
    assert.deepEqual([whole.viewsFrom, peopleOf(whole.before.funnel)], [null, [1, 1, 0]]);
    const text = await textOf(server, '2d');
    assert.match(text, /^ {2}Views that became leads +8\.3% +1 new lead, 12 views\.$/m);
    assert.match(text, /The page was seen 12 times\. 1 of 1 person who asked for a code entered it\./);
    assert.match(text, /^ {2}Form opened +2 +17% +17%$/m);
    assert.match(text, /^ {2}Asked for a code +1 +8% +50%$/m);
    assert.match(text, /^ {2}Read to the end +1 +8% +100%$/m);
    assert.match(text, /^ {2}banner +7 +0 +0 +– +0 +0\.0%$/m);
    assert.match(text, /Robots and visitors whose browser asks not to be counted are not included\./);

    // The days of 15 weeks are shown by week, and the views begin within one.
    for (const period of ['7d', '15w'])
      assert.equal(
        (await reportOf(server, '--period', period)).viewsFrom,
        '2026-11-23T00:00:00.000Z',
        period,
      );
    const partText = await textOf(server, '7d');
    const reason = /only known from 23 November 2026 on, because .* not counted or are no longer stored\./;
    for (const shown of [partText, await pageOf(server, '--period', '7d')]) assert.match(shown, reason);
    assert.match(partText, /^ {2}Asked for a code +2 +100% +–$/m);
    assert.doesNotMatch(partText, /The page was seen/);

    await server.advance(60 * DAY_SECONDS);
    const past = await reportOf(server, '--period', '2026-11');
    assert.deepEqual(peopleOf(past.funnel), [12, 2, 1, 1, 1, 1]);
    const pastText = await textOf(server, '2026-11');
    assert.match(pastText, /^ {2}Page seen +12 +100% +–$/m);

    // Nothing is counted any more, as after FUNNEL_COUNTING=off.
    await ask(server, 'late@example.com', 'newsletter');
    const uncounted = await textOf(server, 'today');
    assert.match(uncounted, /^ {2}Asked for a code +1 +100% +–$/m);
    assert.doesNotMatch(uncounted, /^ {2}Page seen|^ {2}Read /m);
  });

  both('the report can be limited to a known source or campaign', async (server) => {
    await walkFlows(server);
    const visitor = createVisitor(server, '10.250.0.1');
    const referer = 'http://localhost/?utm_source=newsletter&utm_campaign=spring';
    await askWith(visitor, { email: 'may@gmail.com' }, { referer });
    await seePage(server, 'newsletter', { times: 4, steps: ['opened'] });
    await seePage(server, 'banner', { times: 7 });
    await enter(server, visitor, 'may@gmail.com');

    const newsletter = await reportOf(server, '--period', '7d', '--source', 'newsletter');
    assert.deepEqual(newsletter.only, { source: 'newsletter' });
    assert.deepEqual(newsletter.funnel?.slice(0, 5), [
      { step: 'seen', times: 4 },
      { step: 'opened', times: 1 },
      { step: 'asked', people: 4 },
      { step: 'mailed', people: 4 },
      { step: 'entered', people: 4 },
    ]);
    assert.deepEqual([newsletter.leads, newsletter.notEntered], [3, []]);
    assert.deepEqual(valuesOf(newsletter.bySource, 'name'), ['newsletter']);
    assert.equal(peopleOf(newsletter.before.funnel)[0], 1);
    const ofBoth = ['--campaign', 'spring', '--source', 'newsletter'];
    const spring = await reportOf(server, '--period', '7d', ...ofBoth);
    assert.deepEqual(spring.funnel, [
      { step: 'asked', people: 1 },
      { step: 'mailed', people: 1 },
      { step: 'entered', people: 1 },
    ]);
    const out = await textOf(server, '7d', '--campaign', 'spring');
    assert.match(out, /November 2026, campaign spring$/m);
    assert.match(out, /left out/);
    assert.equal((await reportOf(server, '--source', 'banner')).leads, 0);
    for (const [option, name, sentence] of [
      ['--source', 'newsleter', /Nobody came from “newsleter”\. Known sources: newsletter, /],
      ['--campaign', 'sprng', /Nobody came from “sprng”\. Known campaigns: spring\./],
    ] as const) {
      const notes = await refused(desk(server.service, ['report', '--json', option, name]), sentence, 2);
      assert.doesNotMatch(notes, /@/);
    }
  });

  test(
    'the report and the lost leads say which data was deleted',
    { env: { RETENTION_DAYS: '9' } },
    async (server) => {
      await walkFlows(server);
      const report = await reportOf(server, '--period', '2026-11');
      assert.equal(report.leads, 3, 'leads are kept');
      assert.equal(report.codesFrom, '2026-11-21T00:00:00.000Z');
      assert.equal(peopleOf(report.funnel)[0], 11);
      assert.equal(report.before.funnel, null);
      const text = await textOf(server, '2026-11');
      assert.match(text, /known from 21 November 2026 on, because earlier requests are no longer stored/);
      const deleted = /^Requests from before 2026-11-20 13:01 are no longer stored \(RETENTION_DAYS\)\.$/m;
      assert.match((await lostOf(server, '--since', '2026-11-01')).notes, deleted);
      assert.doesNotMatch((await lostOf(server, '--since', '9d')).notes, deleted);
      const { ask: askDesk } = deskClient(server.service);
      const { note } = (await askDesk('lost', { from: '2026-11-01', to: '2026-11-29' }))!;
      assert.match(note ?? '', deleted);
      await server.advance(60 * DAY_SECONDS);
      const past = await reportOf(server, '--period', '2026-11');
      assert.deepEqual([past.leads, past.funnel], [3, null]);
      assert.match(await textOf(server, '2026-11'), /Codes from this period are no longer stored/);
    },
  );
});

onEachEngine('report contents', ({ test }) => {
  test('the report of an empty period says that nothing happened', async (server) => {
    assert.match(await pageOf(server), /Nobody asked for a code\./);
    const text = await textOf(server, '30d');
    assert.match(text, /No new leads in this period\./);
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
  });

  test('the report counts a person with two requests once, by the last outcome', async (server) => {
    await ask(server, 'ada@example.com', 'newsletter');
    await server.inbox.waitForMail('ada@example.com');
    await server.advance(3_600);
    await enter(server, await ask(server, 'ada@example.com', 'webinar'), 'ada@example.com', 2);
    const { notEntered, bySource, byPlatform } = await reportOf(server);
    assert.deepEqual(notEntered, []);
    // Requests count for their first source, leads for the form whose code was entered.
    assert.deepEqual(bySource, [
      { name: 'newsletter', seen: null, asked: 1, entered: 1, leads: 0 },
      { name: 'webinar', seen: null, asked: 0, entered: 0, leads: 1 },
    ]);
    assert.deepEqual(byPlatform, [{ name: 'other', asked: 1, entered: 1, leads: 1 }]);
  });

  test('the report as text stays aligned after Japanese letters', async (server) => {
    await ask(server, 'ada@example.com', '東京ニュース');
    await ask(server, 'eve@example.com', 'webinar');
    const text = await textOf(server, '7d');
    assert.match(text, /^ {2}Source {8}Asked .*\n {2}webinar {11}1 .*\n {2}東京ニュース {6}1 /m);
  });

  test('the report on a long campaign leaves out campaigns whose names begin alike', async (server) => {
    const names = ['carousel', 'carousel-2', 'video'].map(
      (end) => `2026-q4_de_linkedin_awareness_retargeting_${end}`,
    );
    for (const [at, utm_campaign] of names.entries())
      await server.database.db
        .insertInto('leads')
        .values({
          ...leadVerifiedAt(`p${at}@example.com`, server.now() - 1),
          attribution: JSON.stringify({ utm_campaign }),
        })
        .execute();
    const shown = '2026-q4_de_linkedin_awareness_retargeti…';
    for (const [campaign, leads] of [...names.map((name) => [name, 1] as const), [shown, 3]] as const) {
      const report = await reportOf(server, '--campaign', campaign);
      assert.deepEqual([report.leads, report.only], [leads, { campaign: shown }], campaign);
    }
  });

  test('the report shows the twelve largest sources and groups all others', async (server) => {
    const long = 's'.repeat(60);
    for (let index = 0; index < 14; index += 1) {
      await ask(server, `p${index}@example.com`, `${index % 2 ? 'odd\u202E ' : ''}${long}${index}`);
      await ask(server, `q${index}@example.com`, `source ${index}`);
    }
    const { bySource } = await reportOf(server);
    assert.equal(bySource.length, 13);
    assert.deepEqual(bySource.at(-1), { name: 'others', seen: null, asked: 4, entered: 0, leads: 0 });
    for (const { name } of bySource) assert.match(name, /^[\w \uFFFD]{1,39}…?$/u);
    assert.deepEqual(valuesOf(bySource.slice(0, 2), 'asked'), [7, 7], 'those that begin alike are one');
  });
});
