// Indexes that hold the whole order in which rows are asked for, so that "the newest" is one step and nothing is sorted.
import type { Kysely } from 'kysely';

const ORDERS = [
  { index: 'challenges_by_browser', table: 'challenges', column: 'browser_id' },
  { index: 'submissions_by_challenge', table: 'submissions', column: 'challenge_id' },
  { index: 'codes_by_challenge', table: 'codes', column: 'challenge_id' },
  { index: 'codes_by_email', table: 'codes', column: 'email' },
] as const;

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const { index, table, column } of ORDERS) {
    await db.schema.dropIndex(index).execute();
    await db.schema.createIndex(index).on(table).columns([column, 'created_at', 'id']).execute();
  }
}
