// What an attacker tries on the desk in a browser: calls without a session or a role, other origins, bodies of the wrong kind, guessing,
// asking who is in DESK_PEOPLE, and old or repeated links.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it, mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';

import * as doorCalls from '#desk/calls/door.ts';
import * as figureCalls from '#desk/calls/figures.ts';
import * as passkeyCalls from '#desk/calls/passkeys.ts';
import * as peopleCalls from '#desk/calls/people.ts';
import type { Call } from '#desk/calls/call.ts';
import { createLink } from '#desk/http/door/link.ts';
import { createMemorySessions } from '#desk/http/door/sessions.ts';
import { deskLogPage } from '#server/db/tables/desk-log.ts';
import { queueDeskCodeMail } from '#server/mail/letters/desk-code-mail.ts';
import { DESK_SIGN_IN } from '#server/settings/tries-and-rates.ts';
import { API } from '#shared/api.ts';
import { createAuthenticator } from '#testing/authenticator.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { ENGINES, freshDatabase } from '#testing/databases.ts';
import {
  createDeskBrowser,
  type DeskBrowser,
  DESK_SETTINGS,
  DESK_URL,
  signInAtDesk,
  withDesk,
} from '#testing/desk-under-test.ts';
import { startDnsServer } from '#testing/dns-server.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';
const STRANGER = 'eve@example.net';

const isCall = (value: unknown): value is Call<unknown, unknown> =>
  typeof value === 'object' && value !== null && 'path' in value && 'method' in value;
const CALLS = [doorCalls, figureCalls, passkeyCalls, peopleCalls].flatMap((calls) =>
  Object.values(calls).filter(isCall),
);
const FILE_PATHS = [peopleCalls.EXPORT_PATH, peopleCalls.PROOF_PATH, figureCalls.REPORT_FILE_PATH];

const OTHER_SITES = [
  { origin: 'https://evil.example' },
  { origin: 'https://guide.example.com' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-site', origin: DESK_URL },
  // A name of the attacker's that leads to this machine.
  { origin: 'http://evil.example:3001', host: 'evil.example:3001' },
];

/** Everything that a call could change. */
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

const send = (
  app: FastifyInstance,
  call: Pick<Call<unknown, unknown>, 'method' | 'path'>,
  options: object = {},
) =>
  app.inject({
    method: call.method,
    url: call.path,
    ...(call.method === 'POST' && { payload: {} }),
    ...options,
  });

/** Asks as a browser that goes away before the answer, once something holds. */
async function leaveWhen(
  app: FastifyInstance,
  { cookies }: DeskBrowser,
  [path, { headers, ...request }]: [
    string,
    Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> },
  ],
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
  const leaving = new AbortController();
  const asked = fetch(url + path, {
    ...request,
    headers: { ...headers, cookie },
    signal: leaving.signal,
  });
  await until(holds);
  leaving.abort();
  await assert.rejects(asked, { name: 'AbortError' });
}

