import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';

import { readAddress } from '#server/http/visitor-address.ts';
import { API } from '#shared/api.ts';
import { ask } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, type ServerUnderTest, withServer } from '#testing/server-under-test.ts';
import { words } from '#testing/words.ts';

const PROXY = '10.0.0.1';

async function addressOf(server: ServerUnderTest, forwardedFor: string, from = PROXY): Promise<string> {
  const email = `visitor-${await server.countRows('submissions')}@example.com`;
  const response = await ask(createVisitor(server, from), { email }, { 'x-forwarded-for': forwardedFor });
  assert.equal(response.statusCode, 202, response.body);
  const row = await server.database.db
    .selectFrom('submissions')
    .select('client_address')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return row.client_address;
}

const warnings = ({ logLines }: ServerUnderTest) =>
  logLines.filter((line) => line.includes('REQUESTS CONTAIN X-FORWARDED-FOR, BUT TRUST_PROXY IS OFF'));

/** Random, so the database cannot compress it to fit an index. */
const LONG = randomBytes(4_000).toString('hex');

type Row = readonly [forwardedFor: string, counts: string, from?: string];
const COUNTED: readonly (readonly [title: string, trusted: string, ...rows: readonly Row[]])[] = [
  [
    'the last entry of X-Forwarded-For behind one proxy',
    '1',
    ['203.0.113.7', '203.0.113.7'],
    ['6.6.6.6, 203.0.113.7', '203.0.113.7'],
  ],
  [
    'the second entry from the right behind two proxies',
    '2',
    ['6.6.6.6, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['203.0.113.7', '203.0.113.7'],
  ],
  [
    'the first entry from the right outside the trusted networks',
    '10.0.0.0/8, 2001:db8::/32, 198.51.100.8',
    ['6.6.6.6, 203.0.113.7, 10.9.9.9', '203.0.113.7'],
    ['6.6.6.6, 2001:db9::7, 2001:db8::1', '2001:db9::7', '2001:db8::2'],
    ['203.0.113.7', '203.0.113.7', '198.51.100.8'],
    ['6.6.6.6', '198.51.100.9', '198.51.100.9'],
    ['6.6.6.6', '11.0.0.1', '11.0.0.1'],
    ['6.6.6.6', '2001:db9::1', '2001:db9::1'],
    ['6.6.6.6', '::2', '::2'],
  ],
];

it("the visitor's IP address is the connection's unless TRUST_PROXY is set", () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    assert.equal(await addressOf(server, '203.0.113.7'), PROXY);
    assert.equal(await addressOf(server, '203.0.113.8'), PROXY);
    assert.equal(warnings(server).length, 1);
    assert.match(warnings(server)[0] ?? '', /"level":40/);
  }));

for (const [title, trusted, ...rows] of COUNTED)
  it(`the visitor's IP address is ${title}`, () =>
    withServer({ engine: 'sqlite', env: { TRUST_PROXY: trusted } }, async (server) => {
      for (const [forwardedFor, counts, from] of rows)
        assert.equal(await addressOf(server, forwardedFor, from), counts, forwardedFor);
      assert.equal(warnings(server).length, 0);
    }));

onEachEngine('invalid X-Forwarded-For entry', ({ test }) => {
  test(
    'an invalid X-Forwarded-For entry of any length counts as the nearest trusted proxy',
    { env: { TRUST_PROXY: '2', LEADS_PER_IP_PER_HOUR: '0' } },
    async (server) => {
      for (const [forwardedFor, counts] of [
        [LONG, PROXY],
        [`${LONG}, 203.0.113.7`, '203.0.113.7'],
        ['6.6.6.6, unknown, 203.0.113.7', '203.0.113.7'],
        [`6.6.6.6, ${LONG}`, PROXY],
        [','.repeat(300), PROXY],
        ['2001:db8::7%eth0, [2001:db8::8]:4711', '2001:db8::7'],
        ['::ffff:203.0.113.7, 198.51.100.1:80', '203.0.113.7'],
      ] as const)
        assert.equal(await addressOf(server, forwardedFor), counts, forwardedFor.slice(0, 40));
      const verified = await createVisitor(server, PROXY).post(
        API.verify,
        { email: 'ada@example.com', code: '123456' },
        { headers: { 'x-forwarded-for': LONG } },
      );
      assert.equal(verified.statusCode, 400);
    },
  );
});

it('readAddress reads IP addresses with a port, brackets or a zone, and IPv4 in IPv6', () => {
  const written: Record<string, string> = {
    '203.0.113.7': '203.0.113.7',
    ' 203.0.113.7\t': '203.0.113.7',
    '203.0.113.7:4711': '203.0.113.7',
    '::ffff:203.0.113.7': '203.0.113.7',
    '::ffff:cb00:7107': '203.0.113.7',
    '[::ffff:203.0.113.7]:80': '203.0.113.7',
    '[::1]:80': '::1',
    '[::1]': '::1',
    '2001:DB8:0:0:0:0:0:9': '2001:db8::9',
    '[2001:db8::9]:4711': '2001:db8::9',
    'fe80::1%eth0': 'fe80::1',
    '[fe80::1%25eth0]:80': 'fe80::1',
  };
  for (const [text, address] of Object.entries(written)) assert.equal(readAddress(text), address, text);
});

it('readAddress returns null for text that is not an IP address', () => {
  const others = words(`
      unknown _hidden localhost 127.1 0x7f.0.0.1 2130706433 256.1.1.1 1.2.3 1.2.3.4.5 203.0.113.7:
      203.0.113.7:x 203.0.113.7/24 ::1:: [::1 ::1] []:80 %eth0`);
  const odd = ['', ' ', '203.0.113.7 evil', `::1%${'z'.repeat(200)}`, '1'.repeat(8_192)];
  for (const text of [...others, ...odd]) assert.equal(readAddress(text), null, text.slice(0, 40));
});
