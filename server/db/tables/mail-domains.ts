import type { Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';

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
