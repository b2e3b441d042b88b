import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

import type { LogEntry, sessions } from '#desk/endpoints/auth.ts';
import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import { countWaitingStatements } from '#testing/address-lock.ts';
import { deskOnEachEngine, createDeskBrowser, signInAtDesk, withDesk } from '#testing/desk-under-test.ts';
import { desk as commandOfDesk } from '#testing/desk.ts';
import { codeIn } from '#testing/inbox.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

deskOnEachEngine('desk sign-in', ({ test, both, engine }) => {
  both('a desk user can sign in once with the mailed code, only in the same browser', async (app, server) => {
    const browser = createDeskBrowser(app);
    const other = createDeskBrowser(app);
    assert.equal((await browser.get('/api/me')).headers['x-error-code'], 'no-session');

    const asked = await browser.post('/api/sign-in', { email: 'Ada@Example.com' });
    assert.deepEqual([asked.statusCode, asked.json()], [200, { resendSeconds: 60 }]);
    const mail = await server.inbox.waitForMail(ADA);
    const code = codeIn(mail);
    assert.match(mail.parsed.subject ?? '', /^Your code for the desk of [^\d]+$/);
    assert.match(mail.parsed.text ?? '', /Enter the code at desk\.example\.com/);

    assert.equal((await other.post('/api/sign-in/code', { code })).headers['x-error-code'], 'wrong-code');
    const wrong = code === '000000' ? '000001' : '000000';
    assert.equal((await browser.post('/api/sign-in/code', { code: wrong })).statusCode, 400);

    const entered = await browser.post('/api/sign-in/code', { code });
    assert.equal(entered.statusCode, 200, entered.body);
    const cookie = [entered.headers['set-cookie'] ?? []]
      .flat()
      .find((line) => line.startsWith('__Host-desk='));
    assert.match(cookie ?? '', /; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    const me = await browser.get('/api/me');
    assert.equal(me.statusCode, 200);
    assert.partialDeepStrictEqual(me.json(), {
      email: ADA,
      role: 'all',
      sessionEndsInMs: 12 * 3_600_000,
    });

    const [row] = await server.database.db.selectFrom('desk_sessions').selectAll().execute();
    assert.ok(!JSON.stringify(row).includes(browser.cookies.get('__Host-desk') ?? '-'));
    assert.equal((await browser.post('/api/sign-in/code', { code })).statusCode, 400, 'it works once');
    assert.equal(await server.countRows('desk_sessions'), 1);
  });

  test('desk codes requested during a database failure are mailed afterwards', async (app, server) => {
    const { db } = server.database;
    const browser = createDeskBrowser(app);
    const failures = () =>
      server.logLines.filter((line) => line.includes('A sign-in code for the desk')).length;
    await db.schema.alterTable('outbox').renameTo('outbox_away').execute();
    assert.equal((await browser.post('/api/sign-in', { email: ADA })).statusCode, 200);
    await until(() => failures() > 0);
    // Longer than four codes need to reach the outbox.
    await setTimeout(2_000);
    assert.ok(failures() <= 2, `${failures()} lines`);
    await db.schema.alterTable('outbox_away').renameTo('outbox').execute();
    await server.inbox.waitForMail(ADA, 1, 60_000);
  });

  both('a desk session ends on sign-out, after twelve hours or without its user', async (app, server) => {
    const desk = server.config.desk!;
    const [ada, second, bob] = [createDeskBrowser(app), createDeskBrowser(app), createDeskBrowser(app)];
    await signInAtDesk(server, ada, ADA);
    await server.advance(120);
    await signInAtDesk(server, second, ADA, 2);
    await signInAtDesk(server, bob, BOB);
    const { sessions: listed } = (await ada.get('/api/sessions')).json<OutputOf<typeof sessions>>();
    assert.deepEqual(valuesOf(listed, 'isThis'), [false, true]);
    const foreign = await bob.post('/api/sessions/end', { id: listed[0]!.id });
    assert.equal(foreign.statusCode, 404, 'not that of another person');
    assert.equal((await second.get('/api/me')).statusCode, 200);
    assert.equal((await ada.post('/api/sessions/end', { id: listed[0]!.id })).statusCode, 200);
    assert.equal((await second.get('/api/me')).statusCode, 401);

    const token = ada.cookies.get('__Host-desk')!;
    assert.equal((await ada.post('/api/sign-out')).statusCode, 200);
    assert.equal(ada.cookies.has('__Host-desk'), false);
    const again = await ada.get('/api/me', { cookies: { '__Host-desk': token } });
    assert.equal(again.statusCode, 401, 'the token is worth nothing');

    await withDesk(
      server,
      async (without) => {
        const taken = createDeskBrowser(without);
        const bobs = { '__Host-desk': bob.cookies.get('__Host-desk')! };
        assert.equal((await taken.get('/api/me', { cookies: bobs })).statusCode, 401);
      },
      { access: { kind: 'people', ...desk, people: new Map([[ADA, desk.people.get(ADA)!]]) } },
    );
    assert.equal((await bob.get('/api/me')).statusCode, 401, 'also when he is put back');
    await signInAtDesk(server, bob, BOB, 2);
    await server.advance(12 * 3_600);
    assert.equal((await bob.get('/api/me')).statusCode, 401);
    await signInAtDesk(server, bob, BOB, 3);
    const { notes } = await commandOfDesk(server.service, ['sign-out', BOB]);
    assert.match(notes, /^1 session of bob@example\.com was ended\./);
    assert.equal((await bob.get('/api/me')).statusCode, 401, 'ended by a command');
    const { out } = await commandOfDesk(server.service, ['log', '--json']);
    const { who, action, about } = (JSON.parse(out) as LogEntry[]).at(-1)!;
    assert.deepEqual([who, action, about], ['command line', 'signed-out', BOB]);
    assert.match(
      (await commandOfDesk(server.service, ['sign-out', BOB])).notes,
      /^bob@example\.com has no session\./,
    );
  });
  if (engine === 'postgres')
    both('a session that begins during the command sign-out is ended, too', async (app, server) => {
      const { db } = server.database;
      const browser = createDeskBrowser(app);
      await browser.post('/api/sign-in', { email: ADA });
      const code = codeIn(await server.inbox.waitForMail(ADA));
      await browser.post('/api/sign-in/code', { code: code === '000000' ? '000001' : '000000' });
      const { both: started } = await db.transaction().execute(async (tx) => {
        // Accepting the code resets the wrong attempts.
        await tx.selectFrom('limit_windows').select('key').forUpdate().execute();
        const entering = browser.post('/api/sign-in/code', { code });
        await until(async () => (await countWaitingStatements(db)) === 1);
        const signingOut = commandOfDesk(server.service, ['sign-out', ADA]);
        await until(async () => (await countWaitingStatements(db)) === 2);
        return { both: [entering, signingOut] as const };
      });
      const [entered, signedOut] = await Promise.all(started);
      assert.equal(entered.statusCode, 200, entered.body);
      assert.match(signedOut.notes, /^1 session of ada@example\.com was ended\./);
      assert.equal((await browser.get('/api/me')).statusCode, 401);
    });
});
