import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { HOUR_MS } from '#server/platform/time.ts';
import { deriveSecrets } from '#server/secrets/secrets.ts';
import { issueCode } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { createFormatWait } from '#server/http/errors.ts';
import { createCountedLimits, type CountedLimits } from '#server/limits/limits.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { ENGINES, withDatabase } from '#testing/databases.ts';
import { TEST_SECRET } from '#testing/server-under-test.ts';

it('the network is an IPv4 address itself, in any notation, and the /64 of an IPv6 address', () => {
  for (const [address, network] of [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2:0:0:0:0/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2:0:0:0:0/64'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:0/64'],
  ] as const)
    assert.equal(networkOf(address), network);
});

it('a waiting time is shown in everyday words', () => {
  for (const [seconds, words] of [
    [0, 'now'],
    [1, 'in 1 second'],
    [89, 'in 89 seconds'],
    [90, 'in 2 minutes'],
    [5399, 'in 90 minutes'],
    [5400, 'in 2 hours'],
  ] as const)
    assert.equal(createFormatWait('en')(seconds), words);
});

const SECRETS = deriveSecrets([TEST_SECRET]);
const SETTINGS = {
  limits: { leadsPerIpPerHour: 0, leadsPerEmailPerHour: 0, verifyPerIpPerHour: 0, codeAttempts: 5 },
  codeTtlSeconds: 600,
  resendSeconds: 60,
};

const storeCode = (db: Db, { email, at, livesMs }: { email: string; at: number; livesMs: number }) =>
  issueCode(db, {
    id: uuid(),
    submission_id: null,
    email,
    client_address: '192.0.2.1',
    secret_id: 's',
    created_at: at,
    expires_at: at + livesMs,
  });

const sendTo = async (limits: CountedLimits, db: Db, email: string, now: number) =>
  limits.checkCodesSent(await limits.readCodesSent(db, email, now), now);

const attempt = (limits: CountedLimits, db: Db, now: number) =>
  limits.consumeSharedAttempt(db, 'ada@example.com', { hasLiveCodes: true }, now);

const NOON = Date.UTC(2026, 10, 20, 12);
const limitsWith = (limits: Partial<(typeof SETTINGS)['limits']> = {}, secrets = SECRETS) =>
  createCountedLimits({ ...SETTINGS, limits: { ...SETTINGS.limits, ...limits } }, secrets);

