// What waits in the outbox, since when, whether it still moves, and what was refused. Changes nothing.
import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { isAboutAddress } from '#server/platform/mail-server-answers.ts';
import { isQueued } from '#server/db/tables/outbox.ts';

// Written out, not bound: the partial indexes are found by them.
const isSent = sql<boolean>`state = 'sent'`;
const isRefused = sql<boolean>`state = 'failed'`;

/** The error class of mail that waits for a newer release, which knows its kind: it says nothing about the mail server. */
export const UNKNOWN_KIND = 'unknown kind';

/** The error class of mail that the mail server refused because of us, with a 5xx. It is tried again. */
export const REFUSES_US = 'refuses us';
const PUT_OFF: readonly (string | null)[] = ['4xx', 'cut off', REFUSES_US];

/** How much mail waits, and since when the oldest of it does; undefined when none waits. */
export async function outboxBacklog(db: Db): Promise<{ depth: number; oldestCreatedAt: number | undefined }> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => [eb.fn.countAll().as('depth'), eb.fn.min('created_at').as('oldest')])
    .where('state', '=', 'queued')
    .executeTakeFirstOrThrow();
  return { depth: Number(row.depth), oldestCreatedAt: row.oldest ?? undefined };
}

/** The mail of one network to one recipient domain that waits. Both are '' for a notice. */
export type WaitingMail = {
  readonly network: string;
  readonly domain: string;
  readonly count: number;
  readonly oldestCreatedAt: number;
  /** Since when the first of it waits for which no delivery was tried yet; null when there is none. */
  readonly untriedSince: number | null;
  /** How many the mail server put off with a 4xx, because of us, or by dropping the line. */
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
      sql<number>`sum(case when error_class in (${sql.join(PUT_OFF)}) then 1 else 0 end)`.as('put_off'),
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

/** Mail servers that put off, or fall silent at, one recipient or message say something about that one; this number of mails ... */
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
    .where((eb) => eb.or([eb('error_class', 'is', null), eb('error_class', '<>', UNKNOWN_KIND)]))
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
    const isPutOff = PUT_OFF.includes(row.error_class);
    const isStalled = row.error_class === 'stalled';
    const network = row.network ?? '';
    // Mail for the operator and guides have no network. Nobody waits for them, so a mailbox or a filter that holds them up says nothing
    // about codes.
    if (network === '' && (isPutOff || isStalled)) continue;
    mails += count;
    if (isPutOff) putOff.set(network, (putOff.get(network) ?? 0) + count);
    else {
      // Untried mail may only wait for silence at another domain to end; silence at a domain is about that domain.
      if (isStalled) domains.add(row.recipient_domain ?? '');
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

const REFUSED_WITHIN_MS = 3_600_000;

/**
 * Whether the mail server refuses everybody: within an hour, mail of three networks to three domains, and none was sent. Does not count
 * replies about the address alone.
 */
export async function refusesEverybody(db: Db, now: number): Promise<boolean> {
  const since = now - REFUSED_WITHIN_MS;
  if ((await newestDeliveries(db, { since, most: 1 })).length > 0) return false;
  const columns = ['network', 'recipient_domain', 'reply'] as const;
  const [refused, waiting] = await Promise.all(
    [
      db.selectFrom('outbox').select(columns).distinct().where(isRefused).where('finished_at', '>=', since),
      db
        .selectFrom('outbox')
        .select(columns)
        .distinct()
        .where(isQueued)
        .where('error_class', '=', REFUSES_US),
    ].map((query) => query.where('network', 'is not', null).limit(GROUPS_LOOKED_AT).execute()),
  );
  const mails = [...(refused ?? []), ...(waiting ?? [])].filter(({ reply }) => !isAboutAddress(reply ?? ''));
  return [mails.map(({ network }) => network), mails.map(({ recipient_domain: domain }) => domain)].every(
    (lanes) => new Set(lanes).size >= NETWORKS_THAT_MATTER,
  );
}

/** Whether a message of a kind waits, or is being sent. @param message payload: as it was queued */
export async function isWaiting(
  db: Db,
  { kind, payload }: { readonly kind: string; readonly payload: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  const row = await db
    .selectFrom('outbox')
    .select('id')
    .where(isQueued)
    .where('kind', '=', kind)
    .where('payload', '=', JSON.stringify(payload))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** How much mail was refused for good since then. */
export async function countRefusals(db: Db, since: number): Promise<number> {
  const row = await db
    .selectFrom('outbox')
    .select((eb) => eb.fn.countAll().as('count'))
    .where(isRefused)
    .where('finished_at', '>=', since)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Mail to one recipient domain that was refused for good with the same words. */
export type RefusedMail = {
  /** '' for a notice. */
  readonly domain: string;
  /** The mail server's; '' when it said nothing. */
  readonly reply: string;
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly lastAt: number;
};

/** Mail that was refused for good since then, by domain and words, the newest first. @param most groups to return */
export async function refusedMail(
  db: Db,
  { since, most }: { readonly since: number; readonly most: number },
): Promise<readonly RefusedMail[]> {
  const lastAt = sql<number>`max(finished_at)`;
  const rows = await db
    .selectFrom('outbox')
    .select(['recipient_domain', 'reply', sql<number>`count(*)`.as('count'), lastAt.as('last_at')])
    .where(isRefused)
    .where('finished_at', '>=', since)
    .groupBy(['recipient_domain', 'reply'])
    .orderBy(lastAt, 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => ({
    domain: row.recipient_domain ?? '',
    reply: row.reply ?? '',
    count: row.count,
    lastAt: row.last_at,
  }));
}