describe('every call of the desk', () => {
  it('refuses a NUL, which PostgreSQL cannot hold, from a stranger and from a colleague', () =>
    withServer({ engine: 'postgres', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const ada = createDeskBrowser(app);
        await signInAtDesk(server, ada, ADA);
        const answers = [
          await createDeskBrowser(app).post('/api/sign-in', { email: 'a\0@example.com' }),
          await ada.get('/api/people?search=%00'),
          await ada.get('/api/person?id=%00'),
          await ada.get('/api/export?search=%00'),
          await ada.get('/api/person/proof?id=%00'),
          await ada.post('/api/person/suppress', { id: 'x', reason: 'by-hand', note: 'a\0b' }),
          await ada.post('/api/person/correct', { id: 'x', answers: { 'a\0': 'b' } }),
          await ada.post('/api/webhooks/retry', { ids: ['\0'] }),
        ];
        for (const answer of answers) assert.equal(answer.statusCode, 400, answer.body);
      }),
    ));

  it('refuses a person without a session, a reader where it takes more, another origin, type and size', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        assert.ok(CALLS.length >= 20);
        const [ada, bob] = [createDeskBrowser(app), createDeskBrowser(app)];
        await signInAtDesk(server, ada, ADA);
        await signInAtDesk(server, bob, BOB);
        const adas = Object.fromEntries(ada.cookies);
        const bobs = Object.fromEntries(bob.cookies);
        for (const { method, path: url } of CALLS)
          assert.ok(app.hasRoute({ method, url }), `${url} is answered`);
        const before = await stateOf(server);
        for (const call of CALLS) {
          const at = `${call.method} ${call.path}`;
          if (call.needs !== null) {
            for (const cookies of [{}, { '__Host-desk': 'x'.repeat(43) }, { desk: adas['__Host-desk']! }]) {
              const refused = await send(app, call, { cookies });
              assert.deepEqual(
                [refused.statusCode, refused.headers['x-error-code']],
                [401, 'no-session'],
                at,
              );
              assert.match(String(refused.headers['content-type']), /^text\/plain/);
            }
          }
          if (call.needs === 'all') {
            const refused = await send(app, call, { cookies: bobs });
            assert.deepEqual([refused.statusCode, refused.headers['x-error-code']], [403, 'may-not'], at);
          }
          for (const headers of OTHER_SITES) {
            const refused = await send(app, call, { cookies: adas, headers });
            assert.deepEqual(
              [refused.statusCode, refused.headers['x-error-code']],
              [403, 'wrong-origin'],
              at,
            );
          }
          if (call.method === 'GET') continue;
          for (const type of [
            'text/plain',
            'application/x-www-form-urlencoded',
            'multipart/form-data; boundary=x',
          ]) {
            const refused = await send(app, call, {
              cookies: adas,
              payload: '{"email":"ada@example.com"}',
              headers: { 'content-type': type },
            });
            assert.equal(refused.statusCode, 415, `${at}, ${type}`);
          }
          const large = { cookies: adas, payload: { id: 'x'.repeat(20_000) } };
          assert.equal((await send(app, call, large)).statusCode, 413, at);
          const broken = {
            cookies: adas,
            payload: '{"id":',
            headers: { 'content-type': 'application/json' },
          };
          assert.equal((await send(app, call, broken)).statusCode, 400, at);
          const polluted = {
            cookies: adas,
            payload: '{"__proto__":{"role":"all"},"id":"x"}',
            headers: { 'content-type': 'application/json' },
          };
          assert.equal((await send(app, call, polluted)).statusCode, 400, at);
        }
        assert.equal(await stateOf(server), before, 'nothing was changed');
        for (const url of FILE_PATHS) {
          assert.equal((await app.inject({ url })).statusCode, 401, url);
          const isForAll = url === peopleCalls.EXPORT_PATH;
          const answered = await app.inject({ url, cookies: bobs });
          assert.equal(answered.statusCode === 403, isForAll, url);
          for (const headers of OTHER_SITES) {
            const { headers: refused } = await app.inject({ url, cookies: adas, headers });
            assert.equal(refused['x-error-code'], 'wrong-origin', `${url} ${JSON.stringify(headers)}`);
          }
        }
        const ours = [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }];
        for (const headers of ours)
          assert.equal((await app.inject({ url: '/api/me', cookies: adas, headers })).statusCode, 200);
        for (const headers of OTHER_SITES) {
          const { headers: answered } = await app.inject({ url: '/leads', headers });
          assert.equal(
            answered['x-error-code'],
            'not-found',
            'pages can be linked to; here they are not built',
          );
        }
      }),
    ));

  it('answers so that it cannot be framed, kept, sniffed or listed, and takes no other method', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const { leadId } = await becomeLead(server, 'lin@example.org');
        const ada = createDeskBrowser(app);
        await signInAtDesk(server, ada, ADA);
        const pages = [
          `${peopleCalls.PROOF_PATH}?id=${leadId}`,
          `${figureCalls.REPORT_FILE_PATH}?period=7d`,
          peopleCalls.EXPORT_PATH,
        ];
        for (const url of pages) assert.equal((await ada.get(url)).statusCode, 200, url);
        const others = ['/', '/leads', '/enter', '/api/me', '/api/nothing', '/nothing', '/api/live'];
        for (const url of [...others, ...pages]) {
          const { headers } = await ada.get(url);
          assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, url);
          assert.doesNotMatch(String(headers['content-security-policy']), /unsafe/, url);
          assert.equal(headers['cache-control'], 'no-store', url);
          assert.equal(headers['x-content-type-options'], 'nosniff', url);
          assert.equal(headers['x-robots-tag'], 'noindex', url);
          assert.equal(headers['referrer-policy'], 'strict-origin-when-cross-origin', url);
          assert.equal(headers['cross-origin-opener-policy'], 'same-origin', url);
          assert.equal(headers['cross-origin-resource-policy'], 'same-origin', url);
          assert.match(String(headers['permissions-policy']), /camera=\(\)/, url);
          assert.match(String(headers['strict-transport-security']), /max-age/, url);
        }
        const put = await app.inject({ method: 'PUT', url: '/api/sign-out', payload: {} });
        assert.deepEqual([put.statusCode, put.headers.allow], [405, 'POST']);
        for (const url of ['/api/leads', '/api/article', '/api/verify', '/robots.txt', '/api/health'])
          assert.equal((await app.inject({ url })).statusCode, 404, `${url} is of the page`);
      }),
    ));

  it('calls it no failure when the browser leaves before its answer', async () => {
    const dns = await startDnsServer({ 'engines.example': { fault: 'silence' } });
    try {
      await withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
        withDesk(
          server,
          async (app) => {
            const ada = createDeskBrowser(app);
            await signInAtDesk(server, ada, ADA);
            const visitor = createVisitor(server);
            await visitor.post(API.leads, filledForm({ email: 'grace@engines.example' }));
            await server.advance(1_200);
            const lost = '/api/lost?from=2026-11-20&to=2026-11-20';
            await leaveWhen(app, ada, [lost, {}], () => dns.questions.length > 0);
            // It ends at once, in place of waiting for DNS.
            await setTimeout(200);
            assert.doesNotMatch(server.logLines.join('\n'), /A request failed/);
          },
          { dnsServers: [dns.address] },
        ),
      );
    } finally {
      await dns.close();
    }
  });

  it('logs what failed also when the browser has left meanwhile', () =>
    withServer({ engine: 'postgres', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const { db } = server.database;
        const ada = createDeskBrowser(app);
        await signInAtDesk(server, ada, ADA);
        const { leadId: id } = await becomeLead(server, 'grace@engines.example');
        await server.advance(0);
        await db.transaction().execute(async (tx) => {
          await sql`lock table suppressions in access exclusive mode`.execute(tx);
          const body = JSON.stringify({ id, reason: 'by-hand' });
          const headers = { 'content-type': 'application/json' };
          await leaveWhen(app, ada, ['/api/person/suppress', { method: 'POST', headers, body }], async () => {
            const { rows } =
              await sql`select 1 from pg_locks where not granted and relation = 'suppressions'::regclass`.execute(
                db,
              );
            return rows.length > 0;
          });
          await sql`alter table suppressions rename to suppressions_away`.execute(tx);
        });
        await until(() => server.logLines.some((line) => line.includes('A request failed')));
      }),
    ));

  it('is not at the page’s address', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, async ({ app }) => {
      for (const { method, path: url } of CALLS)
        assert.equal(
          (await app.inject({ method, url, ...(method === 'POST' && { payload: {} }) })).statusCode,
          404,
        );
    }));
});

