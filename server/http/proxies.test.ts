// Whose address counts when proxies stand in front (TRUST_PROXY).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
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
  it('is that of the connection by default, and a forgotten setting is told once and loudly', () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      assert.equal(await addressOf(server, '203.0.113.7'), PROXY);
      assert.equal(await addressOf(server, '203.0.113.8'), PROXY);
      assert.equal(warnings(server).length, 1);
      assert.match(warnings(server)[0] ?? '', /"level":40/);
    }));

  it('is told by the last of so many proxies, whatever stands to the left', () =>
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
