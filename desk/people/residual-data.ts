import type { Config } from '#server/settings/settings.ts';
import { PLANNER_SAMPLES, rewriteDatabase, type Rewriting } from '#server/db/backup/compact.ts';

export const COMPACT = 'npm run -s desk -- compact';
/** Larger databases are not rewritten immediately, because visitors must get a response in time. */
const LARGEST_BYTES = 100_000_000;

/**
 * Traces that may remain, and how to remove them. `isFailure` is false if the operator should choose when to remove them.
 */
export type Remains = { readonly isFailure: boolean; readonly sentence: string };

export async function removeRemains(database: Config['database']): Promise<Remains | null> {
  const rewriting = await rewriteDatabase(database, { largestBytes: LARGEST_BYTES });
  if (rewriting.type === 'rewritten') return null;
  // PostgreSQL's column samples belong to the database owner, who may be another user.
  const isForTheOwner =
    rewriting.type === 'remaining' && rewriting.tables.every((table) => table === PLANNER_SAMPLES);
  const isFailure = rewriting.type !== 'too large' && !isForTheOwner;
  return { isFailure, sentence: describeRemains(rewriting) };
}

export function describeRemains(rewriting: Exclude<Rewriting, { type: 'rewritten' }>): string {
  switch (rewriting.type) {
    case 'too large':
      return `The database is larger than ${describeBytes(LARGEST_BYTES)}, so it was not rewritten, and its files may contain traces of deleted data. To remove the traces, run at a quiet time: ${COMPACT}`;
    case 'in use':
      return `The database files may contain traces of deleted data, because an earlier export, backup or shell still uses them (on PostgreSQL, also a transaction in another database of the server). Wait until it ends, and then run: ${COMPACT}`;
    case 'remaining':
      return `The database files may contain traces of deleted data, because ${rewriting.tables.join(', ')} could not be rewritten. At a quiet time, run as the owner of the database: ${COMPACT}`;
    case 'no room':
      return `The disk has too little space to rewrite the database, so its files may contain traces of deleted data. Free ${describeBytes(rewriting.neededBytes)}, and then run: ${COMPACT}`;
  }
}

const describeBytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;
