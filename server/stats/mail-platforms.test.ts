import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { LostLeadRow } from '#desk/report/lost-leads.ts';
import type { Report } from '#desk/report/report.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { keepMailDomains } from '#server/db/tables/mail-domains.ts';
import {
  createPlatformLookup,
  platformOfDomain,
  platformOfMailServer,
} from '#server/stats/mail-platforms.ts';
import { countWaitingStatements } from '#testing/address-lock.ts';
import { freshDatabase } from '#testing/databases.ts';
import { desk, succeeded } from '#testing/desk.ts';
import { type NameRecords, withDnsServer } from '#testing/dns-server.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { askAndReceive } from '#testing/lead-calls.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

it('a mail platform is recognised by its domains, but not by lookalikes', () => {
  for (const [domain, platform] of [
    ['gmail.com', 'Google'],
    ['hotmail.co.uk', 'Microsoft'],
    ['live.nl', 'Microsoft'],
    ['yahoo.de', 'Yahoo'],
    ['aol.com', 'Yahoo'],
    ['yahoo.co.jp', null],
    ['me.com', 'Apple'],
    ['web.de', 'GMX, WEB.DE'],
    ['proton.me', 'Proton'],
    ['gmail.com.example', null],
    ['notgmail.com', null],
  ] as const)
    assert.equal(platformOfDomain(domain), platform, domain);
});

it('a mail platform is recognised by the MX records of other domains', () => {
  for (const [host, platform] of [
    ['ASPMX.L.GOOGLE.COM.', 'Google Workspace'],
    ['gmail-smtp-in.l.google.com', 'Google'],
    ['example-com.mail.protection.outlook.com', 'Microsoft 365'],
    ['outlook-com.olc.protection.outlook.com', 'Microsoft'],
    ['mx-biz.mail.am0.yahoodns.net', 'Yahoo'],
    ['mx01.mail.icloud.com', 'Apple'],
    ['mx00.ionos.co.uk', 'IONOS'],
    ['inbound-smtp.eu-west-1.amazonaws.com', 'Amazon'],
    ['mx0a-00112233.pphosted.com', 'Proofpoint'],
    ['eu-smtp-inbound-1.mimecast.com', 'Mimecast'],
    ['mail.example.com', 'other'],
    ['aspmx.l.google.com.example', 'other'],
  ] as const)
    assert.equal(platformOfMailServer(host), platform, host);
});

const DAY_SECONDS = 86_400;
const NOW = Date.UTC(2026, 10, 20, 12);
const signal = new AbortController().signal;

const ZONE: Readonly<Record<string, NameRecords>> = {
  'acme.example': {
    MX: [
      [20, 'alt1.aspmx.l.google.com'],
      [10, 'ASPMX.L.google.com'],
    ],
  },
  'globex.example': { MX: [[0, 'globex-example.mail.protection.outlook.com']] },
  'initech.example': { MX: [[10, 'mx.initech.example']] },
  'none.example': { MX: [[0, '']] },
  'broken.example': { fault: 'SERVFAIL' },
};

