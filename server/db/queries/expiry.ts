// Deletes a few rows per transaction. Verified submissions stay with their leads and receipts.
import { sql, type RawBuilder } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import { deleteOverSessions } from '#server/db/tables/desk-sessions.ts';
import { deleteFunnelCounts } from '#server/db/tables/funnel-counts.ts';
import { deleteVariantCounts } from '#server/db/tables/variant-counts.ts';
import { deleteEndedWindows } from '#server/db/tables/limit-windows.ts';
import { domainOf } from '#server/platform/text.ts';
import { DAY_MS } from '#server/platform/time.ts';

/** Older rows expire. Milliseconds since 1970; null: keep. */
export type Cutoffs = {
  readonly unverified: number | null;
  readonly mail: number | null;
  /** By their end; also the present, for daily checks. */
  readonly windows: number;
  readonly funnel: number;
};

export type ExpiryProgress = {
  readonly domains: DomainProgress;
};

type DomainProgress = {
  lookedAt: number;
  /** Domains without an address so far; null between two searches. */
  unused: Set<string> | null;
  /** Remaining tables, and the last ID seen in the first of them. */
  tables: readonly (typeof TABLES_WITH_DOMAINS)[number][];
  after: string;
};

const TABLES_WITH_DOMAINS = ['leads', 'codes', 'imported_leads'] as const;

export const newExpiryProgress = (): ExpiryProgress => ({
  domains: { lookedAt: 0, unused: null, tables: [], after: '' },
});

export type ExpiringTable =
  | 'outbox'
  | 'webhook_events'
  | 'codes'
  | 'submissions'
  | 'suppressions'
  | 'limit_windows'
  | 'mail_domains'
  | 'funnel_counts'
  | 'variant_counts'
  | 'desk_sign_ins'
  | 'desk_sessions'
  | 'desk_log';

export type Expired = Partial<Record<ExpiringTable, number>>;

type Outcome = { readonly deleted: Expired; readonly done: boolean };

/** At most `limit` rows of one kind, with their dependents. `done`: none are left. */
export type ExpiryStep = (tx: Db, limit: number) => Promise<Outcome>;

/** Rows that refer to others come first. */
export function expirySteps(
  { unverified, mail, windows, funnel }: Cutoffs,
  progress: ExpiryProgress,
): readonly ExpiryStep[] {
  return [
    simpleStep('limit_windows', (tx, most) => deleteEndedWindows(tx, { most, now: windows })),
    simpleStep('funnel_counts', (tx, most) =>
      deleteFunnelCounts(tx, { before: Math.floor(funnel / DAY_MS), most }),
    ),
    simpleStep('variant_counts', (tx, most) =>
      deleteVariantCounts(tx, { before: Math.floor(funnel / DAY_MS), most }),
    ),
    simpleStep('desk_sign_ins', (tx, most) =>
      deleteByIds(
        tx,
        'desk_sign_ins',
        sql`select id from desk_sign_ins where expires_at <= ${windows} limit ${most}`,
      ),
    ),
    simpleStep('desk_sessions', (tx, most) => deleteOverSessions(tx, { most, now: windows })),
    ...(mail === null ? [] : [messagesStep('outbox', mail), messagesStep('webhook_events', mail)]),
    ...(unverified === null
      ? []
      : [
          codesStep(unverified),
          unverifiedStep(unverified),
          // After the rows that keep an address in use.
          suppressionsStep(unverified),
          recordStep(unverified),
        ]),
    domainsStep(windows, progress.domains),
  ];
}

