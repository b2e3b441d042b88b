import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';

import * as authEndpoints from '#desk/endpoints/auth.ts';
import * as figureEndpoints from '#desk/endpoints/figures.ts';
import * as passkeyEndpoints from '#desk/endpoints/passkeys.ts';
import * as peopleEndpoints from '#desk/endpoints/people.ts';
import type { Endpoint } from '#desk/endpoints/endpoint.ts';
import { createLink } from '#desk/server/auth/link.ts';
import { deskLogPage } from '#server/db/tables/desk-log.ts';
import { queueDeskCodeMail } from '#server/mail/templates/desk-code-mail.ts';
import { DESK_SIGN_IN } from '#desk/server/auth/limits.ts';
import { API } from '#shared/api.ts';
import { createAuthenticator } from '#testing/authenticator.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { freshDatabase } from '#testing/databases.ts';
import {
  deskOnEachEngine,
  atDesk,
  createDeskBrowser,
  type DeskBrowser,
  DESK_SETTINGS,
  DESK_URL,
  signInAtDesk,
  withDesk,
} from '#testing/desk-under-test.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';
const STRANGER = 'eve@example.net';

type DeskEndpoint = Endpoint<unknown, unknown>;
const isEndpoint = (value: unknown): value is DeskEndpoint =>
  typeof value === 'object' && value !== null && 'path' in value && 'method' in value;
const ENDPOINTS = [authEndpoints, figureEndpoints, passkeyEndpoints, peopleEndpoints].flatMap((endpoints) =>
  Object.values(endpoints).filter(isEndpoint),
);
const FILE_PATHS = [
  peopleEndpoints.EXPORT_PATH,
  peopleEndpoints.PROOF_PATH,
  figureEndpoints.REPORT_FILE_PATH,
];

