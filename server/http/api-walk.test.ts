import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { InjectOptions } from 'fastify';

import { API } from '#shared/api.ts';
import { API_ERRORS } from '#shared/errors.ts';
import { MATRIX_ENGINES, type Engine } from '#testing/databases.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, filledForm, sharedServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { words } from '#testing/words.ts';

const ROUTES: Readonly<Record<string, readonly string[]>> = {
  [API.leads]: ['POST'],
  [API.verify]: ['POST'],
  [API.challenge]: ['GET', 'HEAD'],
  [API.article]: ['GET', 'HEAD'],
  [API.proofOfWork]: ['GET', 'HEAD'],
  [API.unsubscribe]: ['GET', 'HEAD', 'POST'],
  [API.guide]: ['GET', 'HEAD'],
  [API.guideFile]: ['GET', 'HEAD'],
  [API.funnel]: ['POST'],
  [API.live]: ['GET', 'HEAD'],
  [API.health]: ['GET', 'HEAD'],
};
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const BODIES: Readonly<Record<string, Record<string, unknown>>> = {
  [API.leads]: filledForm(),
  [API.verify]: { email: 'ada@example.com', code: '123456' },
  [API.funnel]: { step: 'opened' },
};

async function expectRefusal(server: ServerUnderTest, request: InjectOptions, what: string) {
  const response = await server.app.inject(request);
  assert.ok(response.statusCode >= 400 && response.statusCode < 500, `${what}: ${response.statusCode}`);
  assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8', what);
  assert.equal(response.headers['cache-control'], 'no-store', what);
  const code = String(response.headers['x-error-code']);
  assert.ok(code in API_ERRORS, `${what}: ${code}`);
  if (request.method !== 'HEAD') assert.match(response.body, /^[A-Z][^{}<>]{9,200}$/, what);
  assert.equal(response.cookies.length, 0, `${what}: sets no cookie`);
  return response;
}

async function expectNothingHappened(server: ServerUnderTest): Promise<void> {
  for (const table of ['submissions', 'codes', 'outbox', 'leads'] as const) {
    assert.equal(await server.countRows(table), 0, table);
  }
  assert.equal(server.inbox.mails.length, 0);
}

const post = (
  url: string,
  payload: object | string | undefined,
  headers: Record<string, string> = {},
): InjectOptions => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  payload: payload as string,
});

const SERVERS: { readonly engine: Engine; readonly server: ServerUnderTest }[] = [];
for (const engine of MATRIX_ENGINES) SERVERS.push({ engine, server: await sharedServer({ engine }) });

const JSON_BODIES = Object.entries(BODIES).map(([url, body]) => ({ url, body, json: JSON.stringify(body) }));

// shared/lead.test.ts tests more text that the schemas refuse.
const WRONG_TYPES: unknown[] = [undefined, null, 1, 0, [], {}, ['ada@example.com'], { toString: 'x' }];
const WRONG_LINES = [...WRONG_TYPES, true, '', 'x'.repeat(201), 'Ada\r\nBcc: all@example.com'];
const WRONG_EMAILS = [...WRONG_TYPES, true, '', 'ada', 'ada@example.com\r\nBcc: x@example.com'];
const WRONG_CODES = ['', '12345', '1234567', '12345a', '１２３４５６', ' 123456', '123456\n', '-12345'];
const WRONG_FIELDS: readonly (readonly [url: string, field: string, values: readonly unknown[]])[] = [
  [API.leads, 'name', WRONG_LINES],
  [API.leads, 'company', WRONG_LINES],
  [API.leads, 'email', WRONG_EMAILS],
  [API.leads, 'consent', [...WRONG_TYPES, false, 'true', 'on', '']],
  [API.verify, 'email', WRONG_EMAILS],
  [API.verify, 'code', [...WRONG_TYPES, true, 123456, ...WRONG_CODES]],
];

const BROKEN = ['', '{', 'null', '[]', '"text"', '1', 'true', '{"a":1,}', '\u0000', '{"__proto__":{"a":1}}'];

