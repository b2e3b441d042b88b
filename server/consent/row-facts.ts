// Reads the sealed facts about a consent, a withdrawal or a removed suppression from the rows themselves.
import { type RawBuilder, type Selectable, sql } from 'kysely';

import type { Schema } from '#server/db/all-tables.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { isoTime } from '#server/platform/time.ts';

/** Times are ISO 8601 in UTC; null means unknown. */
type Facts = Pick<
  Selectable<Schema['consent_receipts']>,
  'purpose' | 'consent_version' | 'client_address' | 'verified_from_address' | 'user_agent' | 'same_browser'
> &
  Pick<Selectable<Schema['submissions']>, 'email' | 'name' | 'company' | 'answers'> &
  Pick<Selectable<Schema['withdrawals']>, 'way'> &
  Pick<Selectable<Schema['suppression_removals']>, 'reasons' | 'note'> & {
    readonly wording: string;
    readonly given_at: string;
    readonly verified_at: string;
    readonly withdrawn_at: string;
    readonly removed_at: string;
  };

const SEALED = {
  consent: [
    'email',
    'name',
    'company',
    'answers',
    'purpose',
    'consent_version',
    'wording',
    'given_at',
    'client_address',
    'user_agent',
    'verified_at',
    'verified_from_address',
    'same_browser',
  ],
  withdrawal: ['email', 'way', 'withdrawn_at', 'client_address', 'user_agent'],
  removal: ['email', 'reasons', 'note', 'removed_at'],
} as const satisfies Readonly<Record<string, readonly (keyof Facts)[]>>;

type RowKind = keyof typeof SEALED;
export type RowFacts = { readonly [Kind in RowKind]: Pick<Facts, (typeof SEALED)[Kind][number]> };

/**
 * One statement, so an erasure happens before or after it.
 * @returns facts: null for a missing row; fields of missing referenced rows are null
 */
export async function readRows<Key extends { readonly kind: string }>(
  db: Db,
  keys: RawBuilder<Key>,
  order: keyof Key & string,
): Promise<readonly (Key & { readonly facts: RowFacts[RowKind] | null; readonly isComplete: boolean })[]> {
  const { rows } = await sql<Key & Facts & { readonly found: string | null }>`
    select k.*, coalesce(r.id, t.id, x.id) as found, l.email, s.name, s.company, s.answers, r.purpose, r.consent_version, w.text as wording,
      r.verified_from_address, r.same_browser, t.way, x.reasons, x.note,
      coalesce(r.client_address, t.client_address) as client_address, coalesce(r.user_agent, t.user_agent) as user_agent,
      ${timeOf('r.given_at')}, ${timeOf('r.verified_at')}, ${timeOf('t.withdrawn_at')}, ${timeOf('x.removed_at')}
    from (${keys}) k
    left join consent_receipts r on r.id = k.row_id
    left join withdrawals t on t.id = k.row_id
    left join suppression_removals x on x.id = k.row_id
    left join leads l on l.id = coalesce(r.lead_id, t.lead_id, x.lead_id)
    left join submissions s on s.id = r.submission_id
    left join consent_wordings w on w.version = r.consent_version
    order by k.${sql.ref(order)}
  `.execute(db);
  return rows.map((row) => {
    const isForm = row.kind !== 'consent' || (row.name !== null && row.wording !== null);
    const facts = row.found === null ? null : factsOf(row);
    return Object.assign(row, { facts, isComplete: row.email !== null && isForm });
  });
}

/** A forged time may be too large for a number, so times are read as text. */
const timeOf = (column: string) => sql`cast(${sql.ref(column)} as text) as ${sql.ref(column.slice(2))}`;

function factsOf(row: Facts & { readonly kind: string }): RowFacts[RowKind] {
  const fields: readonly (keyof Facts)[] = SEALED[row.kind as RowKind] ?? ['email'];
  const facts = fields.map((field) => {
    const value = row[field];
    return [field, field.endsWith('_at') && value !== null ? isoTime(Number(value)) : value];
  });
  return Object.fromEntries(facts) as RowFacts[RowKind];
}
