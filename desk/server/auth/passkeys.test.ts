import assert from 'node:assert/strict';

import type { LogEntry } from '#desk/endpoints/auth.ts';
import { recordPasskeyUse } from '#server/db/tables/desk-access.ts';
import { createAuthenticator } from '#testing/authenticator.ts';
import {
  deskOnEachEngine,
  createDeskBrowser,
  DESK_URL,
  signInAtDesk,
  withDesk,
  type DeskBrowser,
} from '#testing/desk-under-test.ts';
import { desk } from '#testing/desk.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

type Options = { challenge: string; user?: { id: string; name: string }; allowCredentials?: unknown[] };
const optionsOf = async (browser: DeskBrowser, path: string): Promise<Options> => {
  const answer = await browser.post(path);
  assert.equal(answer.statusCode, 200, answer.body);
  return answer.json<Options>();
};
const ADD = '/api/passkeys/options';
const ENTER = '/api/sign-in/passkey/options';

deskOnEachEngine('desk passkeys', ({ both: test }) => {
  test('a passkey signs in its owner without an e-mail address until it is removed', async (app, server) => {
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const bob = await signInAtDesk(server, createDeskBrowser(app), BOB);
    const key = createAuthenticator(DESK_URL);
    const options = await optionsOf(ada, ADD);
    assert.equal(options.user?.name, ADA);
    assert.ok(!Buffer.from(options.user.id, 'base64url').includes('ada'), 'the handle is not the address');
    const credential = key.create(options);
    const stolen = await bob.post('/api/passkeys/add', { name: 'Mine', credential });
    assert.equal(stolen.headers['x-error-code'], 'wrong-passkey', 'only for the person who began it');
    const added = await ada.post('/api/passkeys/add', { name: 'Laptop', credential });
    assert.equal(added.statusCode, 200, added.body);
    const told = await server.inbox.waitForMail(ADA, 2);
    assert.equal(
      told.parsed.subject,
      'A passkey was added to your account at the desk of Master AI-Powered Outreach',
    );
    assert.equal((await ada.post('/api/passkeys/add', { name: 'Laptop', credential })).statusCode, 400);

    const laptop = createDeskBrowser(app, '203.0.113.8');
    const asked = await optionsOf(laptop, ENTER);
    assert.deepEqual(asked.allowCredentials ?? [], [], 'it says of no one that they have a passkey');
    const entered = await laptop.post('/api/sign-in/passkey', { credential: key.get(asked) });
    assert.equal(entered.statusCode, 200, entered.body);
    assert.partialDeepStrictEqual((await laptop.get('/api/me')).json(), { email: ADA, role: 'all' });
    const now = new Date(server.now()).toISOString();
    assert.deepEqual((await laptop.get('/api/passkeys')).json(), {
      passkeys: [{ id: key.id, name: 'Laptop', addedAt: now, usedAt: now }],
    });
    assert.deepEqual((await bob.get('/api/passkeys')).json(), { passkeys: [] });
    assert.equal((await bob.post('/api/passkeys/remove', { id: key.id })).statusCode, 404);
    assert.equal((await ada.post('/api/passkeys/remove', { id: key.id })).statusCode, 200);
    const after = key.get(await optionsOf(laptop, ENTER));
    assert.equal((await laptop.post('/api/sign-in/passkey', { credential: after })).statusCode, 400);

    const again = createAuthenticator(DESK_URL);
    const credentialAgain = again.create(await optionsOf(ada, ADD));
    assert.equal(
      (await ada.post('/api/passkeys/add', { name: 'Phone', credential: credentialAgain })).statusCode,
      200,
    );
    const log = JSON.parse((await desk(server.service, ['log', '--json'])).out) as LogEntry[];
    assert.deepEqual(
      log.filter(({ who }) => who === ADA).map(({ action }) => action),
      ['signed-in', 'added-passkey', 'signed-in', 'removed-passkey', 'added-passkey'],
    );
    await desk(server.service, ['erase', ADA, '--yes']);
    assert.equal(await server.countRows('desk_passkeys'), 1, 'an erasure is about a contact');
  });

  test('the desk refuses a reused, late, unverified, copied or foreign passkey', async (app, server) => {
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const key = createAuthenticator(DESK_URL);
    const credential = key.create(await optionsOf(ada, ADD));
    assert.equal((await ada.post('/api/passkeys/add', { name: 'Laptop', credential })).statusCode, 200);
    const browser = createDeskBrowser(app, '203.0.113.8');
    const enter = async (given: object, target = browser) =>
      (await target.post('/api/sign-in/passkey', { credential: given })).headers['x-error-code'] ?? 'in';
    const enterWith = async (authenticator: typeof key, lie?: Parameters<typeof key.get>[1]) =>
      enter(authenticator.get(await optionsOf(browser, ENTER), lie));

    const options = await optionsOf(browser, ENTER);
    const cookies = Object.fromEntries(browser.cookies);
    const given = key.get(options);
    const both = await Promise.all(
      [1, 2].map(() =>
        app.inject({
          method: 'POST',
          url: '/api/sign-in/passkey',
          payload: { credential: given },
          cookies,
        }),
      ),
    );
    assert.deepEqual(both.map(({ statusCode }) => statusCode).toSorted(), [200, 400], 'one of two at once');

    assert.equal(
      await enter(key.get(options), createDeskBrowser(app)),
      'wrong-passkey',
      'without the cookie',
    );
    const lies = [
      { origin: 'https://desk.example.com.evil.example' },
      { origin: 'https://guide.example.com' },
      { verifies: false },
    ];
    for (const lie of lies) assert.equal(await enterWith(key, lie), 'wrong-passkey', JSON.stringify(lie));
    const other = createAuthenticator(DESK_URL);
    // The counter exceeds the known one, so only the signature is wrong.
    for (let uses = 0; uses < 50; uses += 1) other.get(options);
    const forged = { ...other.get(await optionsOf(browser, ENTER)), id: key.id, rawId: key.id };
    assert.equal(await enter(forged), 'wrong-passkey', 'signed by another key');
    assert.equal(await enterWith(other), 'wrong-passkey', 'an unknown one');

    const late = key.get(await optionsOf(browser, ENTER));
    await server.advance(301);
    assert.equal(await enter(late), 'wrong-passkey', 'after five minutes');
    await server.database.db.updateTable('desk_passkeys').set({ counter: 1_000 }).execute();
    assert.equal(await enterWith(key), 'wrong-passkey', 'a copy');
    await server.database.db.updateTable('desk_passkeys').set({ counter: 0 }).execute();
    assert.equal(await enterWith(key), 'in');
    const { db } = server.database;
    const before = await db.selectFrom('desk_passkeys').selectAll().executeTakeFirstOrThrow();
    const use = { id: key.id, publicKey: before.public_key, now: server.now() };
    for (const counter of [0, before.counter - 1, before.counter])
      assert.equal(
        await recordPasskeyUse(db, { ...use, counter }),
        false,
        'a use that another has overtaken',
      );
    const config = server.config.desk!;
    await withDesk(
      server,
      async (without) => {
        const outside = createDeskBrowser(without);
        const asked = await optionsOf(outside, ENTER);
        assert.equal(await enter(key.get(asked), outside), 'wrong-passkey', 'taken off DESK_PEOPLE');
      },
      { access: { kind: 'people', ...config, people: new Map([[BOB, config.people.get(BOB)!]]) } },
    );
    assert.equal(await enterWith(key), 'wrong-passkey', 'put back on DESK_PEOPLE');
  });
});