const OTHER_SITES = [
  { origin: 'https://evil.example' },
  { origin: 'https://guide.example.com' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-site', origin: DESK_URL },
  // The attacker's domain name resolves to this machine.
  { origin: 'http://evil.example:3001', host: 'evil.example:3001' },
];

async function stateOf({ database }: ServerUnderTest): Promise<string> {
  const tables = [
    'leads',
    'suppressions',
    'outbox',
    'corrections',
    'desk_sessions',
    'desk_sign_ins',
    'desk_log',
  ] as const;
  const rows = await Promise.all(tables.map((table) => database.db.selectFrom(table).selectAll().execute()));
  return JSON.stringify(rows);
}

const send = (app: FastifyInstance, { method, path: url }: DeskEndpoint, options: object = {}) =>
  app.inject({ method, url, ...(method === 'POST' && { payload: {} }), ...options });

const outcomeOf = ({ headers }: LightMyRequestResponse) => headers['x-error-code'] ?? 'in';

const askForCode = (app: FastifyInstance, email: string, address?: string) =>
  createDeskBrowser(app, address).post('/api/sign-in', { email });

const enterCode = async (browser: DeskBrowser, code: string) =>
  outcomeOf(await browser.post('/api/sign-in/code', { code }));

const challengeOf = async (browser: DeskBrowser, path: string) =>
  (await browser.post(`${path}/options`)).json<{ challenge: string }>();

it('every desk endpoint refuses NUL characters, which PostgreSQL cannot store', () =>
  atDesk('postgres', async (app, server) => {
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const answers = [
      await askForCode(app, 'a\0@example.com'),
      await ada.get('/api/people?search=%00'),
      await ada.get('/api/person?id=%00'),
      await ada.get('/api/export?search=%00'),
      await ada.get('/api/person/proof?id=%00'),
      await ada.post('/api/person/suppress', { id: 'x', reason: 'by-hand', note: 'a\0b' }),
      await ada.post('/api/person/correct', { id: 'x', answers: { 'a\0': 'b' } }),
      await ada.post('/api/webhooks/retry', { ids: ['\0'] }),
    ];
    for (const answer of answers) assert.equal(answer.statusCode, 400, answer.body);
  }));

it('changing a person whom another desk user has erased reports that the person no longer exists', () =>
  atDesk('sqlite', async (app, server) => {
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const answers = [
      await ada.post('/api/person/correct', { id: 'gone', name: 'Ada King' }),
      await ada.post('/api/sessions/end', { id: 'gone' }),
      await ada.get('/api/person/proof?id=gone'),
    ];
    for (const answer of answers) {
      assert.equal(answer.statusCode, 404);
      assert.match(answer.body, /^Nothing was done, because this no longer exists\./);
    }
  }));

it('every desk endpoint responds to permitted users and changes nothing for anyone else', (test) =>
  atDesk('sqlite', async (app, server) => {
    assert.ok(ENDPOINTS.length >= 20);
    for (const { method, path: url } of ENDPOINTS)
      assert.ok(app.hasRoute({ method, url }), `${url} has a route`);
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const bob = await signInAtDesk(server, createDeskBrowser(app), BOB);
    const cookies = Object.fromEntries(ada.cookies);
    const bobs = Object.fromEntries(bob.cookies);
    // The worker notes that a mail was sent only after the mail has arrived.
    await until(() => server.mailEvents.length === 2);
    const before = await stateOf(server);

    const needsSession = ({ needs }: DeskEndpoint) => needs !== null;
    const isForAll = ({ needs }: DeskEndpoint) => needs === 'all';
    const isPost = ({ method }: DeskEndpoint) => method === 'POST';
    const any = () => true;
    const json = { 'content-type': 'application/json' };
    const polluted = '{"__proto__":{"role":"all"},"id":"x"}';
    for (const [title, isMeant, request, status, code] of [
      ...Object.entries({
        'no session': {},
        'an unknown session': { '__Host-desk': 'x'.repeat(43) },
        'a session in a cookie of another name': { desk: cookies['__Host-desk'] },
      }).map(([session, theirs]) => [session, needsSession, { cookies: theirs }, 401, 'no-session'] as const),
      ['a read-only session if the role all is required', isForAll, { cookies: bobs }, 403, 'may-not'],
      ...OTHER_SITES.map((headers) => {
        const page = `a page with ${JSON.stringify(headers)}`;
        return [page, any, { cookies, headers }, 403, 'wrong-origin'] as const;
      }),
      ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map(
        (type) => {
          const body = { payload: '{"email":"ada@example.com"}', headers: { 'content-type': type } };
          return [`a body of ${type}`, isPost, { cookies, ...body }, 415, null] as const;
        },
      ),
      ['a body of 20 kB', isPost, { cookies, payload: { id: 'x'.repeat(20_000) } }, 413, null],
      ['a body other than JSON', isPost, { cookies, payload: '{"id":', headers: json }, 400, null],
      ['a body with a prototype', isPost, { cookies, payload: polluted, headers: json }, 400, null],
    ] as const)
      await test.test(`every endpoint of the desk refuses ${title}`, async () => {
        for (const endpoint of ENDPOINTS.filter(isMeant)) {
          const refused = await send(app, endpoint, request);
          const at = `${endpoint.method} ${endpoint.path}`;
          assert.equal(refused.statusCode, status, at);
          if (code !== null) assert.equal(refused.headers['x-error-code'], code, at);
          if (status === 401) assert.match(String(refused.headers['content-type']), /^text\/plain/);
        }
      });
    assert.equal(await stateOf(server), before, 'nothing was changed');

    for (const url of FILE_PATHS) {
      assert.equal((await app.inject({ url })).statusCode, 401, url);
      const response = await app.inject({ url, cookies: bobs });
      assert.equal(response.statusCode === 403, url === peopleEndpoints.EXPORT_PATH, url);
      for (const headers of OTHER_SITES)
        for (const spelling of [url, url.replace('api', '%61pi')]) {
          const refused = await app.inject({ url: spelling, cookies, headers });
          assert.equal(outcomeOf(refused), 'wrong-origin', `${spelling} ${JSON.stringify(headers)}`);
        }
    }
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }])
      assert.equal((await app.inject({ url: '/api/me', cookies, headers })).statusCode, 200);
    for (const headers of OTHER_SITES)
      assert.equal(outcomeOf(await app.inject({ url: '/leads', headers })), 'not-found');
  }));

