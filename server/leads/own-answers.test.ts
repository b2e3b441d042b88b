import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';

import { API, CONSENT_VERSION_HEADER } from '#shared/api.ts';
import { answersByLabel } from '#shared/own-fields.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { desk, importFile } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { ask, EMAIL, enterNewest } from '#testing/lead-calls.ts';
import { createVisitor, withServer, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const FORM = `fields:
  - { id: job_title, label: Job title, kind: text, required: true }
  - { id: phone, label: Phone, kind: telephone }
  - { id: topics, label: Topics, kind: choices, options: [Prompts, Personas] }
`;
const LATER = `fields:
  - { id: job_title, label: Position, kind: text }
  - { id: topics, label: Topics, kind: choices, options: [Prompts, Deliverability] }
  - { id: team, label: Team, kind: choice, required: true, options: [Small, Large] }
`;

const WITH_FORM = { campaign: { 'form.yaml': FORM } };

const askWith = (visitor: Visitor, answers: unknown, headers: Record<string, string> = {}) =>
  ask(visitor, { answers }, headers);

const storedIn = async ({ database }: ServerUnderTest, table: 'submissions' | 'leads') =>
  valuesOf(await database.db.selectFrom(table).select('answers').orderBy('id').execute(), 'answers');

onEachEngine('answers to custom questions', WITH_FORM, ({ test, both }) => {
  test('answers to custom questions are stored with their labels and copied to the lead', async (server) => {
    const visitor = createVisitor(server);
    const answers = { job_title: ' Countess ', phone: '', topics: ['Personas'] };
    assert.equal((await askWith(visitor, answers)).statusCode, 202);
    const stored =
      '{"job_title":{"label":"Job title","answer":"Countess"},"topics":{"label":"Topics","answer":["Personas"]}}';
    assert.deepEqual(await storedIn(server, 'submissions'), [stored]);
    const open = (await visitor.get(API.challenge)).json<{ answers: unknown }>();
    assert.deepEqual(open.answers, { job_title: 'Countess', topics: ['Personas'] });
    await enterNewest(server, visitor, 1);
    assert.deepEqual(await storedIn(server, 'leads'), [stored]);
  });

  test('an answer that does not fit any custom question is refused, and nothing is stored or mailed', async (server) => {
    const refused = async (answers: unknown, headers = {}) => {
      const { statusCode, body, headers: got } = await askWith(createVisitor(server), answers, headers);
      return [statusCode, got['x-error-code'], body];
    };
    const invalid = (sentence: string) => [400, 'invalid-input', sentence];
    assert.deepEqual(await refused(undefined), invalid('Job title: Please answer this question'));
    assert.deepEqual(
      await refused({ job_title: 'Countess', fax: '1' }),
      invalid('Invalid input: please check the field answers.fax.'),
    );
    const page = { [CONSENT_VERSION_HEADER]: server.campaign.consent.version };
    assert.deepEqual(await refused({ job_title: 'Countess', fax: '1' }, page), [
      409,
      'page-outdated',
      'This form has changed since you opened it. Please reload this page and send it again.',
    ]);
    assert.equal(await server.countRows('submissions'), 0);
    assert.equal(await server.countRows('outbox'), 0);
    assert.doesNotMatch(server.logLines.join(), /Countess/);
  });

  test("imported answers fill the gaps in the lead's first form", async (server) => {
    await importFile(server, `email,job_title,phone\n${EMAIL},Lady,+44 20 7946 0018\n`);
    const answers = async () => {
      const [lead] = await storedIn(server, 'leads');
      return answersByLabel(lead ?? null);
    };
    const visitor = createVisitor(server);
    await askWith(visitor, { job_title: 'Countess' });
    await enterNewest(server, visitor, 1);
    assert.deepEqual(await answers(), { 'Job title': 'Countess', Phone: '+44 20 7946 0018' });

    await server.advance(3_600);
    const again = createVisitor(server);
    await askWith(again, { job_title: 'Countess', topics: ['Prompts'] });
    await enterNewest(server, again, 2);
    assert.deepEqual(await answers(), { 'Job title': 'Countess', Topics: 'Prompts' });
  });

  both('answers are not copied to an existing lead if another browser enters the code', async (server) => {
    const owner = createVisitor(server, '198.51.100.1');
    await askWith(owner, { job_title: 'Countess' });
    await enterNewest(server, owner, 1);
    await server.advance(3_600);
    await askWith(createVisitor(server, '198.51.100.2'), { job_title: 'Impostor' });
    await enterNewest(server, createVisitor(server, '198.51.100.3'), 2);
    const [lead] = await storedIn(server, 'leads');
    assert.match(lead ?? '', /Countess/);
    assert.doesNotMatch(lead ?? '', /Impostor/);
  });
});

it('imported answers are kept by a lead whose form has no questions any more', () =>
  inFolder(async (folder) => {
    const env = { DATABASE_URL: `file:${path.join(folder, 'leads.db')}` };
    await withServer({ engine: 'sqlite', env, campaign: { 'form.yaml': FORM } }, async (server) => {
      await importFile(server, `email,job_title\n${EMAIL},Lady\n`);
    });
    await withServer({ engine: 'sqlite', env }, async (server) => {
      await becomeLead(server, EMAIL);
      const [lead] = await storedIn(server, 'leads');
      assert.deepEqual(answersByLabel(lead ?? null), { 'Job title': 'Lady' });
    });
  }));

it('answers stay readable under their former label after the questions change', () =>
  inFolder(async (folder) => {
    const env = { DATABASE_URL: `file:${path.join(folder, 'leads.db')}` };
    const given = { job_title: 'Countess', phone: '+44 20 7946 0018', topics: ['Prompts', 'Personas'] };
    await withServer({ engine: 'sqlite', env, campaign: { 'form.yaml': FORM } }, (server) =>
      becomeLead(server, EMAIL, 1, { form: { answers: given } }),
    );

    await withServer({ engine: 'sqlite', env, campaign: { 'form.yaml': LATER } }, async (server) => {
      const run = async (...args: readonly string[]) => (await desk(server.service, args)).out;
      const [headings = '', line = ''] = (await run('export')).split('\r\n');
      assert.ok(headings.endsWith(',first_read_at,job_title,topics,team,earlier_answers'), headings);
      assert.ok(line.endsWith(',Countess,Prompts; Personas,,Phone: +44 20 7946 0018'), line);
      const shown = await run('show', EMAIL);
      assert.match(
        shown,
        / {4}Job title: Countess\n {4}Phone: \+44 20 7946 0018\n {4}Topics: Prompts; Personas\n/,
      );

      await server.advance(3_600);
      const answers = { job_title: '', topics: ['Deliverability'], team: 'Small' };
      await becomeLead(server, EMAIL, 1, { form: { answers } });
      const [, again = ''] = (await run('export')).split('\r\n');
      assert.ok(again.endsWith(',,Deliverability,Small,Phone: +44 20 7946 0018'), again);
    });
  }));
