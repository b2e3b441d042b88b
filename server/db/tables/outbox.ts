// Mail waiting to be sent. A worker takes a row by leasing it: if its process dies, the lease runs out and another
// one takes the row up again. Delivery is at least once.
//
// A network that sends much queues up behind itself: each mail has a turn, and the turns of one network, or to one recipient domain, lie
// apart. Turns only order: whenever a connection is free, the next mail goes, even before its turn.
import { sql, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { columnsOf } from '#server/db/personal-columns.ts';
import type { OutboxState, Schema } from '#server/db/schema.ts';
import { statement, valuesOf, type Value } from '#server/db/engine/statement.ts';
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
const isQueued = sql<boolean>`state = 'queued'`;
const isUntried = sql<boolean>`attempts = 0`;
const isSent = sql<boolean>`state = 'sent'`;

const untriedByTurn = (db: Db) =>
  db
    .selectFrom('outbox')
    .select('turn_at')
    .where(isQueued)
    .where(isUntried)
    .orderBy('turn_at', 'desc')
    .limit(1);
const lastTurnOfNetwork = statement((db, value: Value<{ readonly network: string }>) =>
  untriedByTurn(db).where('network', '=', value('network')),
);
const lastTurnOfDomain = statement((db, value: Value<{ readonly domain: string }>) =>
  untriedByTurn(db).where('recipient_domain', '=', value('domain')),
);

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
  const lastTurn = ({ rows }: { rows: readonly { readonly turn_at: number }[] }) =>
    rows[0]?.turn_at ?? Number.NEGATIVE_INFINITY;
  const ownTurn = lastTurn(await lastTurnOfNetwork(db, { network })) + NETWORK_STEP_MS;
  const domainTurn = lastTurn(await lastTurnOfDomain(db, { domain })) + DOMAIN_STEP_MS;
  return {
    ...lane,
    turnAt: Math.min(Math.max(now, ownTurn, domainTurn), now + mostBehindMs),
  };
}

const insertOne = statement((db, value: Value<OutboxRow>) =>
  db
    .insertInto('outbox')
    .values(
      valuesOf(value, [
        'id',
        'kind',
        'payload',
        'code_id',
        'recipient',
        'network',
        'recipient_domain',
        'attempts',
        'due_at',
        'turn_at',
        'leased_until',
        'lease_id',
        'created_at',
      ]),
    ),
);

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
  await insertOne(tx, row);
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
    notice: null,
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

/** How much mail waits, and since when the oldest of it does; undefined when none waits. */
export async function outboxBacklog(db: Db): Promise<{ depth: number; oldestCreatedAt: number | undefined }> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll().as('depth'), eb.fn.min('created_at').as('oldest')])
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  return { depth: Number(row.depth), oldestCreatedAt: row.oldest ?? undefined };
}

const ofCode = statement((db, value: Value<{ readonly codeId: string }>) =>
  db
    .selectFrom('outbox')
    .select(['state', 'created_at', 'finished_at', 'error_class'])
    .where('code_id', '=', value('codeId')),
);

/** The state of the mail that carries a code; undefined when its row is gone. */
export async function findMailOfCode(
  db: Db,
  codeId: string,
): Promise<Pick<OutboxRow, 'state' | 'created_at' | 'finished_at' | 'error_class'> | undefined> {
  const { rows } = await ofCode(db, { codeId });
  return rows[0];
}

/** The mail of one network to one recipient domain that waits. Both are '' for a notice. */
export type WaitingMail = {
  readonly network: string;
  readonly domain: string;
  readonly count: number;
  readonly oldestCreatedAt: number;
  /** Since when the first of it waits for which no delivery was tried yet; null when there is none. */
  readonly untriedSince: number | null;
  /** How many the mail server put off with a 4xx. */
  readonly putOff: number;
  /** At how many it fell silent. */
  readonly stalled: number;
};

/** All mail that waits, by network and recipient domain. */
export async function waitingMail(db: Db): Promise<WaitingMail[]> {
  const rows = await db
    .selectFrom('outbox')
    .select([
      'network',
      'recipient_domain',
      sql<number>`count(*)`.as('count'),
      sql<number>`min(created_at)`.as('oldest'),
      sql<number | null>`min(case when attempts = 0 then created_at end)`.as('untried'),
      sql<number>`sum(case when error_class = '4xx' then 1 else 0 end)`.as('put_off'),
      sql<number>`sum(case when error_class = 'stalled' then 1 else 0 end)`.as('stalled'),
    ])
    .where(isQueued)
    .groupBy(['network', 'recipient_domain'])
    .execute();
  return rows.map((row) => ({
    network: row.network ?? '',
    domain: row.recipient_domain ?? '',
    count: row.count,
    oldestCreatedAt: row.oldest,
    untriedSince: row.untried,
    putOff: row.put_off,
    stalled: row.stalled,
  }));
}