it('no desk endpoint can be framed, cached, sniffed or indexed', () =>
  atDesk('sqlite', async (app, server) => {
    const { leadId } = await becomeLead(server, 'lin@example.org');
    const ada = await signInAtDesk(server, createDeskBrowser(app), ADA);
    const pages = [
      `${peopleEndpoints.PROOF_PATH}?id=${leadId}`,
      `${figureEndpoints.REPORT_FILE_PATH}?period=7d`,
      peopleEndpoints.EXPORT_PATH,
    ];
    for (const url of pages) assert.equal((await ada.get(url)).statusCode, 200, url);
    const others = ['/', '/leads', '/enter', '/api/me', '/api/nothing', '/nothing', '/api/live'];
    for (const url of [...others, ...pages]) {
      const { headers } = await ada.get(url);
      for (const [name, value] of [
        ['content-security-policy', /^(?!.*unsafe).*frame-ancestors 'none'/],
        ['cache-control', /^no-store$/],
        ['x-content-type-options', /^nosniff$/],
        ['x-robots-tag', /^noindex$/],
        ['referrer-policy', /^strict-origin-when-cross-origin$/],
        ['cross-origin-opener-policy', /^same-origin$/],
        ['cross-origin-resource-policy', /^same-origin$/],
        ['permissions-policy', /camera=\(\)/],
        ['strict-transport-security', /max-age/],
      ] as const)
        assert.match(String(headers[name]), value, `${name} of ${url}`);
    }
    const put = await app.inject({ method: 'PUT', url: '/api/sign-out', payload: {} });
    assert.deepEqual([put.statusCode, put.headers.allow], [405, 'POST']);
    for (const url of ['/api/leads', '/api/article', '/api/verify', '/robots.txt', '/api/health'])
      assert.equal((await app.inject({ url })).statusCode, 404, `${url} is of the page`);
  }));

it('the URL of the page serves no desk endpoint', () =>
  withServer({ engine: 'sqlite', env: DESK_SETTINGS }, async ({ app }) => {
    for (const endpoint of ENDPOINTS)
      assert.equal((await send(app, endpoint)).statusCode, 404, endpoint.path);
  }));

const authWithLink = ({ now }: ServerUnderTest, url: string) =>
  ({ kind: 'link', url, link: createLink(now()) }) as const;

it('the desk neither sets nor accepts cookies over plain http', () =>
  withServer({ engine: 'sqlite', env: DESK_SETTINGS }, async (server) => {
    const url = 'http://localhost:4711';
    const byLink = authWithLink(server, url);
    const enterByCode = async (browser: DeskBrowser) => {
      await signInAtDesk(server, browser, ADA);
      return [
        await browser.post('/api/passkeys/options'),
        await browser.post('/api/sign-in/passkey/options'),
      ];
    };
    const enterByLink = async (browser: DeskBrowser) => [
      await browser.post('/api/sign-in/link', { token: byLink.link.token }),
    ];
    for (const [access, enter] of [
      [{ kind: 'people', ...server.config.desk!, url } as const, enterByCode],
      [byLink, enterByLink],
    ] as const)
      await withDesk(
        server,
        async (app) => {
          const injected = mock.method(app, 'inject');
          const browser = createDeskBrowser(app);
          for (const { statusCode } of await enter(browser)) assert.equal(statusCode, 200);
          const token = browser.kept.get('x-desk-session')!;
          assert.equal((await browser.get('/api/me')).statusCode, 200);
          for (const name of ['desk-4711', 'desk', '__Host-desk', 'x-desk-session'])
            assert.equal(
              outcomeOf(await app.inject({ url: '/api/me', cookies: { [name]: token } })),
              'no-session',
              name,
            );
          assert.equal((await browser.post('/api/sign-out')).statusCode, 200);
          assert.equal(browser.kept.has('x-desk-session'), false);
          for (const { result } of injected.mock.calls)
            assert.equal(
              (await (result as Promise<LightMyRequestResponse>)).headers['set-cookie'],
              undefined,
            );
        },
        { access },
      );
  }));