describe('the desk at plain http', () => {
  const url = 'http://localhost:4711';
  it('sets no cookie and takes none, because a browser sends cookies to every port of a host', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, async (server) => {
      const link = createLink(server.now());
      const people = { kind: 'people', ...server.config.desk!, url } as const;
      const enterByCode = async (browser: DeskBrowser) => {
        await signInAtDesk(server, browser, ADA);
        return [
          await browser.post('/api/passkeys/options'),
          await browser.post('/api/sign-in/passkey/options'),
        ];
      };
      const enterByLink = async (browser: DeskBrowser) => [
        await browser.post('/api/sign-in/link', { token: link.token }),
      ];
      const doors = [
        [people, enterByCode],
        [{ kind: 'link', url, link, sessions: createMemorySessions() } as const, enterByLink],
      ] as const;
      for (const [door, enter] of doors)
        await withDesk(
          server,
          async (app) => {
            const injected = mock.method(app, 'inject');
            const browser = createDeskBrowser(app);
            for (const { statusCode } of await enter(browser)) assert.equal(statusCode, 200);
            const token = browser.kept.get('x-desk-session')!;
            assert.equal((await browser.get('/api/me')).statusCode, 200);
            for (const name of ['desk-4711', 'desk', '__Host-desk', 'x-desk-session']) {
              const refused = await app.inject({ url: '/api/me', cookies: { [name]: token } });
              assert.equal(refused.headers['x-error-code'], 'no-session', name);
            }
            assert.equal((await browser.post('/api/sign-out')).statusCode, 200);
            assert.equal(browser.kept.has('x-desk-session'), false);
            for (const { result } of injected.mock.calls)
              assert.equal(
                (await (result as Promise<LightMyRequestResponse>)).headers['set-cookie'],
                undefined,
              );
          },
          { door },
        );
    }));
});

