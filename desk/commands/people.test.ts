import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

import type { TimelineEntry } from '#desk/endpoints/people.ts';
import { inTurnBehindLock } from '#testing/address-lock.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { inFolder } from '#testing/folder.ts';
import { codeIn } from '#testing/inbox.ts';
import { ask, askForCode, EMAIL, enter, enterWrong, newestCode } from '#testing/lead-calls.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { valuesOf } from '#testing/values-of.ts';

const NASTY = 'Ada <img src=x onerror=alert(1)>';

const enterWrongCodeFirst = (server: ServerUnderTest) =>
  becomeLead(server, EMAIL, 1, {
    beforeCode: async (visitor, mail) => {
      await enterWrong(visitor, codeIn(mail), 1);
      await server.advance(30);
    },
  });

async function timelineOf(server: ServerUnderTest, email: string): Promise<readonly TimelineEntry[]> {
  const { out } = await succeeded(desk(server.service, ['show', email, '--json']));
  return (JSON.parse(out) as { timeline: TimelineEntry[] }).timeline;
}

onEachEngine('desk commands about a person', ({ test, both, engine }) => {
  both("a person's timeline contains every event from the first request to an export", async (server) => {
    const { visitor } = await enterWrongCodeFirst(server);
    await server.advance(60);
    await visitor.get('/api/article');
    await server.advance(60);
    await visitor.get('/api/article');
    const corrected = await desk(server.service, ['correct', EMAIL, '--company', ' Engines & Co ']);
    assert.match(corrected.out, /Analytical Engines → Ada Lovelace, Engines & Co$/m);
    const short = desk(server.service, ['correct', EMAIL, '--name', 'A']);
    await refused(short, 'Name must be at least 2 characters', 2);
    const eve = () => desk(server.service, ['correct', 'eve@example.com', '--name', 'Eve Adams']);
    await refused(eve(), /^No data is stored about eve@example\.com\./);
    await ask(createVisitor(server), { email: 'eve@example.com' });
    await refused(eve(), /^eve@example\.com has not entered a code, so there is no lead to correct\./);
    await server.advance(60);
    await desk(server.service, ['export', '--since-last', 'crm']);

    const timeline = await timelineOf(server, ' ADA@Example.com');
    assert.deepEqual(valuesOf(timeline, 'what'), [
      'asked for a code',
      'mail sent',
      'had entered wrong codes',
      'entered the code',
      'became a lead',
      'agreed to receive emails and proved their address',
      'read the article for the first time',
      'was corrected by the operator',
      'was exported',
    ]);
    const detail = (what: string) => timeline.find((entry) => entry.what === what)?.details;
    assert.match(detail('mail sent')?.['the mail server said'] ?? '', /^250 /);
    assert.equal(detail('had entered wrong codes')?.['how often'], '1');
    assert.equal(detail('asked for a code')?.['from'], '198.51.100.7');
    assert.deepEqual(detail('was corrected by the operator'), {
      company: 'Analytical Engines → Engines & Co',
    });
    assert.match((await desk(server.service, ['show', EMAIL])).out, /\d{2}:\d{2}  became a lead\n/);
    assert.doesNotMatch(JSON.stringify(timeline), new RegExp(codeIn(server.inbox.mails[0]!)));
  });

  test("wrong codes are in a person's timeline before the code expires, but not in the future", async (server) => {
    const { visitor, code } = await askForCode(server);
    await enterWrong(visitor, code, 1);
    const entry = (await timelineOf(server, EMAIL)).find(({ what }) => what === 'had entered wrong codes');
    assert.equal(entry?.at, new Date(server.now()).toISOString());
  });

  test('a correction leaves the earlier entries of a timeline as they were', async (server) => {
    await becomeLead(server, EMAIL);
    const before = await timelineOf(server, EMAIL);
    await server.advance(60);
    await succeeded(desk(server.service, ['correct', EMAIL, '--name', 'Ada King']));
    assert.deepEqual((await timelineOf(server, EMAIL)).slice(0, before.length), before);
  });

  test(
    "all times of a person's timeline are in TIME_ZONE",
    { env: { TIME_ZONE: 'Asia/Tokyo' } },
    async (server) => {
      await becomeLead(server, EMAIL);
      const { out } = await succeeded(desk(server.service, ['show', EMAIL]));
      assert.match(out, /^    given at: 2026-11-20 21:00:00$/m);
      assert.doesNotMatch(out, /\dT\d/);
    },
  );

  if (engine === 'postgres')
    both('a correction and a new form that arrive at the same time are both kept', async (server) => {
      await becomeLead(server, EMAIL);
      await server.advance(61);
      const visitor = createVisitor(server);
      await ask(visitor, { name: 'Ada King' });
      const code = await newestCode(server, 2);
      const [entered, corrected] = await inTurnBehindLock(server.database, EMAIL, [
        () => enter(visitor, code),
        () => desk(server.service, ['correct', EMAIL, '--company', 'Engines & Co']),
      ]);
      assert.deepEqual([entered.statusCode, corrected.exitCode], [200, 0]);
      const { db } = server.database;
      const lead = await db.selectFrom('leads').select(['name', 'company']).executeTakeFirstOrThrow();
      assert.deepEqual({ ...lead }, { name: 'Ada King', company: 'Engines & Co' });
    });

  test('a person is erased only after confirmation, and the erased rows are reported per table', async (server) => {
    await becomeLead(server, EMAIL);
    const asked: string[] = [];
    const confirm = async (question: string) => asked.push(question) === 0;
    await refused(desk(server.service, ['erase', EMAIL], { confirm }), /^Nothing was erased\./);
    assert.match(asked.join(''), /Erase all data about ada@example\.com\? .*1 lead, 1 form, /);
    assert.equal(await server.countRows('leads'), 1);

    const erased = await succeeded(desk(server.service, ['erase', EMAIL, '--yes', '--json']));
    const counts = (JSON.parse(erased.out) as { erased: Record<string, number> }).erased;
    assert.deepEqual([counts['leads'], counts['consent_receipts']], [1, 1]);
    assert.equal((await desk(server.service, ['show', EMAIL])).exitCode, 1);
    assert.equal((await desk(server.service, ['erase', EMAIL, '--yes'])).exitCode, 1);
  });

  both('all data about a person can be exported as JSON and as a page without scripts', async (server) => {
    await becomeLead(server, EMAIL, 1, { form: { name: NASTY } });
    await inFolder(async (folder) => {
      const out = path.join(folder, 'ada');
      await succeeded(desk(server.service, ['person', EMAIL, '--out', `${out}.html`]));
      assert.deepEqual(readdirSync(folder).toSorted(), ['ada.html', 'ada.json']);
      const json = readFileSync(`${out}.json`, 'utf8');
      const held = JSON.parse(json) as Record<string, { name?: string }[]>;
      assert.equal(held['leads']?.[0]?.name, NASTY);
      assert.equal(held['submissions']?.length, 1);
      const page = readFileSync(`${out}.html`, 'utf8');
      assert.match(page, /Ada &lt;img src=x onerror=alert\(1\)&gt;/);
      assert.doesNotMatch(page, /<img|<script|https?:\/\//);
      for (const file of [`${out}.json`, `${out}.html`]) assert.equal(statSync(file).mode & 0o077, 0);
    });
  });
});
