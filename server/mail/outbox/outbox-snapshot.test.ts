// The pace at which mail is sent, as one look at the outbox shows it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { v7 as uuid } from 'uuid';

import type { Db } from '#server/db/engine/connect.ts';
import { takeOutboxSnapshot } from '#server/mail/outbox/outbox-snapshot.ts';
import { ENGINES, withDatabase } from '#testing/databases.ts';

type Past = {
  /** Mail that has waited for some seconds, each from another network. */
  readonly waiting: { readonly count: number; readonly seconds: number; readonly attempts?: number };
  /** Mail that was sent evenly over the last seconds. */
  readonly sent: { readonly count: number; readonly seconds: number };
};

/** The pace for a mail that all those have before it. */
async function paceAfter(db: Db, { waiting, sent }: Past): Promise<number> {
  const now = Date.UTC(2026, 10, 20, 12);
  const row = (network: string, queuedAt: number) => ({
    id: uuid({ msecs: queuedAt }),
    kind: 'code',
    payload: '{}',
    recipient: 'past@past.example',
    recipient_domain: 'past.example',
    network,
    created_at: queuedAt,
    turn_at: queuedAt,
    due_at: now + 3_600_000,
  });
  await db
    .insertInto('outbox')
    .values([
      ...Array.from({ length: waiting.count }, (_, index) => ({
        ...row(`198.51.100.${index}`, now - waiting.seconds * 1000),
        attempts: waiting.attempts ?? 0,
        state: 'queued' as const,
        finished_at: null,
      })),
      ...Array.from({ length: sent.count }, (_, index) => ({
        ...row('192.0.2.250', now - sent.seconds * 1000),
        attempts: 1,
        state: 'sent' as const,
        finished_at: Math.round(now - (sent.seconds * 1000 * index) / sent.count),
      })),
    ])
    .execute();
  const { pacePerSecond } = await takeOutboxSnapshot(db, { now, codeTtlSeconds: 60, mostWaitMs: 15_000 });
  return Math.round(pacePerSecond(waiting.count));
}

const CASES: readonly (readonly [title: string, past: Past, pace: number])[] = [
  [
    'is that of the deliveries while mail waits, slow or fast',
    { waiting: { count: 20, seconds: 20 }, sent: { count: 40, seconds: 20 } },
    2,
  ],
  [
    'is that of the newest deliveries, not of the outage before them',
    { waiting: { count: 20, seconds: 40 }, sent: { count: 45, seconds: 5 } },
    9,
  ],
  [
    'counts mail that waits for another try, if there is a lot of it',
    { waiting: { count: 60, seconds: 20, attempts: 1 }, sent: { count: 40, seconds: 20 } },
    2,
  ],
  [
    'is assumed while a few mails wait for another try',
    { waiting: { count: 20, seconds: 20, attempts: 1 }, sent: { count: 40, seconds: 20 } },
    5,
  ],
  [
    'is assumed while a few deliveries go out beside a mail server that is silent',
    { waiting: { count: 20, seconds: 10 }, sent: { count: 2, seconds: 10 } },
    5,
  ],
  [
    'is assumed to be that of the last codes, if those were many',
    { waiting: { count: 20, seconds: 0 }, sent: { count: 600, seconds: 60 } },
    10,
  ],
];

for (const engine of ENGINES) {
  describe(`the pace of the outbox on ${engine}`, () => {
    for (const [title, past, pace] of CASES)
      it(title, () => withDatabase(engine, async ({ db }) => assert.equal(await paceAfter(db, past), pace)));
  });
}
