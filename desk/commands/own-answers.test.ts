import assert from 'node:assert/strict';
import { it } from 'node:test';

import { FORMATS, ownColumns, type PersonAsJson } from '#desk/export/export-columns.ts';
import type { Report } from '#desk/report/report.ts';
import { sealConsents } from '#server/consent/sealer.ts';
import { Form } from '#shared/campaign-schema.ts';
import { TOOL_NAMES } from '#shared/tools.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { exportProof } from '#testing/consents.ts';
import { desk, importFile, importNamed, refused, succeeded } from '#testing/desk.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const FORM = `fields:
  - { id: job_title, label: Job title, kind: text, required: true, maxLength: 20 }
  - { id: team, label: "Team <size> & more", kind: choice, options: [Only me, 2 to 5] }
  - { id: topics, label: Topics, kind: choices, options: [Prompts, Personas, Résumés], properties: { hubspot: Topics, salesforce: Interests__c } }
  - { id: goal, label: Goal, kind: long text }
  - { id: phone, label: Phone, kind: telephone }
`;

const ADA = ['Ada Lovelace', 'Analytical Engines'];

const become = (server: ServerUnderTest, email: string, answers: object) =>
  becomeLead(server, email, 1, { form: { answers } });

const correct = (server: ServerUnderTest, ...changes: readonly string[]) =>
  desk(server.service, ['correct', 'ada@example.com', ...changes.flatMap((one) => ['--answer', one])]);

it('a custom question cannot use the name of a built-in column', () => {
  const isTaken = (more: object) =>
    !Form.safeParse({ fields: [{ id: 'one', label: 'One', kind: 'text', ...more }] }).success;
  assert.equal(isTaken({}), false);
  const whole = { fields: [], hasAnswers: true, hasVariants: true, hasNews: true };
  for (const [heading] of [...FORMATS.csv.columns, ...ownColumns('csv', whole)])
    assert.ok(isTaken({ id: heading }), heading);
  for (const tool of TOOL_NAMES)
    for (const [heading] of [...FORMATS[tool].columns, ...ownColumns(tool, whole)])
      assert.ok(isTaken({ properties: { [tool]: heading } }), `${tool}: ${heading}`);
});

onEachEngine(
  'custom questions with labels like headings',
  {
    campaign: {
      'form.yaml': `fields:
  - { id: region, label: State, kind: text }
  - { id: heard_of_us, label: Source, kind: text }
