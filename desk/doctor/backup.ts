import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { about, type Finding } from '#desk/doctor/finding.ts';
import { errorCode } from '#server/platform/error-code.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';

const { ok, note, warning } = about('backup');

/** A failed nightly backup is reported on the next day. */
const LATE_DAYS = 2;

/** `desk backup` records its last success in this file. */
const noteBeside = (file: string): string => path.join(path.dirname(file), 'last-backup');

/** @param file path of the database */
export const noteBackup = (file: string, now: number): Promise<void> =>
  writeFile(noteBeside(file), `${isoTime(now)}\n`, { mode: 0o600 });

export async function examineBackup(database: Config['database'], now: number): Promise<readonly Finding[]> {
  if (database.engine !== 'sqlite' || database.file === ':memory:') return [];
  const text = await readFile(noteBeside(database.file), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  const at = text === null ? Number.NaN : Date.parse(text.trim());
  if (Number.isNaN(at))
    return [
      note(
        'No backup by npm run -s desk -- backup is known. Where nothing else copies the database each night, have it called (docs/running.md).',
      ),
    ];
  const days = Math.floor((now - at) / DAY_MS);
  return [
    days > LATE_DAYS
      ? warning(`The newest backup is ${days} days old. See why the nightly one fails.`)
      : ok(
          `The newest backup is ${days === 0 ? 'of the last 24 hours' : `${days === 1 ? '1 day' : `${days} days`} old`}.`,
        ),
  ];
}