/** When the newest mails were sent, newest first: after `since`, and at most `most` of them. */
export async function newestDeliveries(
  db: Db,
  { since, most }: { since: number; most: number },
): Promise<number[]> {
  const rows = await db
    .selectFrom('outbox')
    .select('finished_at')
    .where(isSent)
    .where('finished_at', '>', since)
    .orderBy('finished_at', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => row.finished_at ?? since);
}

/** How many mails were sent after `since`. */
export async function countDeliveries(db: Db, since: number): Promise<number> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => eb.fn.countAll().as('count'))
    .where(isSent)
    .where('finished_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Mail servers that put off, or fall silent at, one recipient say something about that one; this number of mails ... */
const TROUBLES_THAT_MATTER = 5;
/** ... from this number of networks says something about us. */
const NETWORKS_THAT_MATTER = 3;
const GROUPS_LOOKED_AT = 1_000;

/** Mail has waited for a time, and none went out meanwhile. For whom is that so? */
export type Standstill = {
  /** Mail as such no longer goes out: more than a stranger with a few domains can cause. */
  readonly forEverybody: boolean;
  readonly networks: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
};

/**
 * Whether mail stands still: some has waited for `forMs`, and none was sent meanwhile.
 * @returns for whom, or null when it moves
 */
export async function findStandstill(
  db: Db,
  { now, forMs }: { now: number; forMs: number },
): Promise<Standstill | null> {
  const old = await db
    .selectFrom('outbox')
    .select(['network', 'recipient_domain', 'error_class', sql<number>`count(*)`.as('count')])
    .where(isQueued)
    .where('created_at', '<=', now - forMs)
    .groupBy(['network', 'recipient_domain', 'error_class'])
    .limit(GROUPS_LOOKED_AT)
    .execute();
  if (old.length === 0) return null;
  if ((await newestDeliveries(db, { since: now - forMs, most: 1 })).length > 0) return null;

  const networks = new Set<string>();
  const domains = new Set<string>();
  const putOff = new Map<string, number>();
  let mails = 0;
  let serverIsAway = false;
  for (const row of old) {
    const { count } = row;
    const isPutOff = row.error_class === '4xx' || row.error_class === 'stalled';
    // What no visitor waits for goes to the operator, or follows a code: a mailbox of theirs that puts it off is no network.
    if (row.network === null && isPutOff) continue;
    const network = row.network ?? '';
    mails += count;
    if (row.error_class === '4xx') putOff.set(network, (putOff.get(network) ?? 0) + count);
    else {
      // Untried mail may only wait for silence at another domain to end; silence at a domain is about that domain.
      if (row.error_class === 'stalled') domains.add(row.recipient_domain ?? '');
      else if (row.error_class !== null) serverIsAway = true;
      networks.add(network);
    }
  }
  const all = new Set([...networks, ...putOff.keys()]);
  for (const [network, count] of putOff) if (count >= TROUBLES_THAT_MATTER) networks.add(network);
  return {
    forEverybody: serverIsAway || (mails >= TROUBLES_THAT_MATTER && all.size >= NETWORKS_THAT_MATTER),
    networks,
    domains,
  };
}

/** Networks and recipient domains that may hold no more connections for now. */
export type FullLanes = { readonly networks: readonly string[]; readonly domains: readonly string[] };

type MailLease = {
  readonly leaseId: string;
  readonly leasedUntil: number;
  readonly now: number;
  readonly most: number;
  /** JSON: one parameter, however long the list, so that the statement stays the same. */
  readonly networks: string;
  readonly domains: string;
};

const lease = (db: Db, value: Value<MailLease>, engine: OpenDatabase['engine']) => {
  const isAmong = (column: 'network' | 'recipient_domain', list: string) =>
    engine === 'postgres'
      ? sql<boolean>`${sql.ref(column)} in (select jsonb_array_elements_text(${list}::jsonb))`
      : sql<boolean>`${sql.ref(column)} in (select value from json_each(${list}))`;
  const now = value('now');
  return db
    .with('due', (cte) => {
      const due = cte
        .selectFrom('outbox')
        .select('id')
        .where(isQueued)
        // In an outage everything waits for its next try: then this alone is looked up, and it is one step.
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('outbox as any_due')
              .select('any_due.id')
              .where(sql<boolean>`any_due.state = 'queued'`)
              .where('any_due.due_at', '<=', now)
              .where((or) =>
                or.or([or('any_due.leased_until', 'is', null), or('any_due.leased_until', '<=', now)]),
              ),
          ),
        )
        // All rows, read in the order of turns up to the first that is due: this condition, and the "+ 0" that keeps the next
        // one from being looked up, have both engines do so.
        .where('turn_at', '>=', 0)
        .where(sql<boolean>`due_at + 0 <= ${now}`)
        .where((eb) => eb.or([eb('leased_until', 'is', null), eb('leased_until', '<=', now)]))
        .where((eb) => eb.or([eb('network', 'is', null), eb.not(isAmong('network', value('networks')))]))
        .where((eb) =>
          eb.or([eb('recipient_domain', 'is', null), eb.not(isAmong('recipient_domain', value('domains')))]),
        )
        .orderBy('turn_at')
        .orderBy('id')
        .limit(value('most'));
      return engine === 'postgres' ? due.forUpdate().skipLocked() : due;
    })
    .updateTable('outbox')
    .set((eb) => ({
      leased_until: value('leasedUntil'),
      lease_id: value('leaseId'),
      attempts: eb('attempts', '+', 1),
    }))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returning(columnsOf('outbox'));
};