`,
    },
  },
  ({ test }) => {
    test('an import reads a status in the column of a question', async (server) => {
      const list = 'email,state\nada@example.com,CA\neve@example.com,cancelled\ngus@example.com,bounced\n';
      const { notes } = await succeeded(importFile(server, list));
      assert.match(notes, /^1 person imported from /m);
      const { out } = await desk(server.service, ['export', '--state', 'imported']);
      assert.match(out, /^ada@example\.com,.*,CA,,\r?$/m);
    });

    test('an import of our export finds answers by ID before label', async (server) => {
      await become(server, 'ada@example.com', { region: 'CA', heard_of_us: 'a friend' });
      const exported = (await desk(server.service, ['export'])).out;
      await importFile(server, exported.replaceAll('ada@', 'eve@'));
      const { out } = await desk(server.service, ['export', '--state', 'imported']);
      assert.match(out, /^eve@example\.com,.*,CA,a friend,\r?$/m);
    });
  },
);

onEachEngine('custom questions in the desk', { campaign: { 'form.yaml': FORM } }, ({ test, both }) => {
  test("an import reads answers by the question's ID or label and skips invalid ones", async (server) => {
    const list =
      'Email,Job Title,Phone,topics\n' +
      'ada@example.com,Countess,n/a,Prompts;Film\n' +
      'gus@example.com,A title that is far too long,call me,\n' +
      'eve@example.com,,+44 20 7946 0018,Re\u0301sume\u0301s\n';
    const tried = await succeeded(importFile(server, list, '--dry-run', '--json'));
    assert.deepEqual((JSON.parse(tried.out) as { answersLeftOut: unknown }).answersLeftOut, [
      { id: 'topics', label: 'Topics', reason: 'not one of the options', count: 1, line: 2 },
      { id: 'phone', label: 'Phone', reason: 'not a valid telephone number', count: 2, line: 2 },
      { id: 'job_title', label: 'Job title', reason: 'more than 20 characters', count: 1, line: 3 },
    ]);
    const rough = await importFile(server, list);
    assert.match(rough.notes, /^3 people imported from /m);
    assert.match(
      rough.notes,
      /^Phone: not a valid telephone number\. 2 answers, the first in line 2, were left out\.$/m,
    );
    assert.match(rough.notes, /^Topics: not one of the options\. The answer in line 2 was left out\.$/m);
    const all = await desk(server.service, ['export', '--state', 'imported']);
    assert.match(all.out, /^ada@example\.com,.*,Countess,,,,,\r?$/m);
    assert.match(all.out, /^gus@example\.com,.*,,,,,,\r?$/m);
    assert.match(all.out, /^eve@example\.com,.*,,,Résumés,,\+44 20 7946 0018,\r?$/m);
    const several = 'Email,Job Title,topics,Other\nlin@example.com,Countess,"Prompts; Personas",x\n';
    const good = await succeeded(importFile(server, several));
    assert.match(good.notes, /Columns used: "Email", "Job Title", "topics"\./);
    const { out } = await desk(server.service, ['export', '--state', 'imported']);
    assert.match(out, /^lin@example\.com,.*,Countess,,Prompts; Personas,,,\r?$/m);
  });

  both('"desk correct" changes, adds and deletes answers, even to removed questions', async (server) => {
    await become(server, 'ada@example.com', { job_title: 'Countess', topics: ['Prompts'] });
    await server.advance(10);
    await succeeded(correct(server, 'job_title=Lady = Lovelace', 'team=2 to 5', 'topics='));
    const shown = (await desk(server.service, ['show', 'ada@example.com'])).out;
    assert.match(shown, /Job title: Countess → Lady = Lovelace\n/);
    assert.match(shown, /Team <size> & more: – → 2 to 5\n/);
    assert.match(shown, /Topics: Prompts → –\n/);

    const held = {
      pager: { label: 'Pager', answer: '1' },
      fax: { label: 'Fax', answer: '+44 1' },
      days: { label: 'Days', answer: ['Monday', 'Friday'] },
      topics: { label: 'Topics', answer: ['Film'] },
    };
    const answers = JSON.stringify(held);
    await server.database.db.updateTable('leads').set({ answers }).execute();
    await succeeded(
      correct(server, 'pager=', 'fax=+44 2', 'days=Friday', 'topics=Prompts; Film', 'team=Only me'),
    );
    const lead = await server.database.db.selectFrom('leads').select('answers').executeTakeFirstOrThrow();
    assert.deepEqual(JSON.parse(lead.answers ?? ''), {
      fax: { label: 'Fax', answer: '+44 2' },
      days: { label: 'Days', answer: ['Friday'] },
      topics: { label: 'Topics', answer: ['Prompts', 'Film'] },
      team: { label: 'Team <size> & more', answer: 'Only me' },
    });
    const known = /^Use --answer id=text with .*: job_title, team, topics, goal, phone, fax, days\.$/m;
    for (const [change, sentence] of [
      ['pager=2', known],
      ['toString=2', known],
      ['job_title', known],
      ['team=Many', /^Team <size> & more: Please choose from the list$/m],
    ] as const)
      await refused(correct(server, change), sentence, 2);
    assert.equal(await server.countRows('corrections'), 2);
  });

  test("a CRM export contains multiple-choice answers in the CRM's format", async (server) => {
    await become(server, 'ada@example.com', {
      job_title: '=cmd|1',
      topics: ['Prompts', 'Personas'],
      team: 'Only me',
      goal: 'First\nsecond <b>',
    });
    const lines = async (format: string) =>
      (await desk(server.service, ['export', '--format', format])).out.split('\r\n');
    const [hubspot = '', contact = ''] = await lines('hubspot');
    assert.ok(hubspot.endsWith(',GCLID,Topics') && contact.endsWith(',Prompts;Personas'), contact);
    const { notes } = await desk(server.service, ['export', '--format', 'hubspot']);
    assert.match(notes, /^The file has no answers to Job title, Team <size> & more, Goal, Phone\. To add/m);
    const [salesforce = ''] = await lines('salesforce');
    assert.ok(salesforce.endsWith(',Interests__c'));
    assert.ok((await lines('pipedrive'))[0]?.endsWith(',Person - Unsubscribe URL,Lead - UTM Campaign'));
    assert.match((await desk(server.service, ['export'])).out, /,'=cmd\|1,Only me,/);

    const table = (await desk(server.service, ['leads'])).out;
    assert.match(table, /^.*flags +job_title +team +topics +goal +phone\n/);
    assert.match(table, /First second <b>/);

    await server.advance(120);
    await sealConsents(server.service);
    const { page } = await exportProof(server, 'ada@example.com');
    assert.match(page, /<dt>Team &lt;size&gt; &amp; more<\/dt><dd>Only me<\/dd>/);
  });

  both('the report counts new leads by chosen answer and never shows a typed answer', async (server) => {
    await become(server, 'a@example.com', {
      job_title: 'x',
      team: '2 to 5',
      topics: ['Prompts', 'Personas'],
    });
    await become(server, 'bb@example.com', { job_title: 'x', team: '2 to 5', topics: ['Prompts'] });
    await become(server, 'ccc@example.com', { job_title: 'Secret words' });
    await server.database.db
      .updateTable('leads')
      .set({ answers: '{"team":{"label":"Team","answer":"Typed by Ada"}}' })
      .where('email', '=', 'ccc@example.com')
      .execute();
    const report = JSON.parse((await desk(server.service, ['report', '--json'])).out) as Report;
    assert.deepEqual(report.byAnswer, [
      {
        id: 'team',
        label: 'Team <size> & more',
        areSeveral: false,
        rows: [
          { name: 'Only me', leads: 0 },
          { name: '2 to 5', leads: 2 },
          { name: 'other answers', leads: 1 },
        ],
      },
      {
        id: 'topics',
        label: 'Topics',
        areSeveral: true,
        rows: [
          { name: 'Prompts', leads: 2 },
          { name: 'Personas', leads: 1 },
          { name: 'Résumés', leads: 0 },
          { name: 'no answer', leads: 1 },
        ],
      },
    ]);
    const text = (await desk(server.service, ['report', '--text'])).out;
    assert.match(text, /TEAM <SIZE> & MORE\n2 of 3 new leads chose “2 to 5”\.\n/);
    assert.match(text, /chose “Prompts”\. Leads may choose several answers\.\n/);
    for (const where of [text, JSON.stringify(report)]) assert.doesNotMatch(where, /Typed by Ada|Secret/);
  });
});

it('an export contains telephone numbers in dialled form and can be imported again', async () => {
  const named = (name: string) => `{ ${TOOL_NAMES.map((tool) => `${tool}: ${name}`).join(', ')} }`;
  const form = `fields:
  - { id: phone, label: Phone, kind: telephone, properties: ${named('Phone')} }
  - { id: change, label: Change, kind: number, properties: ${named('Change')} }
  - { id: motto, label: Motto, kind: text, properties: ${named('Slogan')} }
