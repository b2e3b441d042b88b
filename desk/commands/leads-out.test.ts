import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { parse } from 'csv-parse/sync';

import type { Report } from '#desk/report/report.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { TOOL_NAMES, TOOLS, type LeadValue } from '#shared/tools.ts';
import { countWaitingStatements } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { inFolder } from '#testing/folder.ts';
import { CONSENT_SOURCE, desk, deskIn, importFile, refused, succeeded } from '#testing/desk.ts';
import { ask, askAndReceive } from '#testing/lead-calls.ts';
import { createVisitor, filledForm, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const REFERER = 'http://localhost/?utm_source=newsletter&utm_medium=email&utm_campaign=spring&gclid=abc-123';
const FROM_NEWSLETTER = { headers: { referer: REFERER } };

const rowsOf = (csv: string): string[][] =>
  parse(csv, { record_delimiter: '\r\n', relax_column_count: true });

const emailsIn = (csv: string) =>
  rowsOf(csv)
    .slice(1)
    .map(([email]) => email);

const exportOf = async ({ service }: ServerUnderTest, ...args: readonly string[]) =>
  (await succeeded(desk(service, ['export', ...args]))).out;

async function emailsOf({ service }: ServerUnderTest, ...args: readonly string[]) {
  const { out } = await succeeded(desk(service, ['leads', '--json', ...args]));
  return (JSON.parse(out) as { email: string }[]).map(({ email }) => email);
}

onEachEngine('lists and exports', { env: { FREE_MAIL: 'flag' } }, ({ test, both, engine }) => {
  both('lists and exports of leads include the consent and exclude unverified people', async (server) => {
    const { version, text } = server.campaign.consent;
    const headers = { referer: REFERER, 'x-consent-version': version };
    const { visitor } = await becomeLead(server, 'ada@example.com', 1, { headers });
    assert.equal((await visitor.get('/api/article')).statusCode, 200);
    await server.advance(86_400);
    await becomeLead(server, 'Gus.Grissom@gmail.com');
    await ask(createVisitor(server), { email: 'never@example.com' });

    const csv = await exportOf(server);
    assert.equal(await exportOf(server, '--bom'), `\uFEFF${csv}`);
    const [headings, ada, gus, ...others] = rowsOf(csv);
    assert.equal(
      headings?.slice(0, 10).join(' '),
      'email name company first_verified_at last_verified_at consent_given_at consent_version consent_text source flags',
    );
    assert.deepEqual(others, []);
    const at = '2026-11-20T12:00:00.000Z';
    const person = ['ada@example.com', 'Ada Lovelace', 'Analytical Engines'];
    assert.deepEqual(ada?.slice(0, 10), [...person, at, at, at, version, text, 'newsletter', '']);
    assert.equal(ada?.[headings?.indexOf('gclid') ?? -1], 'abc-123');
    const readAt = headings?.indexOf('first_read_at') ?? -1;
    assert.deepEqual([ada?.[readAt], gus?.[readAt]], [at, '']);
    assert.deepEqual([gus?.[0], gus?.[8], gus?.[9]], ['gus.grissom@gmail.com', 'direct', 'free-mail']);

    assert.match(
      (await desk(server.service, ['leads'])).out,
      /^first verified +first read +email.*\n2026-11-20 12:00  2026-11-20 12:00  ada@example\.com +Ada.*\n2026-11-21 12:00 +gus\./m,
    );

    for (const [option, value, email] of [
      ['--source', 'newsletter', 'ada@example.com'],
      ['--campaign', 'spring', 'ada@example.com'],
      ['--flag', 'free-mail', 'gus.grissom@gmail.com'],
      ['--since', '12h', 'gus.grissom@gmail.com'],
      ['--until', '2026-11-21', 'ada@example.com'],
    ] as const) {
      assert.deepEqual(await emailsOf(server, option, value), [email], option);
      assert.deepEqual(emailsIn(await exportOf(server, option, value)), [email], option);
    }
    for (const [args, ...expected] of [
      [['--newest'], 'gus.grissom@gmail.com', 'ada@example.com'],
      [['--newest', '--limit', '1'], 'gus.grissom@gmail.com'],
      [['--search', 'ANALYTICAL', '--limit', '1'], 'ada@example.com'],
      [['--state', 'unverified', '--search', 'NEVER@'], 'never@example.com'],
    ] as const)
      assert.deepEqual(await emailsOf(server, ...args), expected, args.join(' '));
    const springDirect = ['--campaign', 'spring', '--source', 'direct'];
    assert.equal((await desk(server.service, ['leads', ...springDirect])).notes, '0 leads.');
  });

  both('"desk leads" refuses an unknown source and suggests the most similar known ones', async (server) => {
    const leads = (source: string) => desk(server.service, ['leads', '--source', source]);
    assert.equal((await leads('newsletter')).notes, '0 leads.', 'of none at all, none is unknown');
    const from = (source: string) => ({
      headers: { referer: `http://localhost/?utm_source=${source}&utm_campaign=spring` },
    });
    await becomeLead(server, 'ada@example.com', 1, from('newsletter'));
    await becomeLead(server, 'gus@example.com', 1, from('gus%40example.com'));
    await becomeLead(server, 'eve@example.com');
    await createVisitor(server).post('/api/leads', filledForm({ email: 'new@example.com' }), from('webinar'));
    const known = 'Nobody came from “newsleter”. Known sources: newsletter, webinar, direct.';
    await refused(leads('newsleter'), known, 2);
    assert.equal((await leads('webinar')).notes, '0 leads.');
    const exported = await succeeded(desk(server.service, ['export', '--source', 'newsleter']));
    assert.equal(rowsOf(exported.out).length, 1);
    assert.match(exported.notes, /^Nobody came from “newsleter”.*\n0 leads\.$/);
  });

  test('leads are found by the names of source and campaign that the report shows', async (server) => {
    const long = 'partner-webinar-with-a-very-long-name-2026';
    const referer = `http://localhost/?utm_source=${long}&utm_campaign=${long}`;
    await becomeLead(server, 'ada@example.com', 1, { headers: { referer } });
    const ofAddress = { headers: { referer: 'http://localhost/?utm_source=gus%40example.com' } };
    await becomeLead(server, 'gus@example.com', 1, ofAddress);
    const { out } = await desk(server.service, ['report', '--json']);
    const shown = (JSON.parse(out) as Report).bySource.map(({ name }) => name);
    assert.deepEqual(shown, [`${long.slice(0, 39)}…`, 'others']);
    for (const [option, name, ...expected] of [
      ['--source', shown[0]!, 'ada@example.com'],
      ['--campaign', shown[0]!, 'ada@example.com'],
      ['--source', long, 'ada@example.com'],
      ['--source', long.slice(0, 39)],
      ['--source', 'others', 'gus@example.com'],
      ['--source', 'gus@example.com', 'gus@example.com'],
    ] as const)
      assert.deepEqual(emailsIn(await exportOf(server, option, name)), expected, name);
  });

  both('suppressed leads are selected by the time of verification, as the help says', async (server) => {
    await becomeLead(server, 'ada@example.com');
    await server.advance(3_600);
    await desk(server.service, ['suppress', 'add', 'ada@example.com']);
    const since = (when: string) => emailsOf(server, '--state', 'suppressed', '--since', when);
    assert.deepEqual([await since('0h'), await since('1h')], [[], ['ada@example.com']]);
    const help = (await succeeded(desk(server.service, ['leads', '--help']))).out;
    assert.match(help, /--since <when> +first verified, asked or imported at or after this time/);
  });

  both('each lead appears in exactly one nightly export, even after failures', (server) =>
    inFolder(async (folder) => {
      const out = path.join(folder, 'new.csv');
      const job = (replacements = {}) =>
        desk(server.service, ['export', '--since-last', 'crm', '--out', out], replacements);
      const exported = () => emailsIn(readFileSync(out, 'utf8'));
      await becomeLead(server, 'ada@example.com');
      const nowhere = path.join(folder, 'missing', 'new.csv');
      const broken = desk(server.service, ['export', '--since-last', 'crm', '--out', nowhere]);
      await refused(broken, /its folder does not exist\. Create the folder first/);
      assert.equal((await job({ signal: AbortSignal.abort() })).exitCode, 130);
      assert.deepEqual(readdirSync(folder), []);
      assert.equal((await job()).exitCode, 0);
      assert.deepEqual(exported(), ['ada@example.com']);
      assert.equal(statSync(out).mode & 0o077, 0, 'nobody else reads it');
      await server.advance(60);
      await becomeLead(server, 'eve@example.com');
      await refused(job(), /new\.csv cannot be written: it may contain leads of an earlier export\. Import/);
      assert.deepEqual(exported(), ['ada@example.com']);
      rmSync(out);
      assert.match((await job()).notes, /^1 lead in .*new\.csv\.$/);
      assert.deepEqual(exported(), ['eve@example.com']);
      rmSync(out);
      assert.match((await job()).notes, /^0 leads in .*new\.csv\.$/);
      const other = await desk(server.service, ['export', '--since-last', 'ads', '--format', 'meta']);
      assert.equal(rowsOf(other.out).length, 3);
    }),
  );

  if (engine === 'postgres')
    both('a named export records its leads while one of them is erased', async (server) => {
      const { db } = server.database;
      for (const email of ['ada@example.com', 'eve@example.com']) await becomeLead(server, email);
      const { exporting } = await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('consent_receipts').execute();
        await tx.deleteFrom('leads').where('email', '=', 'ada@example.com').execute();
        const running = desk(server.service, ['export', '--since-last', 'crm']);
        await until(async () => (await countWaitingStatements(db)) === 1);
        return { exporting: running };
      });
      assert.match((await succeeded(exporting)).notes, /^2 leads\.$/m);
      assert.equal(await server.countRows('exported_leads'), 1);
    });

  both(
    'the leads of a named export can be listed, and the last export can be repeated',
    { env: { TIME_ZONE: 'Europe/Berlin' } },
    async (server) => {
      const run = (...args: string[]) => desk(server.service, ['export', ...args]);
      const emails = async (...args: string[]) => emailsIn(await exportOf(server, ...args));
      assert.equal((await run('--list')).notes, '0 names.');
      assert.match((await run('--again', 'crm', '--format', 'csv')).notes, /No export has a name/);
      const [ada, eve, gus] = ['ada@example.com', 'eve@example.com', 'gus@example.com'];
      await becomeLead(server, ada);
      await run('--since-last', 'crm');
      await server.advance(3_600);
      await becomeLead(server, eve);
      await becomeLead(server, gus);
      assert.deepEqual(await emails('--since-last', 'crm'), [eve, gus]);
      await server.advance(3_600);
      assert.deepEqual(await emails('--since-last', 'crm'), []);
      await run('--since-last', 'ads', '--format', 'meta');

      const before = await server.countRows('exported_leads');
      assert.deepEqual(await emails('--again', 'crm', '--format', 'csv'), [eve, gus]);
      const again = await run('--again', 'ads', '--format', 'meta');
      assert.equal(rowsOf(again.out)[0]?.[3], 'event_name');
      assert.equal(rowsOf(again.out).length, 4);
      assert.equal(await server.countRows('exported_leads'), before);
      assert.deepEqual(JSON.parse((await run('--list', '--json')).out), [
        { name: 'ads', last_at: '2026-11-20T14:00:00.000Z', last_leads: 3, leads: 3 },
        { name: 'crm', last_at: '2026-11-20T13:00:00.000Z', last_leads: 2, leads: 3 },
      ]);
      const { out, notes } = await run('--list');
      assert.match(
        out,
        /^name +last export +with leads +leads in all\nads .*\ncrm +2026-11-20 14:00 +2 +3\n$/,
      );
      assert.equal(notes, '2 names.');

      await desk(server.service, ['suppress', 'add', eve]);
      const fewer = await run('--again', 'crm', '--format', 'csv');
      assert.deepEqual(emailsIn(fewer.out), [gus]);
      assert.match(fewer.notes, /^1 of the 2 leads in that export are missing, .*\n1 lead\.$/);
      for (const [sentence, ...args] of [
        [/No export is called “crn”\. Existing names: ads, crm\./, '--again', 'crn', '--format', 'csv'],
        [/^--again needs the format of that export\. Add it, such as --format hubspot\./, '--again', 'ads'],
        [/Use either --since-last .* or --again/, '--again', 'crm', '--since-last', 'crm'],
        [/--format jsonl/, '--json'],
        [/Use --since/, '--again', 'crm', '--state', 'suppressed'],
      ] as const)
        await refused(run(...args), sentence, 2);
    },
  );

  both('verified, unverified and imported people are exported separately', async (server) => {
    await becomeLead(server, 'ada@example.com', 1, FROM_NEWSLETTER);
    await askAndReceive(server, 'never@gmail.com', { name: 'First' });
    await server.advance(3_600);
    const again = filledForm({ email: 'never@gmail.com', name: 'Newest' });
    await createVisitor(server).post('/api/leads', again, FROM_NEWSLETTER);
    await ask(createVisitor(server), { email: 'ada@example.com' });
    await server.inbox.waitForMail('ada@example.com', 2);
    const people = 'ada@example.com,A,\nbob@example.com,Bob,2024-03-04\ngus@example.com,,\n';
    await succeeded(importFile(server, `email,name,consent date\n${people}`));
    await becomeLead(server, 'gus@example.com');

    const rows = async (...args: string[]) => {
      const [headings = [], ...others] = rowsOf(await exportOf(server, ...args));
      assert.deepEqual(headings.slice(10, 12), ['state', 'state_since']);
      return others.map((row) => row.slice(0, 12).join('|'));
    };
    const [ada, gus, ...leads] = await rows();
    assert.match(ada ?? '', /^ada@example\.com\|.*\|verified\|/);
    assert.match(gus ?? '', /^gus@example\.com\|.*\|verified\|/);
    assert.deepEqual(leads, []);
    assert.deepEqual(await rows('--state', 'unverified'), [
      'never@gmail.com|Newest|Analytical Engines||||||newsletter|free-mail|unverified|2026-11-20T13:00:00.000Z',
    ]);
    assert.deepEqual(await rows('--state', 'imported'), [
      `bob@example.com|Bob||||2024-03-04T00:00:00.000Z||Not given here. Imported: ${CONSENT_SOURCE}|import||imported|2026-11-20T13:00:00.000Z`,
    ]);

    const listed = async (...args: string[]) => desk(server.service, ['leads', ...args]);
    const unverified = await listed('--state', 'unverified');
    assert.match(unverified.out, /^asked +email.*\n2026-11-20 13:00 +never@gmail\.com +Newest .*\n$/);
    assert.equal(unverified.notes, '1 unverified person.');
    assert.match((await listed('--state', 'imported')).out, /^imported +email/);
    const later = await listed('--state', 'unverified', '--since', '2026-11-20T13:30:00Z');
    assert.equal(later.notes, '0 unverified people.');
  });

  test('an export for advertisers contains only hashed e-mail addresses, unlike one for a CRM', async (server) => {
    await becomeLead(server, 'Gus.Grissom@gmail.com', 1, FROM_NEWSLETTER);
    await server.advance(1);
    await becomeLead(server, 'ada@example.com');
    const linkOf = unsubscribeUrlOf(server.service);
    const { db } = server.database;
    const leads = await db.selectFrom('leads').select('id').orderBy('id').execute();
    const links = leads.map(({ id }) => linkOf(id));
    for (const tool of TOOL_NAMES) {
      const [headings = [], ...rows] = rowsOf(await exportOf(server, '--format', tool));
      assert.deepEqual(headings, Object.keys(TOOLS[tool].columns), tool);
      const columns: readonly LeadValue[] = Object.values(TOOLS[tool].columns);
      const cells = (value: LeadValue) => rows.map((row) => row[columns.indexOf(value)]);
      assert.deepEqual(cells('unsubscribe_url'), links, tool);
      assert.deepEqual(cells('utm_campaign'), ['spring', ''], tool);
      assert.deepEqual(cells('source'), ['newsletter', 'direct'], tool);
    }
    const [headings = [], gus = []] = rowsOf(await exportOf(server, '--format', 'hubspot'));
    assert.deepEqual(
      ['UTM Source', 'UTM Medium', 'GCLID'].map((heading) => gus[headings.indexOf(heading)]),
      ['newsletter', 'email', 'abc-123'],
    );

    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    const file = (format: string, name = 'Guide') =>
      exportOf(server, '--format', format, '--conversion-name', name);
    const google = rowsOf(await file('google-ads'));
    assert.deepEqual(google[0], ['Parameters:TimeZone=+0000']);
    const byHeading = (rows: string[][], at: number) =>
      Object.fromEntries(rows[at]!.map((heading, index) => [heading, rows[at + 1]?.[index]]));
    assert.deepEqual(byHeading(google, 1), {
      'Google Click ID': 'abc-123',
      GBRAID: '',
      WBRAID: '',
      Email: sha256('gusgrissom@gmail.com'),
      'Conversion Name': 'Guide',
      'Conversion Time': '2026-11-20 12:00:00',
      'Conversion Value': '',
      'Conversion Currency': '',
    });
    const microsoft = byHeading(rowsOf(await file('microsoft-ads')), 1);
    assert.equal(microsoft['Hashed Email Address'], sha256('gus.grissom@gmail.com'));
    const meta = byHeading(rowsOf(await file('meta')), 0);
    assert.deepEqual(
      [meta['email'], meta['fn'], meta['ln'], meta['event_name']],
      [sha256('gus.grissom@gmail.com'), sha256('ada'), sha256('lovelace'), 'Guide'],
    );
    await db.updateTable('leads').set({ name: 'Ada -' }).execute();
    assert.equal(byHeading(rowsOf(await file('meta')), 0)['ln'], '', 'a name without letters');
    assert.deepEqual(rowsOf(await file('linkedin', 'Sign up')).slice(0, 2), [
      ['email', 'timestamp', 'eventtype', 'amount', 'currency'],
      [sha256('gus.grissom@gmail.com'), String(Date.UTC(2026, 10, 20, 12)), 'SIGN_UP', '1', 'USD'],
    ]);
    for (const format of ['google-ads', 'microsoft-ads', 'meta', 'linkedin'])
      assert.doesNotMatch(await file(format, 'Lead'), /@|unsubscribe|spring/i, format);
  });
});