describe('the link of "desk open"', () => {
  it('works once, for ten minutes, and for one of two who use it at once; its sessions end with the process', () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      const url = 'http://127.0.0.1:4711';
      const open = () => ({
        door: {
          kind: 'link',
          url,
          link: createLink(server.now()),
          sessions: createMemorySessions(),
        } as const,
      });
      const { door } = open();
      const enter = (app: FastifyInstance, token: string, headers = {}) =>
        app.inject({ method: 'POST', url: '/api/sign-in/link', payload: { token }, headers });
      await withDesk(
        server,
        async (app) => {
          for (const guess of ['', 'x'.repeat(43), door.link.token.slice(1), `${door.link.token} `])
            assert.equal((await enter(app, guess)).statusCode, 401);
          const foreign = await enter(app, door.link.token, { origin: 'https://evil.example' });
          assert.equal(foreign.statusCode, 403, 'another site does not use it up');
          const both = await Promise.all([enter(app, door.link.token), enter(app, door.link.token)]);
          assert.deepEqual(both.map(({ statusCode }) => statusCode).toSorted(), [200, 401]);
          assert.equal((await enter(app, door.link.token)).statusCode, 401, 'a second time');
          const token = String(both.find(({ statusCode }) => statusCode === 200)?.headers['x-desk-session']);
          assert.match(token, /^[\w-]{43}$/);
          const headers = { 'x-desk-session': token };
          const me = (await app.inject({ url: '/api/me', headers })).json<{ email: null; role: string }>();
          assert.deepEqual([me.email, me.role], [null, 'all']);
          const asked = await app.inject({ method: 'POST', url: '/api/sign-in', payload: { email: ADA } });
          assert.equal(asked.statusCode, 422);
          await withDesk(
            server,
            async (next) => assert.equal((await next.inject({ url: '/api/me', headers })).statusCode, 401),
            open(),
          );
        },
        { door },
      );
      const late = open();
      await server.advance(600);
      await withDesk(
        server,
        async (app) => assert.equal((await enter(app, late.door.link.token)).statusCode, 401),
        late,
      );
      // A database that takes no writes is a reason to open the desk.
      const unwritable = open();
      const { schema } = server.database.db;
      await schema.alterTable('desk_log').renameTo('away').execute();
      await withDesk(
        server,
        async (app) => {
          const browser = createDeskBrowser(app);
          const entered = await browser.post('/api/sign-in/link', { token: unwritable.door.link.token });
          assert.equal(entered.statusCode, 200);
          assert.equal((await browser.post('/api/sign-out')).statusCode, 200);
        },
        unwritable,
      );
      await schema.alterTable('away').renameTo('desk_log').execute();
      assert.match(server.logLines.join('\n'), /What was done at the desk could not be noted/);
      assert.equal(await server.countRows('desk_sessions'), 0);
      const log = await server.database.db.selectFrom('desk_log').selectAll().execute();
      assert.deepEqual(
        log.map(({ who, deed }) => [who, deed]),
        [['at the machine', 'signed-in']],
      );
    }));
});