describe('links from "desk open"', () => {
  const open = (server: ServerUnderTest) => authWithLink(server, 'http://127.0.0.1:4711');
  const enter = (app: FastifyInstance, token: string, headers = {}) =>
    app.inject({ method: 'POST', url: '/api/sign-in/link', payload: { token }, headers });

  const withLink = (
    during: (app: FastifyInstance, token: string, server: ServerUnderTest) => Promise<void>,
  ) =>
    withServer({ engine: 'sqlite' }, async (server) => {
      const access = open(server);
      await withDesk(server, async (app) => during(app, access.link.token, server), { access });
    });

  it('a link from "desk open" works once, even if opened twice in parallel', () =>
    withLink(async (app, token, server) => {
      for (const guess of ['', 'x'.repeat(43), token.slice(1), `${token} `])
        assert.equal((await enter(app, guess)).statusCode, 401);
      const foreign = await enter(app, token, { origin: 'https://evil.example' });
      assert.equal(foreign.statusCode, 403, 'another site does not use it up');
      const both = await Promise.all([enter(app, token), enter(app, token)]);
      assert.deepEqual(both.map(({ statusCode }) => statusCode).toSorted(), [200, 401]);
      assert.equal((await enter(app, token)).statusCode, 401, 'a second time');
      const session = String(both.find(({ statusCode }) => statusCode === 200)?.headers['x-desk-session']);
      assert.match(session, /^[\w-]{43}$/);
      const headers = { 'x-desk-session': session };
      const me = (await app.inject({ url: '/api/me', headers })).json<{ email: null; role: string }>();
      assert.deepEqual([me.email, me.role], [null, 'all']);
      assert.equal((await askForCode(app, ADA)).statusCode, 422);
      await withDesk(
        server,
        async (next) => assert.equal((await next.inject({ url: '/api/me', headers })).statusCode, 401),
        { access: open(server) },
      );
      assert.equal(await server.countRows('desk_sessions'), 0);
      const log = await server.database.db.selectFrom('desk_log').select(['who', 'action']).execute();
      assert.deepEqual(log, [{ who: 'at the machine', action: 'signed-in' }]);
    }));

  it('a link from "desk open" works for ten minutes', () =>
    withLink(async (app, token, server) => {
      await server.advance(600);
      assert.equal((await enter(app, token)).statusCode, 401);
    }));

  it('a link from "desk open" works while the database is read-only', () =>
    withLink(async (app, token, server) => {
      await server.database.db.schema.alterTable('desk_log').renameTo('away').execute();
      const browser = createDeskBrowser(app);
      assert.equal((await browser.post('/api/sign-in/link', { token })).statusCode, 200);
      assert.equal((await browser.post('/api/sign-out')).statusCode, 200);
      assert.match(server.logLines.join('\n'), /An action in the desk could not be written to the audit log/);
    }));
});

