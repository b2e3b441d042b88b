import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema } from '#server/db/all-tables.ts';
import { domainOf } from '#server/platform/text.ts';

export type MailDomain = Selectable<Schema['mail_domains']>;

const DOMAINS_PER_STATEMENT = 500;

export async function knownMailDomains(db: Db, domains: readonly string[]): Promise<readonly MailDomain[]> {
  const known: MailDomain[] = [];
  for (let from = 0; from < domains.length; from += DOMAINS_PER_STATEMENT) {
    const batch = domains.slice(from, from + DOMAINS_PER_STATEMENT);
    known.push(...(await db.selectFrom('mail_domains').selectAll().where('domain', 'in', batch).execute()));
  }
  return known;
}

export async function keepMailDomains(db: Db, domains: readonly MailDomain[]): Promise<void> {
  if (domains.length === 0) return;
  await db
    .insertInto('mail_domains')
    // Sorted, so two reports cannot deadlock on PostgreSQL.
    .values(domains.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)))
    .onConflict((conflict) =>
      conflict.column('domain').doUpdateSet((eb) => ({
        mx_host: eb.ref('excluded.mx_host'),
        looked_up_at: eb.ref('excluded.looked_up_at'),
      })),
    )
    .execute();
}

const TABLES_WITH_DOMAINS = ['leads', 'codes', 'imported_leads'] as const;
const PAGE_SIZE = 5_000;

/**
 * Reads every e-mail address, because domains aren't indexed. A domain that comes into use meanwhile will be looked up again.
 * @param pause awaited between statements
 */
export async function deleteUnusedDomains(
  db: Db,
  shouldStop: () => boolean,
  pause: () => Promise<void>,
): Promise<number> {
  const rows = await db.selectFrom('mail_domains').select('domain').execute();
  const unused = new Set(rows.map(({ domain }) => domain));
  for (const table of TABLES_WITH_DOMAINS) {
    const readAfter = (after: string) =>
      db
        .selectFrom(table)
        .select(['id', 'email'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE_SIZE)
        .execute();
    for await (const page of pagesAfter('', readAfter, ({ id }) => id)) {
      if (shouldStop() || unused.size === 0) return 0;
      for (const { email } of page) unused.delete(domainOf(email));
      await pause();
    }
  }
  const domains = [...unused];
  for (let from = 0; from < domains.length; from += DOMAINS_PER_STATEMENT) {
    const batch = domains.slice(from, from + DOMAINS_PER_STATEMENT);
    await db.deleteFrom('mail_domains').where('domain', 'in', batch).execute();
    await pause();
  }
  return domains.length;
}
