import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { inTurnBehindLock } from '#testing/address-lock.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { exportProof } from '#testing/consents.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { inFolder } from '#testing/folder.ts';
import { housekeeperOf } from '#testing/housekeeper.ts';
import { askForCode, enter } from '#testing/lead-calls.ts';
import { withdrawConsent } from '#server/consent/withdraw.ts';
import type { ServerUnderTest } from '#testing/server-under-test.ts';

const ADA = 'ada@example.com';
const EVE = 'eve@example.com';

async function listed(server: ServerUnderTest): Promise<string[]> {
  const { out } = await desk(server.service, ['suppress', 'list', '--json']);
  const entries = JSON.parse(out) as { email: string; reason: string }[];
  return entries.map(({ email, reason }) => `${email} ${reason}`).toSorted();
}

const suppress = (server: ServerUnderTest, ...args: string[]) => desk(server.service, ['suppress', ...args]);

const unsubscribe = ({ service, now }: ServerUnderTest, leadId: string) =>
  withdrawConsent(service, { leadId, way: 'one-click', clientAddress: null, userAgent: null, now: now() });

onEachEngine('suppression list', ({ test, both, engine }) => {
  both('the operator can remove a suppression unless the person decided it', async (server) => {
    await becomeLead(server, ADA);
    const unsubscribed = ['--reason', 'unsubscribed', '--note', 'asked by telephone'];
    await succeeded(suppress(server, 'add', 'ADA@example.com', ...unsubscribed));
    assert.match((await suppress(server, 'list')).out, /asked by telephone/);
    assert.equal(await server.countRows('withdrawals'), 1, 'of a lead, that it was taken back');
    assert.match((await suppress(server, 'add', ADA, '--reason', 'unsubscribed')).notes, /already/);
    await succeeded(suppress(server, 'add', EVE, '--note', 'a competitor'));
    assert.deepEqual(await listed(server), [`${ADA} unsubscribed`, `${EVE} by-hand`]);

    await refused(suppress(server, 'remove', ADA), /newly verified consent/);
    await succeeded(suppress(server, 'remove', EVE));
    assert.deepEqual(await listed(server), [`${ADA} unsubscribed`]);
    for (const wrong of [['add', 'ada'], ['add', ADA, '--reason', 'mood'], ['remove', ''], []])
      assert.equal((await suppress(server, ...wrong)).exitCode, 2, wrong.join(' '));
  });

  both(
    'removing a mistaken suppression seals the reason in the consent chain',
    { env: { TIME_ZONE: 'Europe/Berlin' } },
    async (server) => {
      await becomeLead(server, ADA);
      await server.advance(600);
      await suppress(server, 'add', ADA, '--reason', 'unsubscribed', '--note', 'telephone');
      await server.advance(600);
      const slip = ['remove', ADA, '--reason', 'meant a colleague'];
      await refused(
        suppress(server, ...slip),
        /Nothing was changed.*unsubscribed since 2026-11-20 13:10, “telephone”.*--yes/,
      );
      assert.deepEqual(await listed(server), [`${ADA} unsubscribed`]);

      const removed = await succeeded(suppress(server, ...slip, '--yes'));
      assert.match(
        removed.notes,
        /is no longer suppressed \(unsubscribed since.*entry 3 of the consent chain/s,
      );
      assert.match(removed.notes, /lead\.unsubscribed/);
      assert.deepEqual(await listed(server), []);
      const verified = await succeeded(desk(server.service, ['consent', 'verify']));
      assert.match(verified.out, /^3 entries/);
      const proof = await exportProof(server, ADA);
      assert.equal(proof.exitCode, 0, proof.notes);
      assert.deepEqual(proof.entries.find(({ kind }) => kind === 'removal')?.content, {
        email: ADA,
        reasons: 'unsubscribed',
        note: 'meant a colleague',
        removed_at: '2026-11-20T12:20:00.000Z',
      });
      assert.match(proof.page, /meant a colleague/);
      await server.database.db
        .updateTable('suppression_removals')
        .set({ note: 'never mind' } as never)
        .execute();
      assert.match((await desk(server.service, ['consent', 'verify'])).out, /Entry 3:.*\(note\)/);

      const erased = await desk(server.service, ['erase', ADA, '--yes', '--json']);
      assert.equal(await server.countRows('suppression_removals'), 0);
      assert.doesNotMatch(erased.out, /"suppression_removals": 0/);
      const entries = await server.database.db.selectFrom('consent_chain').select('content').execute();
      assert.ok(entries.every(({ content }) => content === null || !content.includes('example.org')));
    },
  );

  test("a person's own suppression remains, whatever the operator noted before", async (server) => {
    const { leadId } = await becomeLead(server, ADA);
    await suppress(server, 'add', ADA, '--reason', 'unsubscribed');
    await suppress(server, 'add', ADA);
    await server.advance(60);
    assert.equal(await unsubscribe(server, leadId), 'already');
    assert.equal(await unsubscribe(server, leadId), 'already');
    assert.equal(await server.countRows('withdrawals'), 2, "the operator's and the person's");
    const slip = ['remove', ADA, '--reason', 'a slip', '--yes'];
    const removed = await succeeded(suppress(server, ...slip));
    assert.match(removed.notes, /is still suppressed \(unsubscribed since.*Removed: by-hand/);
    await refused(suppress(server, ...slip), /own decision, so only a newly verified consent/);
    assert.deepEqual(await listed(server), [`${ADA} unsubscribed`]);
    // An operator cannot undo a complaint, and without a lead the reason isn't stored.
    await suppress(server, 'add', EVE, '--reason', 'complained');
    await suppress(server, 'add', EVE, '--reason', 'unsubscribed');
    const eve = await suppress(server, 'remove', EVE, '--reason', 'a slip', '--yes');
    assert.match(eve.notes, /is still suppressed \(complained.*Your reason was not stored/s);
    assert.equal(
      (await suppress(server, 'remove', 'new@example.com')).notes,
      'new@example.com is not suppressed.',
    );
    assert.equal((await suppress(server, 'remove', EVE, '--reason', ' ')).exitCode, 2);
    await succeeded(desk(server.service, ['consent', 'verify']));
  });

  both('suppressions exported as CSV can be imported unless a line is invalid', (server) =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'out.csv');
      await suppress(server, 'add', EVE, '--note', '=1+1');
      await succeeded(suppress(server, 'export', '--out', file));
      const [headings, line] = readFileSync(file, 'utf8').split('\r\n');
      assert.equal(headings, 'email,reason,since,note');
      assert.match(line ?? '', /^eve@example\.com,by-hand,2026-\S+Z,'=1\+1$/);

      const list = path.join(folder, 'in.csv');
      writeFileSync(
        list,
        "Email;Reason\nAda@Example.com;Complained\ngus@example.com;\nGUS@example.com;\neve@example.com;by-hand\n'+ann@example.com;bounced\n",
      );
      const load = (...args: string[]) =>
        succeeded(suppress(server, 'import', list, '--reason', 'unsubscribed', ...args));
      assert.match(
        (await load('--dry-run')).notes,
        /^3 addresses would be suppressed: .+\. 2 are already suppressed\. Nothing was changed/m,
      );
      assert.match((await load()).notes, /^3 of 5 addresses suppressed\. 2 were already suppressed\.$/m);
      const before = await listed(server);
      assert.deepEqual(before, [
        '+ann@example.com bounced',
        `${ADA} complained`,
        `${EVE} by-hand`,
        'gus@example.com unsubscribed',
      ]);

      for (const [text, sentence] of [
        ['email\nnew@example.com\nnobody\n', /line 3 of .*in\.csv has no valid e-mail address/],
        ['email,reason\nnew@example.com,spam\n', /the reason in line 2 of .*in\.csv is not one of/],
        [
          'email,name,unsubscribed\nnew@example.com,Lovelace, Ada,no\n',
          /because line 2 of .*in\.csv has 4 columns, but the file has 3 headings\. Fix/,
        ],
        ['email\nnew@example.com,Ada\n', /has 2 columns, but the file has 1 heading\. Fix/],
        ['', /in\.csv is empty\./],
        ['name\nAda\n', /no column of e-mail addresses/],
      ] as const) {
        writeFileSync(list, text);
        await refused(suppress(server, 'import', list), sentence);
      }
      assert.equal((await suppress(server, 'import', path.join(folder, 'none.csv'))).exitCode, 1);
      assert.deepEqual(await listed(server), before);
    }),
  );

  test('an imported suppression list that marks people as opted out suppresses nobody else', (server) =>
    inFolder(async (folder) => {
      for (const [name, rows, expected] of [
        ['kit.csv', 'email,state/a,active/b,cancelled/c,bounced/d,pending/e,complained', 'b- c! e?'],
        ['hubspot.csv', 'Email,hs_email_optout,Email hard bounce reason/a,true,/b,false,/c,,OTHER', 'a- c!'],
        ['xl.csv', 'Email,Optout/a,WAHR,/b,FALSCH/c,FAUX/d,FALSO/e,ONWAAR/f,FAŁSZ/g,Nee/h,Nej/i,Nie', 'a-'],
        ['klaviyo.csv', 'Email,Email Suppressions/a,HARD_BOUNCE/b,SPAM_COMPLAINT/c,UNSUBSCRIBE', 'a! b? c-'],
        ['brevo.csv', 'EMAIL,EMAIL_BLOCKLISTED,DOUBLE_OPT-IN/a,true,Yes/b,false,Yes/c,false,No', 'a-'],
        ['listmonk.csv', 'email,status/a,enabled/b,blocklisted/c,disabled', 'b- c-'],
        ['status.csv', 'email,status/a,unsubscribed/b,Subscribed/c,Unconfirmed/d,Never subscribed', 'a-'],
        ['subscribed_members_export_3f2a.csv', 'Email Address,OPTIN_TIME/a,2025-01-01 10:00:00', ''],
        ['nonsubscribed_members_export_3f2a.csv', 'Email Address,OPTIN_TIME/a,', ''],
        ['unsubscribed_members_export_3f2a.csv', 'Email Address,UNSUB_TIME/a,/b,', 'a- b-'],
        ['cleaned_members_export_3f2a.csv', 'Email Address,CLEAN_TIME/a,2025-01-01 10:00:00', 'a!'],
        ['plain.csv', 'email,name/a,Ada/b,Bob', 'a. b.'],
      ] as const) {
        const list = path.join(folder, name);
        const people = rows.replaceAll(/\/(\w),?/g, '\n$1@tool.example,');
        writeFileSync(list, people);
        const tried = await suppress(server, 'import', list, '--dry-run');
        assert.deepEqual(await listed(server), [], `${name}: ${tried.notes}`);
        const { notes } = await suppress(server, 'import', list);
        const marks = { unsubscribed: '-', bounced: '!', complained: '?', 'by-hand': '.' };
        const found = (await listed(server)).map(
          (entry) => `${entry[0]}${marks[entry.split(' ')[1] as keyof typeof marks]}`,
        );
        assert.equal(found.join(' '), expected, `${name}: ${notes}`);
        const all = people.split('\n').length - 1;
        assert.match(tried.notes, new RegExp(`^${found.length} address(?:es)? would be suppressed`, 'm'));
        if (found.length < all)
          assert.match(notes, new RegExp(`^${all - found.length} (?:line does|lines do) not say`, 'm'), name);
        await server.database.db.deleteFrom('suppressions').execute();
      }
    }));

  both('an imported suppression list does not suppress people who verified after it was saved', (server) =>
    inFolder(async (folder) => {
      const { visitor, code } = await askForCode(server);
      const list = path.join(folder, 'list.csv');
      writeFileSync(list, `email,status\n${ADA},unsubscribed\n${EVE},unsubscribed\n`);
      utimesSync(list, 0, 0);
      const steps = [() => enter(visitor, code), () => suppress(server, 'import', list)] as const;
      const [verified, { notes }] =
        engine === 'postgres'
          ? await inTurnBehindLock(server.database, ADA, steps)
          : [await steps[0](), await steps[1]()];
      assert.equal(verified.statusCode, 200);
      assert.deepEqual(await listed(server), [`${EVE} unsubscribed`]);
      assert.match(
        notes,
        /^1 person verified here after the file was saved, and still gets mail: ada@example\.com\./m,
      );
    }),
  );

  both(
    "an erasure deletes the operator's suppressions of the person",
    { env: { GUIDE_EMAIL: 'link' } },
    async (server) => {
      await becomeLead(server, ADA);
      await server.inbox.waitForMail(ADA, 2);
      await suppress(server, 'add', ADA);
      await succeeded(desk(server.service, ['erase', ADA, '--yes']));
      assert.deepEqual(await listed(server), []);
      const again = await suppress(server, 'add', ADA);
      assert.equal(again.notes, `${ADA} is suppressed (by-hand).`);
      assert.deepEqual(await listed(server), [`${ADA} by-hand`]);
      await succeeded(desk(server.service, ['erase', ADA, '--yes']));
      await server.advance(120);
      await becomeLead(server, ADA, 3);
      assert.match((await desk(server.service, ['leads'])).out, /ada@/);
      const guide = await desk(server.service, ['send-guide', ADA]);
      assert.match(guide.notes, /is queued|is already queued/);
    },
  );

  both("an erased person's own suppression can be updated, but not removed as a mistake", async (server) => {
    const { leadId } = await becomeLead(server, ADA);
    await unsubscribe(server, leadId);
    await suppress(server, 'add', EVE, '--reason', 'bounced');
    for (const email of [ADA, EVE]) await succeeded(desk(server.service, ['erase', email, '--yes']));
    await server.advance(40 * 86_400);
    await suppress(server, 'add', ADA, '--reason', 'unsubscribed', '--note', 'by telephone');
    await suppress(server, 'add', EVE, '--reason', 'bounced');
    await housekeeperOf(server).runHousekeeping();
    const { out } = await suppress(server, 'list', '--json');
    assert.deepEqual(
      (JSON.parse(out) as { email: string; since: string; note: string }[])
        .map(({ email, since, note }) => [email, since, note])
        .toSorted(),
      [
        [ADA, '2026-12-30T12:00:00.000Z', 'by telephone'],
        [EVE, '2026-12-30T12:00:00.000Z', ''],
      ],
    );
    const slip = suppress(server, 'remove', ADA, '--reason', 'a slip', '--yes');
    await refused(slip, /own decision, so only a newly verified consent/);
  });
});
