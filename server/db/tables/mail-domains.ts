import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema } from '#server/db/all-tables.ts';
import { domainOf } from '#server/platform/text.ts';

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
        mx_host: eb.ref('excluded.mx_host'),
        looked_up_at: eb.ref('excluded.looked_up_at'),
      })),
    )
    .execute();
}

const TABLES_WITH_DOMAINS = ['leads', 'codes', 'imported_leads'] as const;
const ADDRESSES_AT_ONCE = 5_000;

/**
 * Reads every e-mail address, because domains aren't indexed. A domain that comes into use meanwhile will be looked up again.
 * @param rest awaited between statements
 */
export async function deleteUnusedDomains(
  db: Db,
  shouldStop: () => boolean,
  rest: () => Promise<void>,
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
        .limit(ADDRESSES_AT_ONCE)
        .execute();
    for await (const page of pagesAfter('', readAfter, ({ id }) => id)) {
      if (shouldStop() || unused.size === 0) return 0;
      for (const { email } of page) unused.delete(domainOf(email));
      await rest();
    }
  }
  const domains = [...unused];
  for (let from = 0; from < domains.length; from += MOST_AT_ONCE) {
    const some = domains.slice(from, from + MOST_AT_ONCE);
    await db.deleteFrom('mail_domains').where('domain', 'in', some).execute();
    await rest();
  }
  return domains.length;
}
