import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/all-tables.ts';
import { domainOf } from '#server/platform/text.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type MailDomain = Selectable<Schema['mail_domains']>;

const MOST_AT_ONCE = 500;

export async function knownMailDomains(db: Db, domains: readonly string[]): Promise<readonly MailDomain[]> {
  const known: MailDomain[] = [];
  for (let from = 0; from < domains.length; from += MOST_AT_ONCE) {
    const some = domains.slice(from, from + MOST_AT_ONCE);
    known.push(...(await db.selectFrom('mail_domains').selectAll().where('domain', 'in', some).execute()));
  }
  return known;
}

export async function keepMailDomains(db: Db, domains: readonly MailDomain[]): Promise<void> {
  if (domains.length === 0) return;
  await db
    .insertInto('mail_domains')
    .values([...domains])
    .onConflict((conflict) =>
      conflict.column('domain').doUpdateSet((eb) => ({
        platform: eb.ref('excluded.platform'),
        mx_host: eb.ref('excluded.mx_host'),
        looked_up_at: eb.ref('excluded.looked_up_at'),
      })),
    )
    .execute();
}

export type DomainSearch = {
  endedAt: number;
  unused: Set<string> | null;
  tables: readonly (typeof TABLES_WITH_DOMAINS)[number][];
  after: string;
};

const TABLES_WITH_DOMAINS = ['leads', 'codes', 'imported_leads'] as const;

export const newDomainSearch = (): DomainSearch => ({ endedAt: 0, unused: null, tables: [], after: '' });

const ADDRESSES_PER_ROW = 10;

/**
 * Runs once a day: without an index by domain it reads every address, a few thousand per transaction. A domain that comes into
 * use meanwhile is looked up again.
 */
export async function deleteUnusedDomains(
  tx: Db,
  search: DomainSearch,
  { now, most }: { readonly now: number; readonly most: number },
): Promise<{ readonly deleted: number; readonly done: boolean }> {
  if (search.unused === null) {
    if (now - search.endedAt < DAY_MS) return { deleted: 0, done: true };
    const rows = await tx.selectFrom('mail_domains').select('domain').execute();
    Object.assign(search, {
      unused: new Set(rows.map(({ domain }) => domain)),
      tables: TABLES_WITH_DOMAINS,
      after: '',
    });
    return { deleted: 0, done: false };
  }
  const [table] = search.tables;
  if (table !== undefined && search.unused.size > 0) {
    const page = await tx
      .selectFrom(table)
      .select(['id', 'email'])
      .where('id', '>', search.after)
      .orderBy('id')
      .limit(most * ADDRESSES_PER_ROW)
      .execute();
    for (const { email } of page) search.unused.delete(domainOf(email));
    search.after = page.at(-1)?.id ?? '';
    if (page.length === 0) search.tables = search.tables.slice(1);
    return { deleted: 0, done: false };
  }
  const domains = [...search.unused].slice(0, most);
  for (const domain of domains) search.unused.delete(domain);
  const done = search.unused.size === 0;
  if (done) Object.assign(search, { unused: null, endedAt: now });
  if (domains.length === 0) return { deleted: 0, done };
  const { numDeletedRows } = await tx
    .deleteFrom('mail_domains')
    .where('domain', 'in', domains)
    .executeTakeFirstOrThrow();
  return { deleted: Number(numDeletedRows), done };
}