it('an attacker who can write to the database cannot sign in without APP_SECRET', () =>
  atDesk('sqlite', async (app, server) => {
    const { db } = server.database;
    const isIn = async (token: string) =>
      (await app.inject({ url: '/api/me', cookies: { '__Host-desk': token } })).statusCode === 200;
    const bob = await signInAtDesk(server, createDeskBrowser(app), BOB);
    const token = bob.cookies.get('__Host-desk')!;
    const [own] = await db.selectFrom('desk_sessions').selectAll().execute();
    for (const secret of ['x'.repeat(43), `planted.${'x'.repeat(43)}`])
      for (const hashed of [secret, secret.slice('planted.'.length)]) {
        const token_hash = createHash('sha256').update(hashed).digest('base64url');
        await db
          .insertInto('desk_sessions')
          .values({ ...own!, id: 'planted', token_hash, email: ADA })
          .execute();
        assert.equal(await isIn(secret), false, 'a planted session');
        await db.deleteFrom('desk_sessions').where('id', '=', 'planted').execute();
      }
    const write = (text: string) => sql.raw(text).execute(db);
    for (const change of [`email = '${ADA}'`, 'ends_at = ends_at + 1']) {
      await write(`update desk_sessions set ${change}`);
      assert.equal(await isIn(token), false, change);
      await write(`update desk_sessions set email = '${BOB}', ends_at = ${own!.ends_at}`);
    }
    assert.equal(await isIn(token), true);

    const key = createAuthenticator(DESK_URL);
    const credential = key.create(await challengeOf(bob, '/api/passkeys'));
    await bob.post('/api/passkeys/add', { name: 'Laptop', credential });
    await write(`update desk_passkeys set email = '${ADA}'`);
    const eve = createDeskBrowser(app, '203.0.113.5');
    const entered = key.get(await challengeOf(eve, '/api/sign-in/passkey'));
    const withKey = await eve.post('/api/sign-in/passkey', { credential: entered });
    assert.equal(outcomeOf(withKey), 'wrong-passkey');

    await createVisitor(server).post(API.leads, filledForm({ email: STRANGER }));
    const visitorsCode = codeIn(await server.inbox.waitForMail(STRANGER));
    const code = await db.selectFrom('codes').select('id').executeTakeFirstOrThrow();
    await eve.post('/api/sign-in', { email: STRANGER });
    await write(`update desk_sign_ins set id = '${code.id}', email = '${ADA}' where used_at is null`);
    assert.equal(await enterCode(eve, visitorsCode), 'wrong-code', "a visitor's code");

    await server.advance(120);
    const other = createDeskBrowser(app, '203.0.113.6');
    await other.post('/api/sign-in', { email: BOB });
    const bobsCode = codeIn(await server.inbox.waitForMail(BOB, 3));
    await write(`update desk_sign_ins set email = '${ADA}' where used_at is null`);
    assert.equal(await enterCode(other, bobsCode), 'wrong-code', 'the code of another person');

    const mail = { id: code.id, email: STRANGER, signInId: code.id, host: 'x', now: server.now() };
    await queueDeskCodeMail(db, mail);
    server.service.mail.wake();
    await until(async () => {
      const row = await db.selectFrom('outbox').select('state').where('id', '=', code.id).executeTakeFirst();
      return row?.state !== 'queued';
    });
    assert.equal(server.inbox.mailsTo(STRANGER).length, 1, 'the code of a person to another address');
    assert.equal(await server.countRows('desk_sessions'), 1);
  }));

const networks = (n: number): string[] =>
  Array.from({ length: n }, (_, at) => `198.51.${at % 256}.${1 + (at >> 8)}`);

const codesFor = async ({ database: { db } }: ServerUnderTest, email: string): Promise<number> =>
  (await db.selectFrom('desk_sign_ins').select('id').where('email', '=', email).execute()).length;

it('the operator gets one e-mail after twenty wrong sign-ins for one desk user', () =>
  atDesk(
    'sqlite',
    async (app, server) => {
      const wrongFive = async (from: string) => {
        const browser = createDeskBrowser(app, from);
        await browser.post('/api/sign-in', { email: ADA });
        for (let at = 0; at < DESK_SIGN_IN.attempts; at += 1)
          assert.equal(await enterCode(browser, '000000'), 'wrong-code');
      };
      for (const from of networks(3)) await wrongFive(from);
      await server.advance(3_700);
      assert.equal(server.inbox.mailsTo('operator@example.net').length, 0);
      for (const from of networks(2)) await wrongFive(from);
      const mail = await server.inbox.waitForMail('operator@example.net');
      assert.match(mail.parsed.text ?? '', /20 failed attempts in a row .* desk -- log --newest/s);
      await setTimeout(500);
      assert.equal(server.inbox.mailsTo('operator@example.net').length, 1);
    },
    { OPERATOR_EMAIL: 'operator@example.net' },
  ));

it('no more desk codes are mailed than the limits per hour and day allow', () =>
  atDesk('sqlite', async (app, server) => {
    for (const [seconds, codes] of [
      [0, 5],
      [3_000, 5],
      [800, 10],
      [3_800, 10],
    ] as const) {
      await server.advance(seconds);
      for (const address of networks(7)) await askForCode(app, ADA, address);
      assert.equal(await codesFor(server, ADA), codes, `${seconds} seconds later`);
    }
  }));

