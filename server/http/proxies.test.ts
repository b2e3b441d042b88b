// Whose address counts when proxies stand in front (TRUST_PROXY).
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';

const PROXY = '10.0.0.1';

/** The address that was written down for a request that came through PROXY with this header. */
async function addressOf(server: ServerUnderTest, forwardedFor: string, from = PROXY): Promise<string> {
  const email = `visitor-${await server.countRows('submissions')}@example.com`;
  const response = await createVisitor(server, from).post(API.leads, filledForm({ email }), {
    headers: { 'x-forwarded-for': forwardedFor },
  });
  assert.equal(response.statusCode, 202, response.body);
  const row = await server.database.db
    .selectFrom('submissions')
    .select('client_address')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return row.client_address;
}

const warnings = ({ logLines }: ServerUnderTest) =>
  logLines.filter((line) => line.includes('X-FORWARDED-FOR ARRIVES, BUT TRUST_PROXY IS OFF'));

describe('the address of a visitor', () => {
  it('is that of the connection by default, and a forgotten setting is logged once and loudly', () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      assert.equal(await addressOf(server, '203.0.113.7'), PROXY);
      assert.equal(await addressOf(server, '203.0.113.8'), PROXY);
      assert.equal(warnings(server).length, 1);
      assert.match(warnings(server)[0] ?? '', /"level":40/);
    }));

  it('is the one that the last of the trusted proxies wrote, whatever stands to its left', () =>
    withServer({ engine: 'sqlite', env: { TRUST_PROXY: '1' } }, async (server) => {
      assert.equal(await addressOf(server, '203.0.113.7'), '203.0.113.7');
      assert.equal(await addressOf(server, '6.6.6.6, 203.0.113.7'), '203.0.113.7');
      assert.equal(warnings(server).length, 0);
    }));

  it('is counted from the right when there are two', () =>
    withServer({ engine: 'sqlite', env: { TRUST_PROXY: '2' } }, async (server) => {
      assert.equal(await addressOf(server, '6.6.6.6, 203.0.113.7, 10.0.0.2'), '203.0.113.7');
      assert.equal(await addressOf(server, '203.0.113.7'), '203.0.113.7');
    }));

  it('is the first from the right outside of the trusted networks', () =>
    withServer({ engine: 'sqlite', env: { TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32' } }, async (server) => {
      assert.equal(await addressOf(server, '6.6.6.6, 203.0.113.7, 10.9.9.9'), '203.0.113.7');
      assert.equal(
        await addressOf(server, '6.6.6.6, 2001:db9::7, 2001:db8::1', '2001:db8::2'),
        '2001:db9::7',
      );
      assert.equal(await addressOf(server, '6.6.6.6', '198.51.100.9'), '198.51.100.9', 'not through a proxy');
    }));
});

for (const engine of ENGINES) {
  describe(`what is no address, on ${engine}`, () => {
    it('counts as the nearest proxy that is trusted, however long it is', () =>
      withServer({ engine, env: { TRUST_PROXY: '2', LEADS_PER_IP_PER_HOUR: '0' } }, async (server) => {
        // Nothing that a database could press into the space of an index.
        const long = randomBytes(4_000).toString('hex');
        assert.equal(await addressOf(server, long), PROXY);
        assert.equal(await addressOf(server, `${long}, 203.0.113.7`), '203.0.113.7');
        assert.equal(await addressOf(server, `6.6.6.6, unknown, 203.0.113.7`), '203.0.113.7');
        assert.equal(await addressOf(server, `6.6.6.6, ${long}`), PROXY);
        assert.equal(await addressOf(server, ','.repeat(300)), PROXY);
        assert.equal(await addressOf(server, '2001:db8::7%eth0, [2001:db8::8]:4711'), '2001:db8::7');
        assert.equal(await addressOf(server, '::ffff:203.0.113.7, 198.51.100.1:80'), '203.0.113.7');
        const verified = await createVisitor(server, PROXY).post(
          API.verify,
          { email: 'ada@example.com', code: '123456' },
          { headers: { 'x-forwarded-for': long } },
        );
        assert.equal(verified.statusCode, 400);
      }));

    it('gives no stranger a new address: the limit of the proxy is reached', () =>
      withServer({ engine, env: { TRUST_PROXY: '1', LEADS_PER_IP_PER_HOUR: '2' } }, async (server) => {
        const statuses: number[] = [];
        for (const [index, forwardedFor] of ['made-up-1', 'made-up-2', 'made-up-3'].entries()) {
          const { statusCode } = await createVisitor(server, PROXY).post(
            API.leads,
            filledForm({ email: `visitor-${index}@example.com` }),
            { headers: { 'x-forwarded-for': forwardedFor } },
          );
          statuses.push(statusCode);
        }
        assert.deepEqual(statuses, [202, 202, 429]);
      }));
  });
}
