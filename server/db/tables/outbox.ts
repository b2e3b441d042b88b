// Queues mail. outbox-leases.ts takes it out and ends its way; outbox-waiting.ts counts what waits.
//
// A network that sends much queues up behind itself: each mail has a turn, and the turns of one network, or to one recipient domain, lie
// apart. Turns only order: whenever a connection is free, the next mail goes, even before its turn.
import { sql, type Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { domainOf } from '#server/platform/domain-of.ts';

export type OutboxRow = Selectable<Schema['outbox']>;

/** The network that asked for the mail, as networkOf returns it, and the domain it goes to, in lower case. */
export type Lane = { readonly network: string; readonly domain: string };

/** The lane of a new mail. */
export const laneOf = (network: string, recipient: string): Lane => ({
  network,
  domain: domainOf(recipient).toLowerCase(),
});

/** Whose mail it is, and when its turn comes. */
export type PlaceInQueue = Lane & { readonly turnAt: number };

/** How far a mail's turn moves back for each waiting mail of the same network, so that others go first. Milliseconds. */
const NETWORK_STEP_MS = 1_000;
/** The same for a recipient domain; less, because half of all visitors may be at one. */
const DOMAIN_STEP_MS = 100;

// Written out, not bound: the partial indexes are found by them.
export const isQueued = sql<boolean>`state = 'queued'`;
const isUntried = sql<boolean>`attempts = 0`;

/**
 * The place of a new mail. It is never behind a mail of the same lane that was queued later, and others go before it for a
 * limited time only: no mail starves.
 * @param mostBehindMs how far a turn may lie in the future
 */
export async function findPlaceInQueue(
  db: Db,
  lane: Lane,
  { now, mostBehindMs }: { now: number; mostBehindMs: number },
): Promise<PlaceInQueue> {
  const { network, domain } = lane;
  const lastTurn = async (column: 'network' | 'recipient_domain', value: string): Promise<number> => {
    const row = await db
      .selectFrom('outbox')
      .select('turn_at')
      .where(isQueued)
      .where(isUntried)
      .where(column, '=', value)
      .orderBy('turn_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.turn_at ?? Number.NEGATIVE_INFINITY;
  };
  const ownTurn = (await lastTurn('network', network)) + NETWORK_STEP_MS;
  const domainTurn = (await lastTurn('recipient_domain', domain)) + DOMAIN_STEP_MS;
  return {
    ...lane,
    turnAt: Math.min(Math.max(now, ownTurn, domainTurn), now + mostBehindMs),
  };
}

/** The worker that sends a message as soon as it is committed, and until when it alone may; milliseconds since 1970. */
export type FirstLease = { readonly leaseId: string; readonly leasedUntil: number };

/**
 * Queues a message, in the transaction of its cause. What there is to know about a kind, server/mail/letters/ knows.
 * @param payload what its kind needs to make it: never a code's digits, and nothing personal that is known elsewhere
 * @param codeId the code it carries
 * @param place in the order of sending; without one, its turn is now
 * @param lease of the worker that sends it at once; without one, any free worker takes it
 * @returns the row as it is stored
 */
export async function queueMessage(tx: Db, message: NewMessage): Promise<OutboxRow> {
  const row = rowOf(message);
  await tx.insertInto('outbox').values(row).execute();
  return row;
}

/** {@link queueMessage}, unless there is one with this id: of several processes that queue it, one does. */
export async function queueOnce(db: Db, message: NewMessage): Promise<void> {
  await db
    .insertInto('outbox')
    .values(rowOf(message))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Whether a message was queued that is still known. */
export async function wasQueued(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('outbox').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

type NewMessage = {
  readonly id: string;
  readonly kind: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly codeId?: string;
  readonly recipient: string;
  readonly place?: PlaceInQueue;
  readonly lease?: FirstLease | undefined;
  readonly now: number;
};

function rowOf({
  id,
  kind,
  payload,
  codeId,
  recipient,
  place,
  lease: firstLease,
  now,
}: NewMessage): OutboxRow {
  return {
    id,
    kind,
    payload: JSON.stringify(payload),
    code_id: codeId ?? null,
    recipient,
    state: 'queued',
    attempts: firstLease === undefined ? 0 : 1,
    network: place?.network ?? null,
    recipient_domain: place?.domain ?? null,
    due_at: now,
    turn_at: place?.turnAt ?? now,
    leased_until: firstLease?.leasedUntil ?? null,
    lease_id: firstLease?.leaseId ?? null,
    created_at: now,
    finished_at: null,
    reply: null,
    error_class: null,
  };
}

/** The state of the mail that carries a code; undefined when its row is gone. */
export async function findMailOfCode(
  db: Db,
  codeId: string,
): Promise<Pick<OutboxRow, 'state' | 'created_at' | 'finished_at' | 'error_class'> | undefined> {
  return db
    .selectFrom('outbox')
    .select(['state', 'created_at', 'finished_at', 'error_class'])
    .where('code_id', '=', codeId)
    .executeTakeFirst();
}