for (const engine of ENGINES) {
  it(`forms from one network share a limit across processes on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const [one, other] = [limitsWith({ leadsPerIpPerHour: 3 }), limitsWith({ leadsPerIpPerHour: 3 })];
      const outcomes = [];
      for (const limits of [one, other, one, other, one])
        outcomes.push((await limits.countFormOfNetwork(db, '192.0.2.1', NOON)).type);
      assert.deepEqual(outcomes, ['allowed', 'allowed', 'allowed', 'exceeded', 'exceeded']);
    }));

  it(`attempts still count after the secret changes on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const changed = deriveSecrets(['a-new-secret-for-tests-0123456789abcdef', TEST_SECRET]);
      const old = limitsWith();
      for (let count = 0; count < 5; count += 1) await attempt(old, db, NOON);
      const rows = await db.selectFrom('limit_windows').select('key').execute();
      assert.ok(rows.length > 0 && rows.every(({ key }) => !key.includes('ada')));
      assert.equal((await attempt(limitsWith({}, changed), db, NOON)).mayCompare, false);
    }));

  it(`attempts counted by a process whose clock is slightly ahead use up the limit on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const limits = limitsWith();
      const mayCompareAt = async (at: number) => (await attempt(limits, db, at)).mayCompare;
      for (let count = 0; count < 5; count += 1) assert.equal(await mayCompareAt(NOON), true);
      assert.equal(await mayCompareAt(NOON - 1_000), false);
      assert.equal(await mayCompareAt(NOON - 10_000), true, 'a clock that is far ahead is wrong');
    }));

  it(`attempts without a challenge are limited to twenty in any 24 hours on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const limits = limitsWith();
      const start = Date.UTC(2026, 10, 20, 12, 34, 56);
      const tryAt = (hours: number) => attempt(limits, db, start + hours * HOUR_MS);
      const comparedAt = async (hours: number) => {
        let compared = 0;
        while ((await tryAt(hours)).mayCompare) compared += 1;
        return compared;
      };
      assert.equal((await tryAt(0)).mayCompare, true);
      assert.equal(await comparedAt(23), 5);
      assert.equal(await comparedAt(23.3), 5);
      assert.equal(await comparedAt(23.6), 5);
      assert.equal(await comparedAt(23.9), 4);
      assert.equal(await comparedAt(24.2), 0, 'the try at the start still counts for this hour');
      assert.equal(await comparedAt(25.2), 1, 'one has left the window');
      assert.equal(await comparedAt(46), 0);
      const refused = (await tryAt(46)).limitIfWrong;
      assert.ok(
        refused.type === 'exceeded' && refused.retryAfterSeconds <= 4 * 3600,
        JSON.stringify(refused),
      );
      assert.equal(await comparedAt(49.5), 5, 'and next day it is as before');
    }));

  it(`a limit window started by a wrong clock ends when the clock is set back on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const limits = limitsWith({ leadsPerIpPerHour: 2 });
      const ask = (at: number) => limits.countFormOfNetwork(db, '203.0.113.7', at);
      for (let i = 0; i < 3; i += 1) await ask(NOON + 24 * HOUR_MS);
      assert.equal((await ask(NOON + 24 * HOUR_MS)).type, 'exceeded');
      assert.equal((await ask(NOON + 24 * HOUR_MS - 1_000)).type, 'exceeded', 'clocks differ a little');
      assert.equal((await ask(NOON)).type, 'allowed');
      assert.equal((await ask(NOON)).type, 'allowed');
      const refused = await ask(NOON);
      assert.deepEqual(refused, { type: 'exceeded', retryAfterSeconds: 3600 });
    }));

  it(`codes dated in the future by a wrong clock do not delay a new one on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const limits = limitsWith({ leadsPerEmailPerHour: 1 });
      await storeCode(db, { email: 'ada@example.com', at: NOON + 24 * HOUR_MS, livesMs: 600_000 });
      assert.equal((await sendTo(limits, db, 'ada@example.com', NOON)).type, 'allowed');
      assert.equal((await sendTo(limits, db, 'ada@example.com', NOON + 24 * HOUR_MS)).type, 'exceeded');
    }));

  it(`an e-mail address gets at most ten live codes in any 24 hours on ${engine}`, () =>
    withDatabase(engine, async ({ db }) => {
      const limits = limitsWith({ leadsPerEmailPerHour: 5 });
      const email = 'ada@example.com';
      const lives: { from: number; to: number }[] = [];
      const sendAt = async (minutes: number, livesMs = 600_000) => {
        const at = NOON + minutes * 60_000;
        const allowed = await sendTo(limits, db, email, at);
        if (allowed.type === 'exceeded') return allowed.retryAfterSeconds;
        await storeCode(db, { email, at, livesMs });
        lives.push({ from: at, to: at + livesMs });
        return 0;
      };
      for (let i = 0; i < 5; i += 1) await sendAt(i, i === 0 ? 1_200_000 : 600_000);
      for (let i = 0; i < 5; i += 1) await sendAt(12 * 60 + i);
      const day = 24 * 60;
      for (let minute = day - 5; minute < day + 30; minute += 1) await sendAt(minute);
      assert.ok(lives.length > 10, 'and then there are new ones');
      for (let minute = 0; minute < day; minute += 1) {
        const from = NOON + minute * 60_000;
        const alive = lives.filter((life) => life.to > from && life.from < from + 24 * HOUR_MS);
        assert.ok(alive.length <= 10, `${alive.length} from minute ${minute} on`);
      }
      const wait = await sendAt(day + 31);
      assert.ok(wait > 0);
      assert.equal(await sendAt(day + 31 + wait / 60), 0, 'the reported wait is correct');
    }));
}