describe('whoever can write to the database but has no APP_SECRET', () => {
  it('gets in with no planted session, code, mail or passkey, nor with one of their own under another name', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const { db } = server.database;
        const isIn = async (token: string) =>
          (await app.inject({ url: '/api/me', cookies: { '__Host-desk': token } })).statusCode === 200;
        const bob = createDeskBrowser(app);
        await signInAtDesk(server, bob, BOB);
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
        const toAdd = (await bob.post('/api/passkeys/options')).json<{ challenge: string }>();
        await bob.post('/api/passkeys/add', { name: 'Laptop', credential: key.create(toAdd) });
        await write(`update desk_passkeys set email = '${ADA}'`);
        const eve = createDeskBrowser(app, '203.0.113.5');
        const toEnter = (await eve.post('/api/sign-in/passkey/options')).json<{ challenge: string }>();
        const withKey = await eve.post('/api/sign-in/passkey', { credential: key.get(toEnter) });
        assert.equal(withKey.headers['x-error-code'], 'wrong-passkey');

        const visitor = createVisitor(server);
        await visitor.post(API.leads, filledForm({ email: STRANGER }));
        const visitorsCode = codeIn(await server.inbox.waitForMail(STRANGER));
        const code = await db.selectFrom('codes').select('id').executeTakeFirstOrThrow();
        await eve.post('/api/sign-in', { email: STRANGER });
        await write(`update desk_sign_ins set id = '${code.id}', email = '${ADA}' where used_at is null`);
        const withVisitors = await eve.post('/api/sign-in/code', { code: visitorsCode });
        assert.equal(withVisitors.headers['x-error-code'], 'wrong-code', "a visitor's code");

        await server.advance(120);
        const other = createDeskBrowser(app, '203.0.113.6');
        await other.post('/api/sign-in', { email: BOB });
        // After the code he signed in with, and the notice about his passkey.
        const bobsCode = codeIn(await server.inbox.waitForMail(BOB, 3));
        await write(`update desk_sign_ins set email = '${ADA}' where used_at is null`);
        const withBobs = await other.post('/api/sign-in/code', { code: bobsCode });
        assert.equal(withBobs.headers['x-error-code'], 'wrong-code', 'the code of another person');

        const mail = { id: code.id, email: STRANGER, signInId: code.id, host: 'x', now: server.now() };
        await queueDeskCodeMail(db, mail);
        server.service.mail.wake();
        await until(async () => {
          const row = await db
            .selectFrom('outbox')
            .select('state')
            .where('id', '=', code.id)
            .executeTakeFirst();
          return row?.state !== 'queued';
        });
        assert.equal(server.inbox.mailsTo(STRANGER).length, 1, 'the code of a person to another address');
        assert.equal(await server.countRows('desk_sessions'), 1);
      }),
    ));
});

