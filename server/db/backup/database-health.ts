import { sql } from 'kysely';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import type { WriteFault } from '#server/db/engine/outages.ts';
import { HOUR_MS } from '#server/platform/time.ts';

/**
 * Throws the database's error.
 * @returns "file lost" if the file was deleted or replaced
 */
export async function pingDatabase({
  db,
  isFileOurs,
}: Pick<OpenDatabase, 'db' | 'isFileOurs'>): Promise<'well' | 'file lost'> {
  await sql`select 1`.execute(db);
  return isFileOurs() ? 'well' : 'file lost';
}

const TRY_EVERY_MS = 5_000;
/** Maximum wait for a hanging test write. */
const TRY_WITHIN_MS = 1_000;
const TRIES = { key: 'tries to write', windowMs: HOUR_MS } as const;

/**
 * By the last writes; while they fail, it tries one at intervals.
 * @param clock milliseconds since 1970
 */
export function createWriteCheck(
  { db, writes }: Pick<OpenDatabase, 'db' | 'writes'>,
  clock: () => number,
): () => Promise<WriteFault | null> {
  let triedAt = -Infinity;
  let trying: Promise<void> | null = null;

  const tryToWrite = async (): Promise<void> => {
    await countInWindow(db, TRIES.key, TRIES.windowMs, clock()).catch(() => {});
    trying = null;
  };

  return async () => {
    if (writes.fault() === null) return null;
    if (trying === null && Math.abs(clock() - triedAt) >= TRY_EVERY_MS) {
      triedAt = clock();
      trying = tryToWrite();
    }
    if (trying !== null) await atMost(TRY_WITHIN_MS, trying);
    return writes.fault();
  };
}

async function atMost(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
