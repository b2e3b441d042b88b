import assert from 'node:assert/strict';

import { PROOF_PATH } from '#desk/endpoints/people.ts';
import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { withdrawConsent } from '#server/consent/withdraw.ts';
import { inTurn } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { deskClient } from '#testing/desk-handlers.ts';
import { type ServerUnderTest } from '#testing/server-under-test.ts';
import { valuesOf } from '#testing/values-of.ts';

const ADA = 'ada@example.com';
const FORM = `fields:
  - { id: phone, label: Phone, kind: telephone }
  - { id: topics, label: Topics, kind: choices, options: [Prompts, Personas] }
`;

const WITH_GUIDE = { GUIDE_EMAIL: 'link', PUBLIC_URL: 'https://guide.example.com' };

async function rowsNaming({ database: { db } }: ServerUnderTest, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of TABLE_NAMES)
    for (const row of await db.selectFrom(table).selectAll().execute())
      if (JSON.stringify(row).toLowerCase().includes(text)) found.push(table);
  return found;
}

onEachEngine('changes by desk users', { campaign: { 'form.yaml': FORM } }, ({ test, both }) => {
  both('the audit log records each correction and each opened proof of consent', async (server) => {
    const { ask, file, noted } = deskClient(server.service);
    const { leadId: id } = await becomeLead(server, ADA);
    const answers = { phone: '+44 20 7946 0018', topics: 'Personas' };
    assert.deepEqual(await ask('correct', { id, company: 'Engines <&> Co', answers }), {});
    await assert.rejects(ask('correct', { id, name: 'A' }), /at least 2/);
    const [one, other] = await Promise.all([file(PROOF_PATH, { id }), file(PROOF_PATH, { id })]);
    assert.match(one!.text, /ada@example\.com/);
    assert.equal(other!.text, one!.text);
    assert.deepEqual(await noted(), [
      { action: 'corrected', about: ADA, details: 'company, phone, topics' },
      { action: 'exported', about: ADA, details: 'proof of consent' },
      { action: 'exported', about: ADA, details: 'proof of consent' },
    ]);
  });

  both('a desk user erases a person everywhere by retyping the e-mail address', async (server) => {
    const { ask, noted } = deskClient(server.service);
    const { leadId: id } = await becomeLead(server, ADA);
    const { leadId: other } = await becomeLead(server, 'eve@example.com');
    await server.advance(60);
    await assert.rejects(ask('erase', { id, email: 'eve@example.com' }), /Nothing was erased/);
    assert.notEqual(await ask('personDetails', { id }), null);
    const { erased, hasRemains } = (await ask('erase', { id, email: ' ADA@example.com' }))!;
    assert.equal(hasRemains, false);
    assert.match(erased, /^Erased: 1 lead, 1 form, .*\. Backups and earlier exports still contain the data/);
    assert.deepEqual(await rowsNaming(server, ADA), []);
    assert.ok((await rowsNaming(server, 'eve@example.com')).includes('leads'));
    const before = await noted();
    const last = before.at(-1)!;
    assert.equal(last.action, 'erased');
    assert.match(last.about ?? '', /^erased [\w-]{22}$/, 'a pseudonym');
    assert.match(last.details, /^1 lead, /);
    assert.deepEqual(
      valuesOf(before, 'about'),
      before.map(() => last.about),
      'lines about one person belong together',
    );
    for (const [name, asked] of [
      ['erase', { email: ADA }],
      ['correct', { name: 'Ada' }],
      ['suppress', { reason: 'by-hand' }],
      ['unsuppress', { reason: 'A slip', shown: [] }],
      ['sendGuide', {}],
      ['personDetails', {}],
    ] as const)
      assert.equal(await ask(name, { id, ...asked }), null, name);
    assert.deepEqual(await noted(), before);
    assert.equal((await ask('people'))!.people[0]?.id, other);
  });

  both('a change saved during an erasure does not restore the e-mail address', async (server) => {
    const { ask, noted } = deskClient(server.service);
    for (const [round, [name, asked]] of [
      ['suppress', { reason: 'by-hand' }],
      ['suppress', { reason: 'bounced', note: ADA }],
      ['suppress', { reason: 'unsubscribed' }],
      ['correct', { name: 'Ada King' }],
    ].entries() as Iterable<[number, readonly ['suppress' | 'correct', object]]>) {
      const { leadId: id } = await becomeLead(server, ADA, round + 1);
      await server.advance(60);
      const [erased, changed] = await inTurn(server.database, ADA, [
        () => ask('erase', { id, email: ADA }),
        () => ask(name, { id, ...asked }),
      ]);
      assert.match(erased!.erased, /^Erased: 1 lead, /);
      assert.equal(changed, null);
      assert.deepEqual(await rowsNaming(server, ADA), []);
      assert.equal((await noted()).at(-1)?.action, 'erased', name);
    }
  });

  both('the desk changes nothing if the audit log cannot be written', async (server) => {
    const { ask } = deskClient(server.service);
    const { leadId: id } = await becomeLead(server, ADA);
    await server.advance(60);
    const { schema } = server.database.db;
    await schema.alterTable('desk_log').renameTo('away').execute();
    for (const [name, asked] of [
      ['correct', { name: 'Ada King' }],
      ['suppress', { reason: 'by-hand' }],
      ['erase', { email: ADA }],
    ] as const)
      await assert.rejects(ask(name, { id, ...asked }), /desk_log/);
    await schema.alterTable('away').renameTo('desk_log').execute();
    const { person, suppressions } = (await ask('personDetails', { id }))!;
    assert.deepEqual([person.name, suppressions], ['Ada Lovelace', []]);
  });

  test('the desk says what to do if mail files of an erased person cannot be deleted', async (server) => {
    const { leadId: id } = await becomeLead(server, ADA);
    await server.advance(60);
    const mail = { ...server.service.mail, filesAbout: () => Promise.reject(new Error('no')) };
    const { ask, noted } = deskClient({ ...server.service, mail });
    const { erased, hasRemains } = (await ask('erase', { id, email: ADA }))!;
    assert.equal(hasRemains, true);
    assert.match(
      erased,
      /^Erased: 1 lead, .* E-mails to or about the person may remain in .* Delete these e-mails there\.$/,
    );
    assert.deepEqual(await rowsNaming(server, ADA), []);
    assert.equal((await noted()).at(-1)?.action, 'erased');
  });

  both(
    "a desk user can send the guide, suppress mail and undo a mistake, but not the person's decision",
    { env: WITH_GUIDE },
    async (server) => {
      const { ask, noted } = deskClient(server.service);
      const { leadId: id } = await becomeLead(server, ADA);
      await server.inbox.waitForMail(ADA, 2);
      await server.advance(60);
      await ask('sendGuide', { id });
      await server.inbox.waitForMail(ADA, 3);
      await ask('suppress', { id, reason: 'unsubscribed', note: ' by\u001B\ntelephone ' });
      await assert.rejects(ask('suppress', { id, reason: 'unsubscribed' }), /already/);
      const listed = (await ask('personDetails', { id }))!;
      assert.deepEqual([listed.person.state, listed.canSendGuide], ['suppressed', false]);
      await assert.rejects(ask('sendGuide', { id }), /is suppressed \(unsubscribed\)/);
      assert.deepEqual(listed.suppressions, [
        { reason: 'unsubscribed', since: '2026-11-20T12:01:00.000Z', note: 'by telephone', canUndo: true },
      ]);
      const shown = ['unsubscribed'];
      await assert.rejects(ask('unsuppress', { id, reason: ' ', shown }), /Explain why/);
      await server.advance(60);
      await ask('unsuppress', { id, reason: 'Meant ada@example.org', shown });
      const back = (await ask('personDetails', { id }))!;
      assert.deepEqual([back.person.state, back.suppressions], ['verified', []]);
      assert.equal(await server.countRows('suppression_removals'), 1);
      await assert.rejects(ask('unsuppress', { id, reason: 'Again', shown }), /is not suppressed/);

      await server.advance(60);
      const withdrawal = { leadId: id, way: 'page', clientAddress: null, userAgent: null } as const;
      await withdrawConsent(server.service, { ...withdrawal, now: server.now() });
      assert.deepEqual(valuesOf((await ask('personDetails', { id }))!.suppressions, 'canUndo'), [false]);
      await assert.rejects(ask('unsuppress', { id, reason: 'A slip', shown }), /own decision/);
      assert.deepEqual(
        (await noted()).filter(({ action }) => action !== 'viewed'),
        [
          { action: 'sent-guide', about: ADA, details: '' },
          { action: 'suppressed', about: ADA, details: 'unsubscribed' },
          { action: 'unsuppressed', about: ADA, details: 'unsubscribed' },
        ],
      );
    },
  );

  both('undoing a suppression keeps one added since by another desk user', async (server) => {
    const { ask } = deskClient(server.service);
    const { leadId: id } = await becomeLead(server, ADA);
    await server.advance(61);
    await ask('suppress', { id, reason: 'by-hand' });
    const shown = (await ask('personDetails', { id }))!.suppressions.map(({ reason }) => reason);
    await ask('suppress', { id, reason: 'unsubscribed' });
    const undo = { id, reason: 'We may write again', shown };
    assert.deepEqual(await ask('unsuppress', undo), { staysStopped: true });
    assert.deepEqual(valuesOf((await ask('personDetails', { id }))!.suppressions, 'reason'), [
      'unsubscribed',
    ]);
    await assert.rejects(ask('unsuppress', undo), /ada@example\.com is suppressed: unsubscribed/);
  });
});