/** @returns n different networks */
const networks = (n: number): string[] =>
  Array.from({ length: n }, (_, at) => `198.51.${at % 256}.${1 + (at >> 8)}`);

describe('guessing at the desk for hours', () => {
  it('twenty wrong attempts at one person mail the operator, once until a right one', () =>
    withServer(
      { engine: 'sqlite', env: { ...DESK_SETTINGS, OPERATOR_EMAIL: 'operator@example.net' } },
      (server) =>
        withDesk(server, async (app) => {
          const wrongFive = async (from: string) => {
            const browser = createDeskBrowser(app, from);
            await browser.post('/api/sign-in', { email: ADA });
            for (let at = 0; at < DESK_SIGN_IN.attempts; at += 1)
              assert.equal((await browser.post('/api/sign-in/code', { code: '000000' })).statusCode, 400);
          };
          for (const from of networks(3)) await wrongFive(from);
          await server.advance(3_700);
          assert.equal(server.inbox.mailsTo('operator@example.net').length, 0);
          for (const from of networks(2)) await wrongFive(from);
          const mail = await server.inbox.waitForMail('operator@example.net');
          assert.match(
            mail.parsed.text ?? '',
            /20 wrong codes or passkeys in a row .* desk -- log --newest/s,
          );
          await setTimeout(500);
          assert.equal(server.inbox.mailsTo('operator@example.net').length, 1);
        }),
    ));

  it('limits slide: no hour and no day has more codes than allowed, wherever it begins', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const mailsAfter = async (seconds: number) => {
          await server.advance(seconds);
          for (const address of networks(7))
            await createDeskBrowser(app, address).post('/api/sign-in', { email: ADA });
          return (
            await server.database.db
              .selectFrom('desk_sign_ins')
              .select('id')
              .where('email', '=', ADA)
              .execute()
          ).length;
        };
        assert.equal(await mailsAfter(0), 5);
        assert.equal(await mailsAfter(3_000), 5);
        assert.equal(await mailsAfter(800), 10, 'an hour later');
        assert.equal(await mailsAfter(3_800), 10, 'ten a day');
      }),
    ));

  it('strangers use up neither the codes of those who may sign in nor the passkeys of their network', () =>
    withServer({ engine: 'sqlite', env: DESK_SETTINGS }, (server) =>
      withDesk(server, async (app) => {
        const { unsentAsksOfAll, asksFromNetwork, codesFromNetwork } = DESK_SIGN_IN;
        const flood = networks(Math.ceil(unsentAsksOfAll / asksFromNetwork) + 1);
        for (const address of flood)
          await Promise.all(
            Array.from({ length: asksFromNetwork }, (_, at) =>
              createDeskBrowser(app, address).post('/api/sign-in', { email: `eve${at}@example.net` }),
            ),
          );
        assert.equal(await server.countRows('desk_sign_ins'), unsentAsksOfAll);
        for (let at = 0; at <= codesFromNetwork; at += 1)
          await createDeskBrowser(app, '203.0.113.7').post('/api/sign-in/code', { code: '123456' });
        const unlisted = createDeskBrowser(app, '203.0.113.7');
        assert.equal((await unlisted.post('/api/sign-in', { email: STRANGER })).statusCode, 200);
        const statuses = [];
        for (let at = 0; at <= DESK_SIGN_IN.attempts; at += 1)
          statuses.push((await unlisted.post('/api/sign-in/code', { code: '000000' })).statusCode);
        assert.deepEqual(statuses, [400, 400, 400, 400, 400, 429], 'as for a person who was sent a code');
        const options = (await unlisted.post('/api/sign-in/passkey/options')).json<{ challenge: string }>();
        const credential = createAuthenticator(DESK_URL).get(options);
        const passkey = await unlisted.post('/api/sign-in/passkey', { credential });
        assert.equal(passkey.headers['x-error-code'], 'wrong-passkey', passkey.body);
        await signInAtDesk(server, createDeskBrowser(app, '203.0.113.7'), ADA);
      }),
    ));

  it('of a person with a passkey alone leads nowhere: no code is sent once there is a passkey', () =>
    withServer(
      {
        engine: 'sqlite',
        env: { ...DESK_SETTINGS, DESK_PEOPLE: 'ada@example.com:all:passkey, bob@example.com' },
      },
      (server) =>
        withDesk(server, async (app) => {
          const ada = createDeskBrowser(app);
          await signInAtDesk(server, ada, ADA);
          const late = createDeskBrowser(app);
          await server.advance(60);
          await late.post('/api/sign-in', { email: ADA });
          const code = codeIn(await server.inbox.waitForMail(ADA, 2));
          const options = (await ada.post('/api/passkeys/options')).json<{ challenge: string }>();
          const credential = createAuthenticator(DESK_URL).create(options);
          assert.equal((await ada.post('/api/passkeys/add', { name: 'Laptop', credential })).statusCode, 200);
          const entered = await late.post('/api/sign-in/code', { code });
          assert.equal(entered.headers['x-error-code'], 'wrong-code', 'a code from before the passkey');
          await server.advance(60);
          assert.equal((await createDeskBrowser(app).post('/api/sign-in', { email: ADA })).statusCode, 200);
          const sent = await server.database.db.selectFrom('desk_sign_ins').select('email').execute();
          assert.equal(sent.filter(({ email }) => email === ADA).length, 2);
        }),
    ));
});