type Refused = readonly [what: string, request: InjectOptions, sentence?: RegExp];
/** Requests by the title of their test. None has an effect. */
const REFUSED: Readonly<Record<string, readonly Refused[]>> = {
  'to an unknown API path gets 404, even if it resembles a known path': [
    ...words(`
      /api /api?x /api/ /api/100% /api/leads% /api/lead /api/leads/ /api/leads/1 /api/LEADS /api/../etc/passwd
      /api/%2e%2e/x`).flatMap((url): Refused[] => [
      [`GET ${url}`, { url }],
      [`POST ${url}`, post(url, filledForm())],
    ]),
    ['a long address', { url: `/api/challenge?id=${'x'.repeat(3000)}` }],
  ],
  'with another content type is refused': JSON_BODIES.flatMap(({ url, json }) =>
    [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      'nonsense',
      '',
    ].map((type): Refused => [`${url} as ${type}`, post(url, json, { 'content-type': type })]),
  ),
  'with a large body, another encoding or invalid JSON is refused': JSON_BODIES.flatMap(
    ({ url, body, json }) => [
      ...[...BROKEN, json.slice(0, -1), `${json}${json}`, `${'['.repeat(8000)}${']'.repeat(8000)}`].map(
        (broken): Refused => [`${url} with ${broken.slice(0, 20)}`, post(url, broken)],
      ),
      [`${url} with 10 MB`, post(url, { ...body, name: 'x'.repeat(10_000_000) })],
      [`${url} in latin1`, post(url, Buffer.from(json.replace(/ada|opened/, 'ad\u00e4'), 'latin1'))],
    ],
  ),
  'from another site gets 403': JSON_BODIES.flatMap(({ url, body }) =>
    [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://localhost.evil.example' },
      // DNS rebinding: the attacker's host name resolves to this server, so page and request seem to
      // match.
      { origin: 'http://evil.example', host: 'evil.example', 'sec-fetch-site': 'same-origin' },
      { origin: 'http://evil.example:3000', host: 'evil.example:3000' },
      { origin: 'http://127.0.0.1.evil.example', host: '127.0.0.1.evil.example' },
      { origin: 'http://192.168.1.5:3000', host: '192.168.1.5:3000' },
      { origin: 'http://127.0.0.1:3000', host: 'evil.example' },
      { origin: 'http://127.0.0.1:4000', host: '127.0.0.1:3000' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
    ].map((headers): Refused => [
      `${url} from ${JSON.stringify(headers)}`,
      post(url, body, headers),
      /another site/,
    ]),
  ),
  'with a field that is missing, of the wrong type, empty, too long or not plain text is refused':
    WRONG_FIELDS.flatMap(([url, field, values]) =>
      values.map((value): Refused => [
        `${url} with ${field}=${JSON.stringify(value)}`,
        post(url, { ...BODIES[url], [field]: value }),
      ]),
    ),
};

for (const { engine, server } of SERVERS) {
  describe(`API routes on ${engine}`, () => {
    it('API routes refuse other methods with 405 and an Allow header', async () => {
      for (const [url, allowed] of Object.entries(ROUTES)) {
        for (const method of METHODS.filter((name) => !allowed.includes(name))) {
          const response = await expectRefusal(server, { method, url }, `${method} ${url}`);
          assert.equal(response.statusCode, 405);
          assert.deepEqual(String(response.headers.allow).split(', ').toSorted(), [...allowed].toSorted());
        }
      }
      await expectNothingHappened(server);
    });

    for (const [title, requests] of Object.entries(REFUSED))
      it(`an API request ${title}`, async () => {
        for (const [what, request, sentence = /./] of requests)
          assert.match((await expectRefusal(server, request, what)).body, sentence, what);
        await expectNothingHappened(server);
      });

    it('API errors use the messages in the specification', async () => {
      const said = async (changes: Record<string, unknown>) =>
        (await expectRefusal(server, post(API.leads, filledForm(changes)), JSON.stringify(changes))).body;
      assert.equal(await said({ name: 'A' }), 'Name must be at least 2 characters');
      assert.equal(await said({ company: ' ' }), 'Company name must be at least 2 characters');
      assert.equal(await said({ email: 'nobody' }), 'Please enter a valid email address');
      assert.equal(await said({ consent: false }), 'You must agree to receive emails');
      assert.equal(await said({ name: undefined }), 'Required: please check the field name.');
      assert.equal(await said({ company: 5 }), 'Invalid input: please check the field company.');
    });
  });
}

onEachEngine('API with its own server', ({ test, both }) => {
  test(
    'API routes accept the page under any name of this machine',
    { env: { PUBLIC_URL: 'https://guide.example.com', CODE_ATTEMPTS: '0' } },
    async (own) => {
      const names = [
        ['https://guide.example.com', 'guide.example.com'],
        ['https://guide.example.com', 'backend:3000'],
        ['http://localhost:3000', 'localhost:3000'],
        ['http://localhost:3000', 'LOCALHOST:3000'],
        ['http://127.0.0.1:3000', '127.0.0.1:3000'],
        ['http://127.8.9.10', '127.8.9.10'],
        ['http://[::1]:3000', '[::1]:3000'],
      ] as const;
      for (const [origin, host] of names) {
        const response = await own.app.inject(
          post(API.verify, BODIES[API.verify], { origin, host, 'sec-fetch-site': 'same-origin' }),
        );
        assert.equal(response.headers['x-error-code'], 'wrong-code', `${origin} at ${host}`);
        assert.equal(response.headers['x-error-field'], 'code');
      }
      const headers = {
        origin: 'https://guide.example.com',
        host: 'guide.example.com',
        'sec-fetch-site': 'same-origin',
      };
      const form = await own.app.inject(post(API.leads, filledForm(), headers));
      assert.equal(form.statusCode, 202);
    },
  );

  test("the operator is warned once about a page opened under a host other than PUBLIC_URL's", async (own) => {
    const elsewhere = { origin: 'http://192.168.1.5:3000', host: '192.168.1.5:3000' };
    for (let count = 0; count < 2; count += 1) {
      await expectRefusal(own, post(API.leads, filledForm(), elsewhere), 'another name');
    }
    const warnings = own.logLines.filter((line) => line.includes('PUBLIC_URL'));
    assert.equal(warnings.length, 1);
    assert.doesNotMatch(warnings[0] ?? '', /192\.168/);
  });

  test(
    'a network over its limit gets 429 with a waiting time',
    { env: { LEADS_PER_IP_PER_HOUR: '3', VERIFY_PER_IP_PER_HOUR: '2' } },
    async (own) => {
      const from = (address: string) => createVisitor(own, address);
      const ask = (address: string, index: number) =>
        from(address).post('/api/leads', filledForm({ email: `person${index}@example.com` }));
      const statuses = [];
      for (let i = 0; i < 4; i += 1) statuses.push((await ask(`2001:db8:1:2::${i + 1}`, i)).statusCode);
      assert.deepEqual(statuses, [202, 202, 202, 429]);
      const refused = await ask('2001:db8:1:2:ffff::9', 9);
      assert.equal(refused.headers['x-error-code'], 'too-many-requests');
      assert.equal(refused.headers['retry-after'], '3600');
      assert.match(refused.body, /Please try again in 60 minutes\.$/);
      assert.equal((await ask('2001:db8:1:3::1', 10)).statusCode, 202);
      await own.advance(3600);
      assert.equal((await ask('2001:db8:1:2::1', 11)).statusCode, 202);

      const tries = [];
      for (let i = 0; i < 3; i += 1) {
        tries.push((await from('203.0.113.9').post('/api/verify', BODIES[API.verify])).statusCode);
      }
      assert.deepEqual(tries, [400, 400, 429]);
    },
  );

  both(
    'a limit of 0 means unlimited',
    {
      env: {
        LEADS_PER_IP_PER_HOUR: '0',
        LEADS_PER_EMAIL_PER_HOUR: '0',
        VERIFY_PER_IP_PER_HOUR: '0',
        CODE_ATTEMPTS: '0',
        RESEND_SECONDS: '0',
      },
    },
    async (own) => {
      const visitor = createVisitor(own);
      // An e-mail address gets ten codes a day by default, and a challenge five attempts.
      for (let i = 0; i < 12; i += 1)
        assert.equal((await visitor.post('/api/leads', filledForm())).statusCode, 202);
      await own.inbox.waitForMail('ada@example.com', 12);
      for (let i = 0; i < 12; i += 1)
        assert.equal((await visitor.post('/api/verify', BODIES[API.verify])).statusCode, 400);
    },
  );

  both('API routes and health respond with 503 while the database is unreachable', async (own) => {
    assert.equal((await own.app.inject('/api/health')).statusCode, 200);
    await own.database.close();
    assert.equal((await own.app.inject(API.live)).statusCode, 200, 'the process is up');
    for (const request of [
      post(API.leads, filledForm()),
      post(API.verify, BODIES[API.verify]),
      { method: 'GET', url: '/api/health' } as const,
    ]) {
      const response = await own.app.inject(request);
      assert.ok(response.statusCode >= 500, response.body);
      assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
      assert.ok(Number(response.headers['retry-after']) > 0);
      assert.doesNotMatch(response.body, /driver|destroy|sql/i, 'says nothing about the inside');
    }
  });
});