onEachEngine('mail platforms', ({ both: test, engine }) => {
  it('the mail platform of a company is looked up in DNS once, and again when the result is old', () =>
    withDnsServer(ZONE, async ({ address, questions }) => {
      await using database = await freshDatabase(engine);
      const platformsOf = (now: number, ...domains: readonly string[]) => {
        const lookup = createPlatformLookup(database, { dnsServers: [address], now, signal });
        return lookup.platformsOf(new Map(domains.map((domain) => [domain, 1])));
      };
      const all = ['gmail.com', ...Object.keys(ZONE), 'missing.example', 'localhost', ''];
      assert.deepEqual([...(await platformsOf(NOW, ...all))].toSorted(), [
        ['', 'other'],
        ['acme.example', 'Google Workspace'],
        ['broken.example', 'other'],
        ['globex.example', 'Microsoft 365'],
        ['gmail.com', 'Google'],
        ['initech.example', 'other'],
        ['localhost', 'other'],
        ['missing.example', 'other'],
        ['none.example', 'other'],
      ]);
      let seen = 0;
      const asked = () => {
        const fresh = new Set(questions.slice(seen));
        seen = questions.length;
        return [...fresh].toSorted();
      };
      const questionsOf = (...domains: readonly string[]) => domains.map((domain) => `MX ${domain}`);
      assert.deepEqual(asked(), questionsOf(...Object.keys(ZONE), 'missing.example').toSorted());
      const kept = await database.db.selectFrom('mail_domains').selectAll().orderBy('domain').execute();
      assert.deepEqual(
        kept.map(({ domain, mx_host: host }) => [domain, host]),
        [
          ['acme.example', 'aspmx.l.google.com'],
          ['broken.example', null],
          ['globex.example', 'globex-example.mail.protection.outlook.com'],
          ['initech.example', 'mx.initech.example'],
          ['missing.example', null],
          ['none.example', null],
        ],
      );
      const days = (count: number) => NOW + count * DAY_SECONDS * 1_000;
      assert.equal((await platformsOf(days(6), ...all)).get('acme.example'), 'Google Workspace');
      assert.deepEqual(asked(), [], 'all of it is known');
      await platformsOf(days(8), ...all);
      assert.deepEqual(asked(), questionsOf('broken.example', 'missing.example', 'none.example'));
      await platformsOf(days(91), 'acme.example');
      assert.deepEqual(asked(), questionsOf('acme.example'));
    }));

  test('mail platforms appear among lost leads and in the report, or "other" without DNS', (server) =>
    withDnsServer(ZONE, async ({ address }) => {
      for (const email of ['ada@acme.example', 'bob@acme.example', 'eve@globex.example'])
        await askAndReceive(server, email);
      await server.advance(3_600);
      const run = (dnsServers: readonly string[], ...args: readonly string[]) =>
        desk(server.service, args, { dnsServers });
      const platforms = async (dnsServers: readonly string[]) => {
        const report = await run(dnsServers, 'report', '--period', '7d', '--json');
        const lost = await run(dnsServers, 'lost', '--json');
        assert.deepEqual([report.exitCode, lost.exitCode], [0, 0]);
        return {
          report: (JSON.parse(report.out) as Report).byPlatform.map(({ name, asked }) => [name, asked]),
          lost: valuesOf(JSON.parse(lost.out) as LostLeadRow[], 'platform').toSorted(),
          notes: [report.notes, lost.notes.split('\n').slice(0, 4).join('\n')],
        };
      };
      const unreachable = await platforms(['127.0.0.1:9']);
      assert.deepEqual(unreachable.report, [['other', 3]]);
      assert.deepEqual(unreachable.lost, ['other', 'other', 'other']);
      for (const notes of unreachable.notes)
        assert.match(
          notes,
          /^DNS is unreachable \(ECONNREFUSED\), so 2 domains were not looked up\. .*"other"\.$/m,
        );
      assert.equal(await server.countRows('mail_domains'), 0, 'that is no answer');

      const reached = await platforms([address]);
      assert.deepEqual(reached.report, [
        ['Google Workspace', 2],
        ['Microsoft 365', 1],
      ]);
      assert.deepEqual(reached.lost, ['Google Workspace', 'Google Workspace', 'Microsoft 365']);
      for (const notes of reached.notes) assert.doesNotMatch(notes, /DNS/);
      assert.deepEqual((await platforms(['127.0.0.1:9'])).lost, reached.lost, 'it is known now');
      assert.match(
        (await run([address], 'lost')).out,
        /ada@acme\.example .* Google Workspace {2}Got the e-mail/,
      );
    }));

  it('two reports store the mail platforms of the same domains at the same time', async () => {
    await using database = await freshDatabase(engine);
    const { db } = database;
    const keep = (tx: Db, ...domains: readonly string[]) =>
      keepMailDomains(
        tx,
        domains.map((domain) => ({ domain, mx_host: null, looked_up_at: NOW })),
      );
    const reports = await db.transaction().execute(async (tx) => {
      await keep(tx, 'x.example');
      const first = keep(db, 'a.example', 'x.example', 'b.example');
      const second = keep(db, 'b.example', 'x.example', 'a.example');
      if (engine === 'postgres') await until(async () => (await countWaitingStatements(db)) === 2);
      return [first, second];
    });
    await Promise.all(reports);
    assert.equal((await db.selectFrom('mail_domains').select('domain').execute()).length, 3);
  });

  test('the mail platform of a domain is deleted with its last person', (server) =>
    withDnsServer(ZONE, async ({ address }) => {
      const known = server.database.db.selectFrom('mail_domains').select('domain').orderBy('domain');
      const domains = async () => valuesOf(await known.execute(), 'domain');
      await becomeLead(server, 'ada@acme.example');
      for (const name of ['globex', 'initech']) await askAndReceive(server, `eve@${name}.example`);
      await server.advance(3_600);
      await desk(server.service, ['report', '--period', '7d', '--json'], { dnsServers: [address] });
      assert.deepEqual(await domains(), ['acme.example', 'globex.example', 'initech.example']);
      await succeeded(desk(server.service, ['erase', 'eve@initech.example', '--yes']));
      assert.deepEqual(await domains(), ['acme.example', 'globex.example']);
      const { reports, runHousekeeping } = housekeeperOf(server);
      await runHousekeeping();
      assert.deepEqual(
        await domains(),
        ['acme.example', 'globex.example'],
        'both have leads or waiting forms',
      );
      await server.advance(31 * DAY_SECONDS);
      await runHousekeeping();
      assert.deepEqual(await domains(), ['acme.example']);
      assert.equal(reports.at(-1)?.mail_domains, 1);
    }));
});

it('the lookup of mail platforms stops in time and reports that DNS does not respond', () =>
  withDnsServer({ 'slow.example': { fault: 'silence' } }, async ({ address }) => {
    await using database = await freshDatabase('sqlite');
    const options = { dnsServers: [address], now: NOW, signal, limitMs: 100 };
    const lookup = createPlatformLookup(database, options);
    const platforms = await lookup.platformsOf(new Map([['slow.example', 1]]));
    assert.equal(platforms.get('slow.example') ?? 'other', 'other');
    assert.match(
      lookup.skippedNote() ?? '',
      /^DNS is unreachable \(no reply in time\), so 1 domain was not looked up/,
    );
  }));

it('DNS that replied does not count as unreachable later in the same list', () =>
  withDnsServer(ZONE, async ({ address }) => {
    await using database = await freshDatabase('sqlite');
    const lookup = createPlatformLookup(database, {
      dnsServers: [address],
      now: NOW,
      signal,
      limitMs: 60_000,
    });
    const lookUp = (...domains: readonly string[]) =>
      lookup.platformsOf(new Map(domains.map((domain) => [domain, 1])));
    await lookUp('acme.example');
    await lookUp('broken.example');
    assert.equal((await lookUp('globex.example')).get('globex.example'), 'Microsoft 365');
    assert.equal(lookup.skippedNote(), null);
    await lookUp(...Array.from({ length: 497 }, (_, at) => `${at}.example`));
    await lookUp('initech.example');
    assert.match(
      lookup.skippedNote() ?? '',
      /^1 domain was not looked up, because the report would have taken/,
    );
  }));
