// Checks that every field of shared/lead.ts and a custom question appear wherever leads are stored or shown.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { API, OpenChallenge } from '#shared/api.ts';
import { LeadForm } from '#shared/lead.ts';
import { MATRIX_ENGINES } from '#testing/databases.ts';
import { desk, importFile, succeeded } from '#testing/desk.ts';
import { inFolder } from '#testing/folder.ts';
import { ask, EMAIL, enter, newestCode } from '#testing/lead-calls.ts';
import { createVisitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { withWebhook } from '#testing/webhook-leads.ts';

const OPERATOR = 'you@example.com';
const FIXED = Object.keys(LeadForm.shape).filter((field) => field !== 'email' && field !== 'consent');
const OWN = 'job_title';
const FORM = `fields:
  - id: ${OWN}
    label: Position
    kind: text
    properties: { hubspot: Job Title, salesforce: Title, mailchimp: Position, pipedrive: Person - Job title }
`;
const NAMES = [...FIXED, OWN];
const answer = (name: string, mark: string): string => `${mark} ${name}`;
const fixedAnswers = (mark: string) => Object.fromEntries(FIXED.map((name) => [name, answer(name, mark)]));
const answers = (mark: string) => ({ ...fixedAnswers(mark), answers: { [OWN]: answer(OWN, mark) } });

it('the docs list every field of the form', () => {
  const document = (name: string) => readFileSync(path.join(PROJECT_FOLDER, 'docs', name), 'utf8');
  const api = document('api.md');
  assert.ok(
    api.includes(`{${Object.keys(LeadForm.shape).join(', ')}}`),
    'docs/api.md has the body of POST /api/leads',
  );
  assert.ok(
    api.includes(`{${Object.keys(OpenChallenge.shape).join(', ')}}`),
    'docs/api.md has the answer to GET /api/challenge',
  );
  const [, csv = ''] = /^Columns of csv:\n([^]*?)\n\n/m.exec(document('commands.md')) ?? [];
  for (const name of FIXED)
    assert.ok(csv.split(/\s+/).includes(name), `docs/commands.md has ${name} among the columns of csv`);
});

for (const engine of MATRIX_ENGINES) {
  it(`every field of the form is stored, shown with each lead, correctable and erased on ${engine}`, () =>
    inFolder((folder) => {
      const env = { OPERATOR_EMAIL: OPERATOR, NEW_LEAD_EMAIL: 'each' };
      return withWebhook({ engine, env, campaign: { 'form.yaml': FORM } }, async (server, receiver) => {
        server.setClock(Date.now());
        const missing: string[] = [];
        const look = (place: string, text: string, mark: string) =>
          missing.push(
            ...NAMES.filter((name) => !text.includes(answer(name, mark))).map(
              (name) => `${place} has no ${name}`,
            ),
          );
        const run = async (...args: readonly string[]) => {
          const { exitCode, out, notes } = await desk(server.service, args);
          if (exitCode !== 0) missing.push(`desk ${args.join(' ')} says: ${notes}`);
          return out;
        };
        const becomeLead = async (email: string, mark: string) => {
          const mails = server.inbox.mailsTo(email).length;
          const visitor = createVisitor(server);
          assert.equal((await ask(visitor, { email, ...answers(mark) })).statusCode, 202);
          look('a reloaded code screen', (await visitor.get(API.challenge)).body, mark);
          const code = await newestCode(server, mails + 1, email);
          assert.equal((await enter(visitor, code, email)).statusCode, 200);
        };

        await ask(createVisitor(server), { email: 'eve@example.com', ...answers('Lost') });
        await server.advance(3_600);
        look('desk leads --state unverified', await run('leads', '--state', 'unverified', '--json'), 'Lost');
        look('desk lost', await run('lost', '--json'), 'Lost');

        const person = Object.entries({
          email: 'gus@example.com',
          ...fixedAnswers('Imported'),
          [OWN]: answer(OWN, 'Imported'),
        });
        const list = `${person.map(([name]) => name).join()}\n${person.map(([, text]) => text).join()}`;
        await succeeded(importFile(server, list));
        look('desk import', await run('export', '--state', 'imported'), 'Imported');

        await becomeLead(EMAIL, 'Typed');
        await until(() => receiver.received.length > 0);
        look('a webhook', receiver.received[0]?.text ?? '', 'Typed');
        const news = await server.inbox.waitForMail(OPERATOR);
        look('the mail about a new lead', news.parsed.text ?? '', 'Typed');
        look('its HTML', news.parsed.html || '', 'Typed');
        look('desk leads', await run('leads', '--json'), 'Typed');
        look('desk export', await run('export'), 'Typed');
        look('desk export --format jsonl', await run('export', '--format', 'jsonl'), 'Typed');
        for (const [format, heading] of [
          ['hubspot', 'Job Title'],
          ['salesforce', 'Title'],
          ['mailchimp', 'Position'],
          ['pipedrive', 'Person - Job title'],
        ] as const) {
          const [headings = '', line = ''] = (await run('export', '--format', format)).split('\r\n');
          if (!headings.endsWith(`,${heading}`) || !line.endsWith(answer(OWN, 'Typed')))
            missing.push(`desk export --format ${format} has no ${OWN}`);
        }
        look('desk show', await run('show', EMAIL), 'Typed');
        await server.advance(120);
        const paper = path.join(folder, 'ada');
        await run('consent', 'export', EMAIL, '--out', paper);
        for (const ending of ['html', 'json'])
          look(`desk consent export, ${ending}`, readFileSync(`${paper}.${ending}`, 'utf8'), 'Typed');

        const changes = [
          ...FIXED.flatMap((name) => [`--${name}`, answer(name, 'Corrected')]),
          '--answer',
          `${OWN}=${answer(OWN, 'Corrected')}`,
        ];
        look('desk correct', await run('correct', EMAIL, ...changes), 'Corrected');
        look('a corrected lead', await run('export'), 'Corrected');
        const shown = await run('show', EMAIL);
        for (const name of NAMES)
          if (!shown.includes(`${answer(name, 'Typed')} → ${answer(name, 'Corrected')}`))
            missing.push(`a correction in desk show has no ${name}`);

        await becomeLead(EMAIL, 'Typed again');
        look('a lead that sent the form again', await run('export'), 'Typed again');

        await server.advance(120);
        for (const email of [EMAIL, 'eve@example.com', 'gus@example.com']) await run('erase', email, '--yes');
        for (const table of TABLE_NAMES) {
          const rows = JSON.stringify(await server.database.db.selectFrom(table).selectAll().execute());
          for (const name of NAMES)
            if (rows.includes(` ${name}"`) || rows.includes(` ${name}\\"`))
              missing.push(`${table} still has ${name} of the erased person`);
        }
        assert.deepEqual(missing, []);
      });
    }));
}
