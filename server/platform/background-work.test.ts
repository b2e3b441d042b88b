import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { startWakeLoop } from '#server/platform/background-work.ts';

const HOUR_MS = 3_600_000;

function startLoop() {
  const rounds: PromiseWithResolvers<void>[] = [];
  const errors: unknown[] = [];
  const loop = startWakeLoop({
    pollMs: HOUR_MS,
    work: () => {
      const round = Promise.withResolvers<void>();
      rounds.push(round);
      return round.promise;
    },
    onError: (error) => errors.push(error),
  });
  return { loop, rounds, errors };
}

it('a background loop woken during a round starts the next one right after it', async () => {
  const { loop, rounds } = startLoop();
  loop.wake();
  loop.wake();
  await setImmediate();
  assert.equal(rounds.length, 1, 'one round at a time');
  rounds[0]?.resolve();
  await setImmediate();
  assert.equal(rounds.length, 2, 'two calls make one further round');
  rounds[1]?.resolve();
  await setImmediate();
  assert.equal(rounds.length, 2);
  await loop.stop();
});

it('a background loop continues after a failed round', async () => {
  const { loop, rounds, errors } = startLoop();
  rounds[0]?.reject(new Error('away'));
  await setImmediate();
  assert.equal(errors.length, 1);
  loop.wake();
  await setImmediate();
  assert.equal(rounds.length, 2);
  rounds[1]?.resolve();
  await loop.stop();
});

it('a background loop finishes the current round and starts no other when stopped', async () => {
  const { loop, rounds } = startLoop();
  loop.wake();
  let stopped = false;
  const stopping = loop.stop().then(() => (stopped = true));
  await setImmediate();
  assert.equal(stopped, false);
  rounds[0]?.resolve();
  await stopping;
  assert.equal(rounds.length, 1);
});
