import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';

import { TABLE_NAMES } from '#server/db/all-tables.ts';
import { API, PROOF_OF_WORK_HEADER } from '#shared/api.ts';
import { API_ERRORS } from '#shared/errors.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { TEST_DIST } from '#testing/built-site.ts';
import { decodedBody } from '#testing/decoded-body.ts';
import { ask, askForCode, EMAIL, enter, newestCode } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, TEST_SECRET, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { words } from '#testing/words.ts';

async function wholeDatabase({ database }: ServerUnderTest): Promise<string> {
  const tables = await Promise.all(
    TABLE_NAMES.map((table) => database.db.selectFrom(table).selectAll().execute()),
  );
  return JSON.stringify(tables);
}

onEachEngine('security', ({ test }) => {
  test('a copy of the database contains no code, session or secret', async (server) => {
    const { visitor, code } = await askForCode(server);
    const waiting = await wholeDatabase(server);
    assert.ok(waiting.includes(EMAIL), 'it is the right database');
    // Digits inside a time or an ID don't count, because they may match by chance.
    assert.doesNotMatch(waiting, new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`));
    await enter(visitor, code);
    const verified = await wholeDatabase(server);
    for (const [name, value] of visitor.cookies) {
      for (const part of value.split('.')) {
        assert.ok(part.length < 20 || !verified.includes(part), `no part of the ${name} cookie`);
      }
    }
    assert.ok(!verified.includes(TEST_SECRET));
  });

  test('the log contains no personal data and no secret', async (server) => {
    const visitor = createVisitor(server, '203.0.113.7');
    await ask(visitor, { name: 'Ada\u2028Lovelace' });
    await ask(visitor);
    const code = await newestCode(server);
    await enter(visitor, '000000');
    await enter(visitor, code);
    await visitor.get(`/api/challenge?id=${EMAIL}`);
    await visitor.get(`/no/such/page?email=${EMAIL}%0d%0a{"level":60}`);
    const { headers } = await server.app.inject({
      url: API.article,
      headers: { 'x-request-id': 'forged-id', 'user-agent': 'Forged/1' },
    });
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
    const log = server.logLines.join('');
    assert.ok(log.includes(String(headers['x-request-id'])));
    assert.ok(server.logLines.length >= 6);
    const secrets = [
      EMAIL,
      'Ada',
      'Lovelace',
      'Analytical',
      code,
      '203.0.113.7',
      TEST_SECRET,
      'forged-id',
      'Forged',
    ];
    for (const secret of [...secrets, ...visitor.cookies.values()]) {
      assert.ok(!log.includes(secret), `no "${secret}" in ${log}`);
    }
    for (const line of server.logLines) assert.doesNotThrow(() => JSON.parse(line), 'one line, one record');
  });

  test(
    'a random request never gets a status of 500 or above',
    { env: { LEADS_PER_IP_PER_HOUR: '0', VERIFY_PER_IP_PER_HOUR: '0', BREAKER_CODES_PER_MINUTE: '0' } },
    async (server) => {
      const anything = fc.oneof(
        fc.jsonValue(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('__proto__', '\u0000', '\ud800', 'ada@example.com', '123456', true),
      );
      const field = (usual: unknown) => fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, anything);
      const body = fc.oneof(
        anything,
        fc.record(
          {
            name: field('Ada Lovelace'),
            company: field('Analytical Engines'),
            email: field(EMAIL),
            consent: field(true),
            code: field('123456'),
            website: anything,
            extra: anything,
          },
          { requiredKeys: [] },
        ),
      );
      const headerText = fc.string({
        unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...Object.values(API)),
          fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
          body,
          fc.dictionary(
            fc.constantFrom(
              'cookie',
              'referer',
              'user-agent',
              'accept-encoding',
              'range',
              PROOF_OF_WORK_HEADER,
            ),
            headerText,
          ),
          fc.webQueryParameters(),
          async (url, method, payload, headers, query) => {
            const response = await server.app.inject({
              url: `${url}?${query}`,
              method: method as 'GET',
              headers: { 'content-type': 'application/json', ...headers },
              ...(method !== 'GET' && { payload: JSON.stringify(payload) }),
            });
            assert.ok(response.statusCode < 500, `${response.statusCode} ${response.body}`);
            // People open links from mails, so an invalid link gets a page.
            const isPage = response.headers['content-type'] === 'text/html; charset=utf-8';
            const text = decodedBody(response).toString();
            const sentence = isPage ? (/<h1>(.*?)<\/h1>/.exec(text)?.[1] ?? '') : text;
            if (isPage)
              assert.ok(
                [API.unsubscribe, API.guide].some((link) => link === url),
                url,
              );
            if (response.statusCode >= 400) {
              assert.match(sentence, /^[A-Z][^{}<>]{9,200}$/);
              assert.ok(String(response.headers['x-error-code']) in API_ERRORS, url);
            }
            assert.equal(response.headers['x-content-type-options'], 'nosniff');
          },
        ),
        { numRuns: 400, examples: [[API.guide, 'GET', null, { 'accept-encoding': '*' }, '']] },
      );
    },
  );
});

it('cookies over https are Secure, host-only and HttpOnly', () =>
  withServer({ engine: 'sqlite', env: { PUBLIC_URL: 'https://guide.example.com' } }, async (server) => {
    const { visitor, asked, code } = await askForCode(server);
    const verified = await enter(visitor, code);
    assert.equal(verified.headers['strict-transport-security'], 'max-age=31536000');
    const lines = [asked, verified].flatMap(({ headers }) => headers['set-cookie'] ?? []);
    assert.deepEqual(
      lines.map((line) => line.split('=', 1)[0]),
      ['__Host-challenge', '__Host-session'],
    );
    for (const line of lines) {
      assert.match(line, /; Path=\/(;|$)/);
      assert.match(line, /; HttpOnly(;|$)/);
      assert.match(line, /; Secure(;|$)/);
      assert.match(line, /; SameSite=Lax(;|$)/);
      assert.doesNotMatch(line, /; Domain=/);
    }
  }));

it('entering a code replaces a planted session', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const { visitor: attacker } = await becomeLead(server, 'eve@example.com');
    const planted = attacker.cookies.get('session') ?? '';
    const { visitor } = await becomeLead(server, EMAIL, 1, {
      beforeCode: async ({ cookies }) => cookies.set('session', planted),
    });
    assert.ok(planted !== '' && visitor.cookies.has('session'));
    assert.notEqual(visitor.cookies.get('session'), planted);
  }));

it('no URL leads out of the folder of public files', () =>
  withServer({ engine: 'sqlite', siteFolder: TEST_DIST }, async (server) => {
    for (const url of words(`
      /../package.json /../../etc/passwd /%2e%2e/package.json /%2e%2e%2fpackage.json
      /assets/../../inline-hashes.json /assets/..%2f..%2finline-hashes.json
      /assets/%2e%2e%5c%2e%2e%5cinline-hashes.json /inline-hashes.json /pages/index.html
      /files/robots.txt /media/%00film.mp4 /media/film.mp4%00.txt /%c0%ae%c0%ae/package.json
      //etc/passwd /.env /data/app-secret /content/article/article.md`)) {
      const response = await server.app.inject(url);
      assert.ok([400, 404].includes(response.statusCode), `${url}: ${response.statusCode}`);
      assert.doesNotMatch(response.body, /root:|"dependencies"|sha256-|Foundations/, url);
    }
  }));