`;
  const people = {
    'a@example.com': { phone: '+44 (0)20 7946-0018', change: '-2.5', motto: '+44 20' },
    'bb@example.com': { phone: '+1 202 555 0143 ext. 12', change: '-2', motto: '=cmd|1' },
    'ccc@example.com': { motto: "'=cmd|1" },
    'dddd@example.com': { motto: "c;=cmd|' /C calc'!A0" },
  };
  const exported = new Map<string, string>();
  await withServer({ engine: 'sqlite', campaign: { 'form.yaml': form } }, async (server) => {
    for (const [email, answers] of Object.entries(people)) await become(server, email, answers);
    for (const format of ['csv', ...TOOL_NAMES]) {
      const { out } = await desk(server.service, ['export', '--format', format]);
      exported.set(format, out);
      assert.match(out, /,\+44 \(0\)20 7946-0018,-2\.5,'\+44 20(?:,|\r\n)/, format);
      assert.match(out, /,'\+1 202 555 0143 ext\. 12,-2,'=cmd\|1(?:,|\r\n)/, format);
    }
  });
  await withServer({ engine: 'sqlite', campaign: { 'form.yaml': form } }, async (server) => {
    for (const [format, content] of exported) {
      await succeeded(importNamed(server, `${format}.csv`, content), format);
      const { out } = await desk(server.service, ['export', '--state', 'imported', '--format', 'jsonl']);
      const back = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as PersonAsJson);
      for (const { name, company, consent } of back)
        assert.deepEqual([name, company, consent?.given_at], [...ADA, '2026-11-20T12:00:00.000Z'], format);
      const answersOf = ({ answers = {} }: PersonAsJson) =>
        Object.fromEntries(Object.entries(answers).map(([id, { answer }]) => [id, answer]));
      const found = back.map((person) => [person.email, answersOf(person)]);
      assert.deepEqual(Object.fromEntries(found), people, format);
      await server.database.db.deleteFrom('imported_leads').execute();
    }
  });
});
