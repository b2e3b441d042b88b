import type { Config } from '#server/settings/settings.ts';
import { PLANNER_SAMPLES, rewriteDatabase, type Rewriting } from '#server/db/backup/compact.ts';

export const COMPACT = 'npm run -s desk -- compact';
/** Larger databases are not rewritten at once, because visitors must get a response in time. */
const LARGEST_BYTES = 100_000_000;

/** Traces that may remain, and how to remove them. `isFailure` is false if the operator should choose the time. */
export type Remains = { readonly isFailure: boolean; readonly sentence: string };

export async function removeRemains(database: Config['database']): Promise<Remains | null> {
  const rewriting = await rewriteDatabase(database, { largestBytes: LARGEST_BYTES });
  if (rewriting.type === 'rewritten') return null;
  // PostgreSQL's column samples belong to the database owner, who may be another user.
  const isForTheOwner =
    rewriting.type === 'left' && rewriting.tables.every((table) => table === PLANNER_SAMPLES);
  const isFailure = rewriting.type !== 'too large' && !isForTheOwner;
  return { isFailure, sentence: sayRemains(rewriting) };
}

export function sayRemains(rewriting: Exclude<Rewriting, { type: 'rewritten' }>): string {
  switch (rewriting.type) {
    case 'too large':
      return `The database is larger than ${sayBytes(LARGEST_BYTES)}, so it was not rewritten, and its files may hold traces. Take them out at a quiet hour: ${COMPACT}`;
    case 'in use':
      return `The files of the database may hold traces: deleted data is still in use, by something that began earlier (an export, a backup, a shell). Wait for its end, then call: ${COMPACT}`;
    case 'left':
      return `The files of the database may hold traces: ${rewriting.tables.join(', ')} could not be rewritten. At a quiet hour, and as the owner of the database, call: ${COMPACT}`;
    case 'no room':
      return `There is no room on the disk to rewrite the database, whose files may hold traces. Make ${sayBytes(rewriting.neededBytes)} free, then call: ${COMPACT}`;
  }
}

export const sayBytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;