const leaseOn = {
  sqlite: statement((db, value: Value<MailLease>) => lease(db, value, 'sqlite')),
  postgres: statement((db, value: Value<MailLease>) => lease(db, value, 'postgres')),
};

/**
 * Leases due mail, in the order of turns. A row counts as due again once its lease has run out.
 * @param most how many rows to take
 * @param leaseMs how long no other worker may take them
 * @param full whose mail to leave
 */
export async function leaseDueMail(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  {
    leaseId,
    most,
    leaseMs,
    now,
    full = { networks: [], domains: [] },
  }: { leaseId: string; most: number; leaseMs: number; now: number; full?: FullLanes },
): Promise<OutboxRow[]> {
  const { rows } = await leaseOn[engine](db, {
    leaseId,
    leasedUntil: now + leaseMs,
    now,
    most,
    networks: JSON.stringify(full.networks),
    domains: JSON.stringify(full.domains),
  });
  return rows;
}

/** Longer than the worker ever waits before it tries again, and than a lease lasts. */
const FARTHEST_DUE_MS = 120_000;

/**
 * Makes mail due that a clock which has been set back since put off far into the future. To be called when a worker starts,
 * and when it sees the clock go back.
 * @param leaseId of the worker, which will finish by itself what it has in hand
 */
export async function dropFutureTimes(
  db: Db,
  { leaseId, now }: { leaseId: string; now: number },
): Promise<void> {
  const farthest = now + FARTHEST_DUE_MS;
  await db
    .updateTable('outbox')
    .set({ due_at: now, leased_until: null, lease_id: null })
    .where('state', '=', 'queued')
    .where((eb) => eb.or([eb('due_at', '>', farthest), eb('leased_until', '>', farthest)]))
    .where((eb) => eb.or([eb('lease_id', 'is', null), eb('lease_id', '!=', leaseId)]))
    .execute();
}
const REPLY_MAX_LENGTH = 500;

/** Cleans a mail server's reply, so that PostgreSQL can store it and an operator can read it. */
export const keptReply = (reply: string): string =>
  reply
    // No more than can matter, before anything looks at every character.
    .slice(0, 4 * REPLY_MAX_LENGTH)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, REPLY_MAX_LENGTH)
    .toWellFormed();

type Finish = {
  readonly id: string;
  readonly leaseId: string;
  readonly state: Exclude<OutboxState, 'queued'>;
  readonly reply: string;
  readonly now: number;
};

const finish = statement((db, value: Value<Finish>) =>
  db
    .updateTable('outbox')
    .set({
      state: value('state'),
      reply: value('reply'),
      finished_at: value('now'),
      leased_until: null,
      lease_id: null,
    })
    .where('id', '=', value('id'))
    .where('lease_id', '=', value('leaseId')),
);

/**
 * Ends a mail's way: sent, dropped or failed for good. Only the holder of the lease may.
 * @returns false when another worker had the lease by then, or the mail was erased
 */
export async function finishMail(db: Db, mail: Finish): Promise<boolean> {
  const { numAffectedRows } = await finish(db, { ...mail, reply: keptReply(mail.reply) });
  return Number(numAffectedRows ?? 0) > 0;
}

/** Gives a mail back that was leased and not tried. Only the holder of the lease may. */
export async function giveMailBack(db: Db, mail: { id: string; leaseId: string }): Promise<void> {
  await db
    .updateTable('outbox')
    .set((eb) => ({ leased_until: null, lease_id: null, attempts: eb('attempts', '-', 1) }))
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}

/** Gives a mail back, to be tried again at `dueAt`. Only the holder of the lease may. */
export async function releaseMail(
  db: Db,
  mail: Pick<OutboxRow, 'id' | 'turn_at'> & {
    leaseId: string;
    dueAt: number;
    reply: string;
    errorClass: string;
  },
): Promise<void> {
  await db
    .updateTable('outbox')
    .set({
      due_at: mail.dueAt,
      turn_at: Math.max(mail.turn_at, mail.dueAt),
      leased_until: null,
      lease_id: null,
      reply: keptReply(mail.reply),
      error_class: mail.errorClass,
    })
    .where('id', '=', mail.id)
    .where('lease_id', '=', mail.leaseId)
    .execute();
}
