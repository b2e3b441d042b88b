import assert from 'node:assert/strict';

import { EXPORT_PATH, PROOF_PATH, type Person } from '#desk/endpoints/people.ts';
import { VISIT_HEADER } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { deskClient, type DeskClient } from '#testing/desk-handlers.ts';
import { CONSENT_SOURCE, desk as command, importFile } from '#testing/desk.ts';
import { askAndReceive } from '#testing/lead-calls.ts';
import { leadVerifiedAt } from '#testing/lead-row.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

const FORM = `fields:
  - { id: job_title, label: "Job <title>", kind: text }
  - { id: topics, label: Topics, kind: choices, options: [Prompts, Personas, Résumés] }
`;

const WITH_FORM = { campaign: { 'form.yaml': FORM }, env: { FREE_MAIL: 'flag' } };

const visit = (server: ServerUnderTest, email: string, form = {}, from = '') =>
  becomeLead(server, email, 1, {
    form,
    headers: {
      'x-consent-version': server.campaign.consent.version,
      ...(from !== '' && { [VISIT_HEADER]: `last=${encodeURIComponent(from)}` }),
    },
  });

async function everyone({ ask }: DeskClient, filter: object): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const page = (await ask('people', { ...filter, ...(after && { after }) }))!;
    found.push(...page.people.map(({ email }) => email.split('@')[0]!));
    assert.equal(page.next === null, page.searchedBackTo === null);
    if (page.next === null) return found;
    after = page.next;
  }
}

async function fillLeads(server: ServerUnderTest, count: number): Promise<void> {
  const begin = server.now() - count * 60_000;
  const rows = Array.from({ length: count }, (_, at) => ({
    ...leadVerifiedAt(`past-${at}@${at % 100 === 0 ? 'rare' : 'often'}.example`, begin + at * 60_000),
    attribution: at % 250 === 7 ? '{"utm_source":"webinar"}' : '{}',
  }));
  for (let from = 0; from < count; from += 500)
    await server.database.db
      .insertInto('leads')
      .values(rows.slice(from, from + 500))
      .execute();
}

const CAMPAIGN_VISIT = 'utm_source=newsletter&utm_campaign=spring';

