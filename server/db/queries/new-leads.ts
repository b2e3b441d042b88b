// Found by receipts, whose IDs sort by time: so leads need no index by time.
import { sql, type Selectable } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import type { Span } from '#server/db/queries/report-figures.ts';
import type { Schema } from '#server/db/all-tables.ts';
import type { LeadAnswers } from '#shared/lead.ts';

export type NewLead = Pick<
  Selectable<Schema['leads']>,
  keyof LeadAnswers | 'email' | 'attribution' | 'flags' | 'first_verified_at'
>;

const SHOWN = [
  'l.name',
  'l.company',
  'l.answers',
  'l.email',
  'l.attribution',
  'l.flags',
  'l.first_verified_at',
] as const satisfies readonly `l.${keyof NewLead}`[];

/** A lead's first receipt was written when it became one. */
const inSpan = (db: Db, { from, to }: Span) =>
  db
    .selectFrom('consent_receipts as r')
    .innerJoin('leads as l', 'l.id', 'r.lead_id')
    .where('r.id', '>=', lowestIdAt(from))
    .where('r.id', '<', lowestIdAt(to))
    .where(sql<boolean>`r.verified_at = l.first_verified_at`)
    .where(
      sql<boolean>`not exists (
        select 1 from consent_receipts e where e.lead_id = r.lead_id and e.verified_at = r.verified_at and e.id < r.id
      )`,
    );

export const findNewLead = (db: Db, id: string): Promise<NewLead | undefined> =>
  db.selectFrom('leads as l').select(SHOWN).where('l.id', '=', id).executeTakeFirst();

export const newLeadsOf = (db: Db, span: Span, most: number): Promise<NewLead[]> =>
  inSpan(db, span).select(SHOWN).orderBy('r.id').limit(most).execute();

export async function countNewLeads(db: Db, span: Span): Promise<number> {
  const { count } = await inSpan(db, span)
    .select((eb) => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function hasMoreNewLeads(db: Db, span: Span, most: number): Promise<boolean> {
  const rows = await inSpan(db, span)
    .select('r.id')
    .limit(most + 1)
    .execute();
  return rows.length > most;
}
