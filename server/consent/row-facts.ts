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

const SEALED_FIELDS = {
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

type RowKind = keyof typeof SEALED_FIELDS;
export type RowFacts = { readonly [Kind in RowKind]: Pick<Facts, (typeof SEALED_FIELDS)[Kind][number]> };

/**
 * Reads in one statement, so an erasure happens before or after it.
 * @param order a column of the keys
 * @returns facts: null for a missing row; fields of missing referenced rows are null
 */
export async function readRowsInOrder<Key extends { readonly kind: string }>(
  db: Db,
  keys: RawBuilder<Key>,
  order: keyof Key & string,
): Promise<readonly (Key & { readonly facts: RowFacts[RowKind] | null; readonly isComplete: boolean })[]> {
  const { rows } = await sql<Key & Facts & { readonly found: string | null }>`
    select entry.*, coalesce(receipt.id, withdrawal.id, removal.id) as found,
      lead.email, submission.name, submission.company, submission.answers,
      receipt.purpose, receipt.consent_version, shown.text as wording, receipt.verified_from_address, receipt.same_browser,
      withdrawal.way, removal.reasons, removal.note,
      coalesce(receipt.client_address, withdrawal.client_address) as client_address,
      coalesce(receipt.user_agent, withdrawal.user_agent) as user_agent,
      ${timeOf('receipt', 'given_at')}, ${timeOf('receipt', 'verified_at')},
      ${timeOf('withdrawal', 'withdrawn_at')}, ${timeOf('removal', 'removed_at')}
    from (${keys}) entry
    left join consent_receipts receipt on receipt.id = entry.row_id
    left join withdrawals withdrawal on withdrawal.id = entry.row_id
    left join suppression_removals removal on removal.id = entry.row_id
    left join leads lead on lead.id = coalesce(receipt.lead_id, withdrawal.lead_id, removal.lead_id)
    left join submissions submission on submission.id = receipt.submission_id
    left join consent_wordings shown on shown.version = receipt.consent_version
    order by entry.${sql.ref(order)}
  `.execute(db);
  return rows.map((row) => {
    const hasForm = row.kind !== 'consent' || (row.name !== null && row.wording !== null);
    const facts = row.found === null ? null : factsOf(row);
    return Object.assign(row, { facts, isComplete: row.email !== null && hasForm });
  });
}

/** A forged time may be too large for a number, so times are read as text. */
const timeOf = (table: string, column: string) =>
  sql`cast(${sql.ref(`${table}.${column}`)} as text) as ${sql.ref(column)}`;

function factsOf(row: Facts & { readonly kind: string }): RowFacts[RowKind] {
  const fields: readonly (keyof Facts)[] = SEALED_FIELDS[row.kind as RowKind] ?? ['email'];
  const facts = fields.map((field) => {
    const value = row[field];
    return [field, field.endsWith('_at') && value !== null ? isoTime(Number(value)) : value];
  });
  return Object.fromEntries(facts) as RowFacts[RowKind];
}