it('hours of guessing neither lock out desk users nor reveal who they are', () =>
  atDesk('sqlite', async (app, server) => {
    const { asksFromNetwork, codesFromNetwork } = DESK_SIGN_IN;
    for (const address of networks(18))
      await Promise.all(
        Array.from({ length: asksFromNetwork }, (_, at) => askForCode(app, `eve${at}@example.net`, address)),
      );
    for (let at = 0; at <= codesFromNetwork; at += 1)
      await enterCode(createDeskBrowser(app, '203.0.113.7'), '123456');
    for (const email of [STRANGER, BOB]) {
      const guesser = createDeskBrowser(app, '203.0.113.7');
      for (let round = 0; round < 2; round += 1) {
        assert.equal((await guesser.post('/api/sign-in', { email })).statusCode, 200);
        for (let at = 0; at < DESK_SIGN_IN.attempts; at += 1)
          assert.equal(await enterCode(guesser, '000000'), 'wrong-code', email);
        assert.equal(await enterCode(guesser, '000000'), 'too-many-tries', email);
      }
      const credential = createAuthenticator(DESK_URL).get(
        await challengeOf(guesser, '/api/sign-in/passkey'),
      );
      assert.equal(outcomeOf(await guesser.post('/api/sign-in/passkey', { credential })), 'wrong-passkey');
    }
    await signInAtDesk(server, createDeskBrowser(app, '203.0.113.7'), ADA);
  }));

it('a desk user who may sign in only with a passkey gets no code', () =>
  atDesk(
    'sqlite',
    async (app, server) => {
      const [ada, late] = [createDeskBrowser(app), createDeskBrowser(app)];
      await signInAtDesk(server, ada, ADA);
      await server.advance(60);
      await late.post('/api/sign-in', { email: ADA });
      const code = codeIn(await server.inbox.waitForMail(ADA, 2));
      const credential = createAuthenticator(DESK_URL).create(await challengeOf(ada, '/api/passkeys'));
      assert.equal((await ada.post('/api/passkeys/add', { name: 'Laptop', credential })).statusCode, 200);
      assert.equal(await enterCode(late, code), 'wrong-code', 'a code from before the passkey');
      await server.advance(60);
      assert.equal((await askForCode(app, ADA)).statusCode, 200);
      assert.equal(await codesFor(server, ADA), 2);
    },
    { DESK_PEOPLE: 'ada@example.com:all:passkey, bob@example.com' },
  ));