describe('command-line arguments', () => {
  const run = (args: readonly string[]) =>
    deskIn(import.meta.dirname, {}, args, { service: () => assert.fail('nothing was to be opened') });

  it('an incorrect desk command explains the error, exits with 2 and changes nothing', async () => {
    for (const [args, sentence] of [
      [['export', '--since', '31.12.2025'], /Use a date such as 2026-11-01, today/],
      [['export', '--since', '2026-02-31'], /Use a date such as/],
      [['export', '--format', 'xlsx'], /Allowed choices are csv, jsonl, hubspot/],
      [['exprot'], /Did you mean export\?/],
      [['export', '--flag', 'nice'], /Allowed choices are free-mail, disposable/],
      [['leads', '--state', 'nice'], /Allowed choices are verified, suppressed, unverified, imported/],
      [['leads', '--state', 'imported', '--flag', 'free-mail'], /do not apply to imported people/],
      [['leads', '--since', '2026-11-02', '--until', '2026-11-01'], /^--until must be later than --since/],
      [['lost', '--until', '2020-01-01'], /^--until must be later than --since/],
      [
        ['export', '--state', 'unverified', '--format', 'hubspot'],
        /^The format hubspot only takes verified leads, because it has no column for unverified people\./,
      ],
      [['export', '--state', 'imported', '--format', 'meta'], /Use --format csv or jsonl/],
      [['export', '--state', 'imported', '--since-last', 'crm'], /only apply to verified leads/],
      [['leads', 'everybody'], /too many arguments/],
      [['leads', '--limit', '0'], /Use a number of 1 or more\./],
      [['leads', '--search', ' '], /Enter part of an e-mail address, a name or a company\./],
      [['report'], /No output was chosen\. Use --out report\.html, --text or --json\./],
      [['report', '--text', '--json'], /Use only one of the two/],
      [
        ['report', '--text', '--period', '30'],
        /The period is invalid\. Use days or weeks up to today.* a month that has already begun/,
      ],
      [
        ['lost', '--since', 'tomorrow'],
        /Use a date such as 2026-11-01, today, yesterday, this-week, last-week, or/,
      ],
      [['import', 'list.csv'], /--consent-source/],
      [
        ['import', 'list.csv', '--consent-source', ' '],
        /The value of --consent-source is invalid\. Say where these people agreed/,
      ],
      [['doctor', '--send', 'ada'], /"ada" is not an e-mail address/],
      [['show', 'ada at example'], /"ada at example" is not an e-mail address/],
      [['correct', 'ada@example.com'], 'Nothing to correct. Use --name, --company or --answer.'],
    ] as const)
      await refused(run(args), sentence, 2);
    assert(!existsSync('exprot'));
  });

  it('an unknown desk command or invalid arguments print how to get help', async () => {
    for (const [args, command] of [
      [['everybody'], ''],
      [['leads', 'everybody'], 'leads '],
      [['export', '--nice'], 'export '],
      [['show'], 'show '],
      [['consent', 'verif'], 'consent '],
      [['consent', 'export', 'ada@example.com'], 'consent export '],
    ] as const) {
      await refused(
        run(args),
        new RegExp(`^Run "npm run -s desk -- ${command}--help" for usage\\.\\s*$`, 'm'),
        2,
      );
      const help = await succeeded(run([...command.split(' ').filter(Boolean), '--help']));
      assert(help.out.startsWith(`Usage: npm run -s desk -- ${command}`), help.out);
    }
  });
});
