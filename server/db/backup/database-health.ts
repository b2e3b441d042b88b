// Whether the database answers, whether it is still the one that was opened, and whether it takes writes.
import { sql } from 'kysely';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import type { WriteFault } from '#server/db/engine/outages.ts';
import { HOUR_MS } from '#server/platform/time.ts';

/**
 * Runs a query that costs nothing. Throws the database's error when it does not answer.
 * @returns "file lost" when its file was deleted or replaced under the running process
 */
export async function pingDatabase({
  db,
  isFileOurs,
}: Pick<OpenDatabase, 'db' | 'isFileOurs'>): Promise<'well' | 'file lost'> {
  await sql`select 1`.execute(db);
  return isFileOurs() ? 'well' : 'file lost';
}

/** How often this process tries to write itself, while writes fail and no form is accepted. */
const TRY_EVERY_MS = 5_000;
/** A caller waits no longer than this for a try that hangs. */
const TRY_WITHIN_MS = 1_000;
/** The row that is written: a count of tries, which housekeeping deletes. */
const TRIES = { key: 'tries to write', windowMs: HOUR_MS } as const;

/**
 * Makes a check whether the database takes writes. It goes by the last writes; while these fail, it tries one itself now and then,
 * however often it is called.
 * @param clock milliseconds since 1970
 */
export function createWriteCheck(
  { db, writes }: Pick<OpenDatabase, 'db' | 'writes'>,
  clock: () => number,
): () => Promise<WriteFault | null> {
  let triedAt = -Infinity;
  let trying: Promise<void> | null = null;

  /** How it ended, the engine has noted. */
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