deskOnEachEngine('guessing desk codes', ({ test, both, engine }) => {
  both('after five wrong attempts, no network can enter even the right desk code', async (app, server) => {
    const victim = createDeskBrowser(app);
    await victim.post('/api/sign-in', { email: ADA });
    const code = codeIn(await server.inbox.waitForMail(ADA));
    const cookies = Object.fromEntries(victim.cookies);
    // With more at a time, a slow machine would refuse those that wait too long for a database connection.
    const from = networks(20);
    const guesses = Array.from({ length: 100 }, (_, at) => String(at * 97).padStart(6, '0')).filter(
      (guess) => guess !== code,
    );
    const outcomes: string[] = [];
    for (let at = 0; at < guesses.length; at += from.length)
      await Promise.all(
        from.map(async (remoteAddress, index) => {
          const payload = { code: guesses[at + index] ?? '000000' };
          const guess = { method: 'POST', url: '/api/sign-in/code', payload, cookies } as const;
          outcomes.push(String(outcomeOf(await app.inject({ ...guess, remoteAddress }))));
        }),
      );
    assert.equal(outcomes.filter((one) => one === 'wrong-code').length, DESK_SIGN_IN.attempts);
    const refused = outcomes.filter((one) => one === 'too-many-tries').length;
    assert.equal(refused, outcomes.length - DESK_SIGN_IN.attempts);
    assert.equal(await enterCode(victim, code), 'too-many-tries');
    await victim.post('/api/sign-in', { email: ADA });
    const newer = codeIn(await server.inbox.waitForMail(ADA, 2));
    assert.equal(await enterCode(victim, code), 'wrong-code', 'a new code revives no old one');
    assert.equal(await server.countRows('desk_sessions'), 0);
    assert.equal(await enterCode(victim, newer), 'in');
    const log = await deskLogPage(server.database.db, { order: 'oldest', after: null, limit: 1 });
    assert.deepEqual(
      log.map(({ who, action }) => [who, action]),
      [[ADA, 'refused']],
      'a wrong attempt is in the audit log',
    );
    assert.equal(await server.countRows('desk_log'), DESK_SIGN_IN.attempts + 2);
  });

  test('a resent desk code does not reset the attempts, and both newest codes work', async (app, server) => {
    const browser = createDeskBrowser(app);
    await browser.post('/api/sign-in', { email: ADA });
    const first = codeIn(await server.inbox.waitForMail(ADA));
    const wrong = first === '000000' ? '000001' : '000000';
    for (let at = 0; at < 3; at += 1) assert.equal(await enterCode(browser, wrong), 'wrong-code');
    await server.advance(60);
    await browser.post('/api/sign-in', { email: STRANGER });
    await server.advance(1);
    await browser.post('/api/sign-in', { email: ADA });
    await server.inbox.waitForMail(ADA, 2);
    assert.equal(await enterCode(browser, wrong), 'wrong-code');
    assert.equal(await enterCode(browser, first), 'in', 'the fifth attempt, with the code before the newest');
  });

  test('one network can guess desk codes only up to its limit, whatever the browser', async (app) => {
    for (let at = 0; at < DESK_SIGN_IN.codesFromNetwork + 5; at += 1) {
      const browser = createDeskBrowser(app, '203.0.113.9');
      const { statusCode } = await browser.post('/api/sign-in/code', { code: '123456' });
      assert.equal(statusCode, at < DESK_SIGN_IN.codesFromNetwork ? 400 : 429);
    }
  });

  it('no response, statement or stored row reveals DESK_PEOPLE', async () => {
    const statements: string[] = [];
    const database = await freshDatabase(engine, {
      onStatement: (statement) => void statements.push(statement),
    });
    await withServer({ engine, env: DESK_SETTINGS, database }, (server) =>
      withDesk(server, async (app) => {
        /** Returns the statements of a request, without those for its mail, which is queued after the response. */
        const ofRequest = (from: number) =>
          statements
            .slice(from)
            .filter((statement) =>
              /desk_sign_ins|limit_windows|desk_sessions|desk_passkeys|desk_log|advisory/.test(statement),
            )
            .filter((statement) => !/mailed_at" = |from "desk_sign_ins" where "id" = /.test(statement))
            .toSorted();
        const walk = async (email: string, address: string) => {
          const browser = createDeskBrowser(app, address);
          const from = statements.length;
          const answers = [
            await browser.post('/api/sign-in', { email }),
            await browser.post('/api/sign-in', { email }),
            ...(await Promise.all(
              ['000000', '000001'].map((code) => browser.post('/api/sign-in/code', { code })),
            )),
          ];
          for (let tries = 0; tries < DESK_SIGN_IN.attempts; tries += 1)
            answers.push(await browser.post('/api/sign-in/code', { code: '000002' }));
          return {
            statements: ofRequest(from),
            answers: answers.map(({ statusCode, headers, body, cookies }) => ({
              statusCode,
              body,
              headers: Object.keys(headers),
              length: headers['content-length'],
              cookies: cookies.map(({ value, ...cookie }) => ({ ...cookie, length: value.length })),
            })),
          };
        };
        await setTimeout(1_000);
        const listed = await walk(ADA, '203.0.113.1');
        const unlisted = await walk(STRANGER, '203.0.113.2');
        assert.deepEqual(unlisted, listed);
        assert.ok(listed.statements.length > 10);
        const tables = ['desk_sign_ins', 'desk_sessions', 'desk_log', 'limit_windows', 'outbox'] as const;
        await server.inbox.waitForMail(ADA);
        for (const table of tables)
          assert.doesNotMatch(
            JSON.stringify(await server.database.db.selectFrom(table).selectAll().execute()),
            /eve@/,
            table,
          );
        assert.doesNotMatch(server.logLines.join(''), /eve@|ada@/);
      }),
    );
  });
});