/** @returns null if another process is taking a step */
export async function takeStep(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  step: ExpiryStep,
  limit: number,
): Promise<Outcome | null> {
  return db.transaction().execute(async (tx) => {
    if (engine === 'postgres') {
      const { rows } = await sql<{ ours: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended('housekeeping', 0)) as ours
      `.execute(tx);
      if (rows[0]?.ours !== true) return null;
    }
    return step(tx, limit);
  });
}

const simpleStep =
  (table: ExpiringTable, deleteSome: (tx: Db, limit: number) => Promise<number>): ExpiryStep =>
  async (tx, limit) => {
    const deleted = await deleteSome(tx, limit);
    return { deleted: { [table]: deleted }, done: deleted < limit };
  };

async function deleteByIds(
  tx: Db,
  table: 'outbox' | 'webhook_events' | 'codes' | 'submissions' | 'desk_sign_ins' | 'desk_log',
  ids: RawBuilder<unknown>,
): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom(table)
    .where(sql<boolean>`id in (${ids})`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** IDs begin with their time, so the oldest rows come first in the primary key. */
const oldestIds = (table: 'outbox' | 'webhook_events' | 'codes' | 'desk_log', until: number, limit: number) =>
  sql`select id from ${sql.table(table)} where id < ${lowestIdAt(until)} order by id limit ${limit}`;

const messagesStep = (table: 'outbox' | 'webhook_events', until: number): ExpiryStep =>
  simpleStep(table, (tx, limit) => deleteByIds(tx, table, oldestIds(table, until, limit)));

const recordStep = (until: number): ExpiryStep =>
  simpleStep('desk_log', (tx, limit) => deleteByIds(tx, 'desk_log', oldestIds('desk_log', until, limit)));

const codesStep = (until: number): ExpiryStep =>
  simpleStep('codes', async (tx, limit) => {
    const oldest = oldestIds('codes', until, limit);
    // Mail goes with its code, even if MAIL_RETENTION_DAYS would keep it.
    await tx
      .deleteFrom('outbox')
      .where(sql<boolean>`code_id in (${oldest})`)
      .execute();
    return deleteByIds(tx, 'codes', oldest);
  });

const unverifiedStep = (until: number): ExpiryStep =>
  simpleStep('submissions', (tx, limit) =>
    deleteByIds(
      tx,
      'submissions',
      sql`
        select s.id from submissions s where s.verified_at is null and s.expires_at < ${until}
        and not exists (select 1 from codes where submission_id = s.id)
        order by s.expires_at, s.id limit ${limit}`,
    ),
  );

/**
 * Anyone can type a dead address: its pseudonym is enough to suppress mail once no other data remains. The operator's notes stay,
 * and an unsubscribed address is a lead's.
 */
function suppressionsStep(until: number): ExpiryStep {
  let after = '';
  return async (tx, limit) => {
    const page = await tx
      .selectFrom('suppressions')
      .select('address_key')
      .where('address_key', '>', after)
      .orderBy('address_key')
      .limit(limit)
      .execute();
    const last = page.at(-1)?.address_key;
    if (last === undefined) return { deleted: {}, done: true };
    const { numUpdatedRows } = await tx
      .updateTable('suppressions as s')
      .set({ email: null, note: null })
      .where('address_key', '>', after)
      .where('address_key', '<=', last)
      .where('reason', 'in', ['bounced', 'complained'])
      .where('created_at', '<', until)
      .where('email', 'is not', null)
      .where(
        sql<boolean>`not exists (select 1 from leads where email = s.email)
          and not exists (select 1 from imported_leads where email = s.email)
          and not exists (select 1 from submissions where email = s.email)`,
      )
      .executeTakeFirstOrThrow();
    after = last;
    return { deleted: { suppressions: Number(numUpdatedRows) }, done: page.length < limit };
  };
}

/** Searched per transaction, for each row that may be deleted. */
const ADDRESSES_PER_ROW = 10;

/**
 * Once a day, because without an index by domain it reads every address, a few thousand per transaction. A domain that comes into
 * use meanwhile is looked up again.
 */
const domainsStep =
  (now: number, progress: DomainProgress): ExpiryStep =>
  async (tx, limit) => {
    if (progress.unused === null) {
      if (now - progress.lookedAt < DAY_MS) return { deleted: {}, done: true };
      const rows = await tx.selectFrom('mail_domains').select('domain').execute();
      progress.unused = new Set(rows.map(({ domain }) => domain));
      progress.tables = TABLES_WITH_DOMAINS;
      progress.after = '';
    }
    if (progress.tables.length > 0 && progress.unused.size > 0) {
      await searchAddresses(tx, progress, progress.unused, limit * ADDRESSES_PER_ROW);
      return { deleted: {}, done: false };
    }
    const domains = [...progress.unused].slice(0, limit);
    for (const domain of domains) progress.unused.delete(domain);
    const done = progress.unused.size === 0;
    if (done) {
      progress.unused = null;
      progress.lookedAt = now;
    }
    if (domains.length === 0) return { deleted: {}, done };
    const { numDeletedRows } = await tx
      .deleteFrom('mail_domains')
      .where('domain', 'in', domains)
      .executeTakeFirstOrThrow();
    return { deleted: { mail_domains: Number(numDeletedRows) }, done };
  };

async function searchAddresses(
  tx: Db,
  progress: DomainProgress,
  unused: Set<string>,
  limit: number,
): Promise<void> {
  const [table] = progress.tables;
  if (table === undefined) return;
  const page = await tx
    .selectFrom(table)
    .select(['id', 'email'])
    .where('id', '>', progress.after)
    .orderBy('id')
    .limit(limit)
    .execute();
  for (const { email } of page) unused.delete(domainOf(email));
  progress.after = page.at(-1)?.id ?? '';
  if (page.length === 0) progress.tables = progress.tables.slice(1);
}