for (const engine of ENGINES) {
  describe(`guessing at the desk on ${engine}`, () => {
    // Each is a request through the whole application, and PostgreSQL takes its time in tests.
    const guesses = engine === 'sqlite' ? 10_000 : 1_000;
    it(`${guesses} codes from 500 networks are five tries, and the right code is worth nothing after them`, () =>
      withServer({ engine, env: DESK_SETTINGS }, (server) =>
        withDesk(server, async (app) => {
          const victim = createDeskBrowser(app);
          await victim.post('/api/sign-in', { email: ADA });
          const code = codeIn(await server.inbox.waitForMail(ADA));
          const cookies = Object.fromEntries(victim.cookies);
          const from = networks(500);
          const codes = Array.from({ length: guesses }, (_, at) =>
            String(at * 97)
              .padStart(6, '0')
              .slice(-6),
          ).filter((guess) => guess !== code);
          const answers = new Map<string, number>();
          for (let at = 0; at < codes.length; at += 50)
            await Promise.all(
              codes.slice(at, at + 50).map(async (guess, index) => {
                const { headers } = await app.inject({
                  method: 'POST',
                  url: '/api/sign-in/code',
                  payload: { code: guess },
                  cookies,
                  remoteAddress: from[(at + index) % from.length]!,
                });
                const name = String(headers['x-error-code']);
                answers.set(name, (answers.get(name) ?? 0) + 1);
              }),
            );
          assert.equal(answers.get('wrong-code'), DESK_SIGN_IN.attempts);
          assert.equal(answers.get('too-many-tries'), codes.length - DESK_SIGN_IN.attempts);
          const right = await victim.post('/api/sign-in/code', { code });
          assert.equal(right.headers['x-error-code'], 'too-many-tries');
          await victim.post('/api/sign-in', { email: ADA });
          const newer = codeIn(await server.inbox.waitForMail(ADA, 2));
          const revived = await victim.post('/api/sign-in/code', { code });
          assert.equal(revived.headers['x-error-code'], 'wrong-code', 'a new code revives no old one');
          assert.equal(await server.countRows('desk_sessions'), 0);
          assert.equal((await victim.post('/api/sign-in/code', { code: newer })).statusCode, 200);
          const { who, deed } = (
            await deskLogPage(server.database.db, { order: 'oldest', after: null, limit: 1 })
          )[0]!;
          assert.deepEqual([who, deed], [ADA, 'refused'], 'a wrong attempt is in the audit log');
          assert.equal(await server.countRows('desk_log'), DESK_SIGN_IN.attempts + 2);
        }),
      ));

    it('sending a code again gives no attempt back, and both newest codes work', () =>
      withServer({ engine, env: DESK_SETTINGS }, (server) =>
        withDesk(server, async (app) => {
          const browser = createDeskBrowser(app);
          const enter = async (code: string) =>
            (await browser.post('/api/sign-in/code', { code })).headers['x-error-code'] ?? 'in';
          await browser.post('/api/sign-in', { email: ADA });
          const first = codeIn(await server.inbox.waitForMail(ADA));
          const wrong = ['000000', '000001', '000002'].find((guess) => guess !== first)!;
          for (let at = 0; at < 3; at += 1) assert.equal(await enter(wrong), 'wrong-code');
          await server.advance(60);
          // Another address in between changes nothing.
          await browser.post('/api/sign-in', { email: STRANGER });
          await server.advance(1);
          await browser.post('/api/sign-in', { email: ADA });
          await server.inbox.waitForMail(ADA, 2);
          assert.equal(await enter(wrong), 'wrong-code');
          assert.equal(await enter(first), 'in', 'the fifth attempt, with the code before the newest');
        }),
      ));

    it('from one network ends after as many tries as it has, whatever browsers it makes up', () =>
      withServer({ engine, env: DESK_SETTINGS }, (server) =>
        withDesk(server, async (app) => {
          const answers = [];
          for (let at = 0; at < DESK_SIGN_IN.codesFromNetwork + 5; at += 1)
            answers.push(
              (await createDeskBrowser(app, '203.0.113.9').post('/api/sign-in/code', { code: '123456' }))
                .statusCode,
            );
          assert.equal(answers.filter((status) => status === 400).length, DESK_SIGN_IN.codesFromNetwork);
          assert.equal(answers.filter((status) => status === 429).length, 5);
        }),
      ));

    it('asking from many networks mails five codes an hour to an address, and no answer shows the limit', () =>
      withServer({ engine, env: DESK_SETTINGS }, (server) =>
        withDesk(server, async (app) => {
          const ask = async (email: string) => {
            const statuses = [];
            for (const address of networks(12))
              statuses.push(
                (await createDeskBrowser(app, address).post('/api/sign-in', { email })).statusCode,
              );
            return statuses;
          };
          const listed = await ask(ADA);
          const unlisted = await ask(STRANGER);
          assert.deepEqual(new Set([...listed, ...unlisted]), new Set([200]));
          await server.inbox.waitForMail(ADA, DESK_SIGN_IN.sendsToAddress);
          await setTimeout(1_000);
          const mails = await server.database.db.selectFrom('outbox').select('recipient').execute();
          assert.deepEqual(new Set(mails.map(({ recipient }) => recipient)), new Set([ADA]));
          assert.equal(mails.length, DESK_SIGN_IN.sendsToAddress);
        }),
      ));

    it('who is in DESK_PEOPLE shows in no answer and in no statement, and nothing kept names who is not', async () => {
      const statements: string[] = [];
      const database = await freshDatabase(engine, {
        onStatement: (statement) => void statements.push(statement),
      });
      await withServer({ engine, env: DESK_SETTINGS, database }, (server) =>
        withDesk(server, async (app) => {
          /** What a visitor's request waits for; the mail is queued later, after either. */
          const ofRequest = (from: number) =>
            statements
              .slice(from)
              .filter((statement) =>
                /desk_sign_ins|limit_windows|desk_sessions|desk_passkeys|desk_log|advisory/.test(statement),
              )
              // What queues the mail, and what composes it.
              .filter((statement) => !/mailed_at" = |from "desk_sign_ins" where "id" = /.test(statement))
              // Two codes are entered at once.
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
}