onEachEngine('contacts in the desk', WITH_FORM, ({ both: test }) => {
  test('the desk lists exactly the contacts who match every filter, newest first', async (server) => {
    const asked = deskClient(server.service);
    const formula = '=HYPERLINK("http://evil.example")';
    await visit(
      server,
      'ada@example.com',
      { answers: { job_title: 'Countess "of" Lovelace', topics: ['Prompts'] } },
      CAMPAIGN_VISIT,
    );
    await server.advance(86_400);
    await visit(server, 'gus@gmail.com', { name: formula, company: '<b>Bold</b> & Co' });
    await visit(
      server,
      'zoe@söhne.example.com',
      { name: 'Zoë', answers: { topics: ['Prompts', 'Personas', 'Résumés'] } },
      'gclid=abc',
    );
    await askAndReceive(server, 'asks@example.com', { company: 'Söhne' });
    await visit(server, 'gone@example.com');
    await command(server.service, ['suppress', 'add', 'gone@example.com']);
    await importFile(server, 'email,name,job_title\nold@example.com,Old,Consul\n');

    for (const [filter, ...expected] of [
      [{}, 'zoe', 'gus', 'ada'],
      [{ state: 'suppressed' }, 'gone'],
      [{ state: 'unverified' }, 'asks'],
      [{ state: 'imported' }, 'old'],
      [{ search: 'hyperlink("' }, 'gus'],
      [{ search: 'SÖHNE', state: 'unverified' }, 'asks'],
      [{ search: 'Ada@Example.com' }, 'ada'],
      [{ search: 'old@example.com', state: 'imported' }, 'old'],
      [{ search: '\u202Aada@example.com\u202C\u200B' }, 'ada'],
      [{ search: 'Ada Lovelace <ada@example.com>' }, 'ada'],
      [{ search: 'Ada\u00A0Lovelace', source: 'newsletter' }, 'ada'],
      [{ search: '<b>Bold</b> &' }, 'gus'],
      [{ search: 'ada@example.com', source: 'direct' }],
      [{ source: 'newsletter' }, 'ada'],
      [{ source: 'google-ads' }, 'zoe'],
      [{ source: 'direct' }, 'gus'],
      [{ source: 'news' }],
      [{ campaign: 'spring' }, 'ada'],
      [{ campaign: 'spring', source: 'direct' }],
      [{ campaign: 'spr' }],
      [{ campaign: 'spring', state: 'imported' }],
      [{ source: 'import', state: 'imported' }, 'old'],
      [{ flag: 'free-mail' }, 'gus'],
      [{ flag: 'free-mail', state: 'imported' }],
      [{ field: 'job_title', answer: 'countess "OF"' }, 'ada'],
      [{ field: 'topics', answer: 'résumé' }, 'zoe'],
      [{ field: 'topics', answer: 'prompts; personas' }, 'zoe'],
      [{ field: 'topics', answer: 'Personas;' }, 'zoe'],
      [{ field: 'topics', answer: 'Personas; Prompts' }],
      [{ field: 'topics', answer: 'Countess' }],
      [{ field: 'job_title', answer: 'consul', state: 'imported' }, 'old'],
      [{ domain: 'Example.com' }, 'ada'],
      [{ domain: 'söhne.example.com' }, 'zoe'],
      [{ domain: 'xn--shne-5qa.example.com' }, 'zoe'],
      [{ from: '2026-11-21' }, 'zoe', 'gus'],
      [{ to: '2026-11-20' }, 'ada'],
      [{ from: '2026-11-21', to: '2026-11-21', search: 'zo' }, 'zoe'],
      [{ from: '2026-11-22' }],
      [{ from: '2026-11-20', to: '2026-11-21', state: 'unverified' }, 'asks'],
      [{ search: ' ', source: '', field: 'topics', answer: '' }, 'zoe', 'gus', 'ada'],
    ] as const)
      assert.deepEqual(await everyone(asked, filter), expected, JSON.stringify(filter));

    const [gus] = (await asked.ask('people', { domain: 'gmail.com' }))!.people;
    assert.deepEqual(
      [gus?.name, gus?.company, gus?.flags, gus?.state],
      [formula, '<b>Bold</b> & Co', ['free-mail'], 'verified'],
    );
    const [ada] = (await asked.ask('people', { source: 'newsletter' }))!.people;
    assert.deepEqual(
      [ada?.campaign, ada?.since, ada?.answers['job_title']],
      ['spring', '2026-11-20T12:00:00.000Z', { label: 'Job <title>', answer: 'Countess "of" Lovelace' }],
    );
    await assert.rejects(asked.ask('people', { from: '2026-02-31' }), /The date 2026-02-31 does not exist/);

    const csv = (await asked.file(EXPORT_PATH, { domain: 'gmail.com' }))!;
    assert.equal(csv.text.trimEnd().split('\r\n').length, 2);
    assert.match(csv.text, /"'=HYPERLINK\(""http:\/\/evil\.example""\)","?<b>Bold<\/b> & Co/);
    assert.match(csv.type, /^text\/csv/);
    assert.equal(csv.fileName, 'leads-csv-2026-11-21.csv');
    const lines = (await asked.file(EXPORT_PATH, { state: 'unverified', format: 'jsonl' }))!;
    assert.equal((JSON.parse(lines.text) as Person).email, 'asks@example.com');
    const spring = (await asked.file(EXPORT_PATH, { campaign: 'spring' }))!;
    assert.match(spring.text, /^\uFEFFemail.*\r\nada@example\.com,[^\r]*\r\n$/);
    await asked.file(EXPORT_PATH, { search: 'ada@example.com', field: 'topics', answer: 'Prompts' });
    assert.deepEqual(
      (await asked.noted())
        .filter(({ action }) => action === 'exported')
        .map(({ about, details }) => [about, details]),
      [
        [null, 'csv: verified, of a domain'],
        [null, 'jsonl: unverified'],
        [null, 'csv: verified, of a campaign'],
        [null, 'csv: verified, with a search, with an answer'],
      ],
    );
    await assert.rejects(
      asked.file(EXPORT_PATH, { state: 'unverified', format: 'hubspot' }),
      /only takes verified leads/,
    );
    await assert.rejects(asked.file(EXPORT_PATH, { format: 'exe' }), /“format” in the URL/);
    assert.equal(
      (await asked.noted()).filter(({ action }) => action === 'exported').length,
      4,
      'what was refused is no export',
    );

    assert.deepEqual(await asked.ask('leadCount', { from: '2026-11-01' }), { atMost: 4, verified: 3 });
    assert.deepEqual(await asked.ask('leadCount', { from: '2026-12-01' }), { atMost: 0, verified: 0 });
    const choices = (await asked.ask('choices'))!;
    assert.deepEqual(choices.sources, ['direct', 'google-ads', 'newsletter']);
    assert.deepEqual(choices.campaigns, ['spring']);
    assert.deepEqual(
      choices.formats.filter(({ takesEveryState }) => takesEveryState).map(({ name }) => name),
      ['csv', 'jsonl'],
    );
    assert.deepEqual((await asked.ask('domains'))?.domains, [
      { domain: 'example.com', people: 2 },
      { domain: 'söhne.example.com', people: 1 },
    ]);
  });

  test('long sources and campaigns can be chosen, but none with an e-mail address', async (server) => {
    const { ask } = deskClient(server.service);
    const long = '2026-q4_de_linkedin_awareness_retargeting_carousel';
    await visit(server, 'ada@example.com', {}, `utm_source=${long}&utm_campaign=${long}`);
    const secret = `${'x'.repeat(50)}@example.com`;
    await visit(server, 'eve@example.com', {}, `utm_source=${secret}&utm_campaign=${secret}`);
    const { sources, campaigns } = (await ask('choices'))!;
    assert.deepEqual({ sources, campaigns }, { sources: [long], campaigns: [long] });
    for (const filter of [{ source: long }, { campaign: long }]) {
      assert.equal((await ask('people', filter))!.people.length, 1);
      assert.match((await ask('report', filter))!.html, /<dt>New leads<\/dt><dd class="report-value">1</);
    }
    const { notes } = await command(server.service, ['leads', '--campaign', long.slice(1)]);
    assert.equal(notes, `Nobody came from “${long.slice(1)}”. Known campaigns: ${long}.`);
  });

  test('each contact appears exactly once in the complete list, whatever the filter', async (server) => {
    const asked = deskClient(server.service);
    await fillLeads(server, 1_303);
    const all = Array.from({ length: 1_303 }, (_, at) => `past-${1_302 - at}`);
    assert.deepEqual(await everyone(asked, {}), all);
    assert.deepEqual(
      await everyone(asked, { domain: 'rare.example' }),
      all.filter((name) => Number(name.slice(5)) % 100 === 0),
    );
    assert.deepEqual(
      await everyone(asked, { source: 'webinar' }),
      all.filter((name) => Number(name.slice(5)) % 250 === 7),
    );
    assert.deepEqual(await everyone(asked, { search: 'past-1302@often.example' }), ['past-1302']);
    const first = (await asked.ask('people'))!;
    assert.equal(first.people.length, 50);
    await becomeLead(server, 'newest@example.com');
    await command(server.service, ['erase', first.people[49]!.email, '--yes']);
    await command(server.service, ['erase', 'past-1252@often.example', '--yes']);
    const second = (await asked.ask('people', { after: first.next }))!;
    assert.equal(second.people[0]?.email, 'past-1251@often.example');
    const { text } = (await asked.file(EXPORT_PATH, { source: 'webinar' }))!;
    assert.equal(text.trimEnd().split('\r\n').length, 1 + 6);
    const domains = new Map<string, number>();
    for (let after: string | null | undefined; after !== null;) {
      const part = (await asked.ask('domains', { ...(after && { after }) }))!;
      for (const { domain, people } of part.domains) domains.set(domain, (domains.get(domain) ?? 0) + people);
      after = part.next;
    }
    assert.deepEqual(Object.fromEntries(domains), {
      'often.example': 1_287,
      'rare.example': 14,
      'example.com': 1,
    });
  });

  test('a timeline is found by the ID of lead, form or import until the person is erased', async (server) => {
    const asked = deskClient(server.service);
    const { db } = server.database;
    await visit(server, 'ada@example.com', { name: '<i>Ada</i>' }, CAMPAIGN_VISIT);
    await askAndReceive(server, 'asks@example.com');
    const [ada] = (await asked.ask('people'))!.people;
    const [asks] = (await asked.ask('people', { state: 'unverified' }))!.people;
    const found = (await asked.ask('personDetails', { id: ada!.id }))!;
    assert.deepEqual(found.person, ada);
    assert.equal(found.timeline.length, 5);
    assert.equal(found.timeline[0]?.details['name'], '<i>Ada</i>');
    assert.deepEqual(found.consent, {
      text: server.campaign.consent.text,
      givenAt: '2026-11-20T12:00:00.000Z',
      version: server.campaign.consent.version,
    });
    assert.deepEqual([found.suppressions, found.canSendGuide], [[], false]);
    const form = await db
      .selectFrom('submissions')
      .select('id')
      .where('email', '=', 'ada@example.com')
      .executeTakeFirstOrThrow();
    assert.equal((await asked.ask('personDetails', { id: form.id }))?.person.id, ada?.id, 'of the lead');
    const unverified = (await asked.ask('personDetails', { id: asks!.id }))!;
    assert.deepEqual([unverified.person.state, unverified.consent], ['unverified', null]);
    const viewed = (await asked.noted()).map(({ about, details }) => about ?? details);
    assert.deepEqual(viewed, ['list: verified', 'list: unverified', 'ada@example.com', 'asks@example.com']);

    const page = (await asked.file(PROOF_PATH, { id: ada!.id }))!;
    assert.match(page.text, /Proof of consent: ada@<wbr>example\.com/);
    assert.ok(page.text.includes('&lt;i&gt;Ada&lt;/i&gt;') && !page.text.includes('<i>Ada'));
    assert.ok(page.styles?.length === 1 && page.text.includes(`<style>${page.styles[0]}</style>`));
    assert.ok(!page.text.includes('style='), 'no style that a policy with hashes would refuse');
    await assert.rejects(asked.file(PROOF_PATH, { id: asks!.id }), /has not verified a consent here/);

    await command(server.service, ['erase', 'ada@example.com', '--yes']);
    for (const id of [ada!.id, form.id, 'no id', '']) {
      assert.equal(await asked.ask('personDetails', { id }), null);
      assert.equal(await asked.file(PROOF_PATH, { id }), null);
    }

    await importFile(server, 'email,name\nold@example.com,Old\n');
    const { id: imported } = await db.selectFrom('imported_leads').select('id').executeTakeFirstOrThrow();
    await command(server.service, ['suppress', 'add', 'old@example.com']);
    await askAndReceive(server, 'old@example.com');
    const [old] = (await asked.ask('people', { state: 'unverified', search: 'old@' }))!.people;
    for (const id of [imported, old!.id]) {
      const { person, consent, suppressions } = (await asked.ask('personDetails', { id }))!;
      assert.deepEqual([person.id, person.state], [imported, 'imported']);
      assert.equal(consent?.text, `Not given here. Imported: ${CONSENT_SOURCE}`);
      assert.deepEqual(
        suppressions.map(({ reason, canUndo }) => [reason, canUndo]),
        [['by-hand', true]],
      );
    }
  });

  test(
    'the name of an exported file contains the day in TIME_ZONE',
    { env: { TIME_ZONE: 'Pacific/Kiritimati' } },
    async (server) => {
      const { fileName } = (await deskClient(server.service).file(EXPORT_PATH, {}))!;
      assert.equal(fileName, 'leads-csv-2026-11-21.csv');
    },
  );
});
