import assert from 'node:assert/strict';
import { it } from 'node:test';

import { DAY_MS } from '#server/platform/time.ts';
import { LOG_LINES } from '#server/settings/fixed-limits.ts';
import { API } from '#shared/api.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { valuesOf } from '#testing/values-of.ts';

type Line = { readonly route?: string; readonly status?: number; readonly msg?: string };
const read = ({ logLines }: ServerUnderTest): (Line & Record<string, unknown>)[] =>
  logLines.map((line) => JSON.parse(line) as Line & Record<string, unknown>);
const withStatus = (server: ServerUnderTest, status: number): number =>
  read(server).filter((line) => line.status === status).length;
const dropped = (server: ServerUnderTest) => read(server).filter(({ msg }) => msg?.includes('were dropped'));

const TOO_MANY = LOG_LINES.ofNetwork + 50;

for (const [when, ms] of [
  ['an hour is over', LOG_LINES.windowMs],
  ['the clock is set back', -30 * DAY_MS],
] as const)
  it(`log lines about one network are limited until ${when}, without hiding other networks`, () =>
    withServer({ engine: 'sqlite' }, async (server) => {
      const stranger = createVisitor(server, '203.0.113.7');
      for (let count = 0; count < TOO_MANY; count += 1)
        assert.equal((await stranger.get(`/api/nothing-${count}`)).statusCode, 404);
      assert.equal(withStatus(server, 404), LOG_LINES.ofNetwork);
      assert.deepEqual(valuesOf(dropped(server), 'lines'), [1]);
      assert.equal((await createVisitor(server, '203.0.113.8').get('/api/nothing')).statusCode, 404);
      assert.equal(withStatus(server, 404), LOG_LINES.ofNetwork + 1);
      server.setClock(server.now() + ms);
      assert.equal((await stranger.get('/api/nothing')).statusCode, 404);
      assert.equal(withStatus(server, 404), LOG_LINES.ofNetwork + 2);
    }));

it('successful health checks are not logged', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    for (const route of [API.live, API.health])
      assert.equal((await createVisitor(server).get(route)).statusCode, 200);
    assert.deepEqual(
      read(server).filter(({ route }) => route !== undefined),
      [],
    );
  }));
