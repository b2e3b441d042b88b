import { existsSync, realpathSync } from 'node:fs';
import { readFile, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { about, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { counted } from '#desk/printable.ts';
import { namesIn } from '#server/campaign/campaign-folder.ts';
import { deriveSecrets, inspectSecretFile, WITHOUT_OLD_SECRET } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { DatabaseState } from '#server/db/health.ts';
import { describeReadableByOthers } from '#server/platform/files.ts';
import { dataFolderOf, filesOpenToOthers, secretFileOf } from '#server/startup/service.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';

const disk = about('disk');
const secret = about('secret');
const files = about('files');
const backup = about('backup');

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;
const SCARCE_BYTES = 100 * MIB;

export async function examineDisk(database: Config['database'], folder: string): Promise<Findings> {
  // The folder may not exist yet, and the file may be a symbolic link to another disk.
  let existing =
    database.engine === 'sqlite' && existsSync(database.file)
      ? path.dirname(realpathSync(database.file))
      : dataFolderOf(database, folder);
  while (!existsSync(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  const finding = judgeFreeSpace(existing, bavail * bsize);
  return database.engine === 'sqlite'
    ? finding
    : [finding, disk.note('The disk of the PostgreSQL server was not checked.')];
}

export function judgeFreeSpace(folder: string, freeBytes: number): Finding {
  const free =
    freeBytes >= GIB ? `${(freeBytes / GIB).toFixed(1)} GiB` : `${Math.floor(freeBytes / MIB)} MiB`;
  const sentence = `The disk that holds ${folder} has ${free} free.`;
  if (freeBytes < SCARCE_BYTES)
    return disk.problem(`${sentence} Free some space before the site has to refuse forms.`);
  return freeBytes < GIB ? disk.warning(`${sentence} Free some space.`) : disk.ok(sentence);
}

export function examineSecret(
  config: Config,
  { folder, state }: { folder: string; state: DatabaseState | null },
): Findings {
  const file = secretFileOf(config.database, folder);
  const stored = config.appSecrets.length > 0 ? null : inspectSecretFile(file);
  if (stored?.type === 'unusable') return secret.problem(stored.sentence);
  if (stored?.type === 'missing')
    return state === null || state.secretIds.length === 0
      ? secret.note(`No secret exists yet. The first start will create one in ${file}.`)
      : secret.problem(
          `${file} is missing, but this database has already been used with a secret. Restore the file from a backup, or set APP_SECRET to that secret.`,
        );
  const where = stored === null ? 'APP_SECRET' : file;
  const ids = deriveSecrets(stored === null ? config.appSecrets : [stored.secret]).map(({ id }) => id);
  if (state !== null && state.secretIds.length > 0 && !ids.some((id) => state.secretIds.includes(id)))
    return secret.warning(
      `${where} does not match any secret that this database was used with. ${WITHOUT_OLD_SECRET} To avoid that, list the old secret second: APP_SECRET=new,old`,
    );
  return secret.ok(
    stored === null ? 'APP_SECRET is long enough.' : `${file} contains a secret that the server created.`,
  );
}

export function examineFiles(config: Config, folder: string): Findings {
  const open = filesOpenToOthers(config, folder).map((name) => files.warning(describeReadableByOthers(name)));
  const { database, mail } = config;
  const keys = mail.kind === 'smtp' && mail.dkim ? [path.dirname(mail.dkim.privateKeyFile)] : [];
  const names = [...new Set([folder, dataFolderOf(database, folder), ...keys])].flatMap((place) =>
    namesIn(place).map((name) => path.join(place, name)),
  );
  const warnAbout = (pattern: RegExp, sentence: string) =>
    names.filter((name) => pattern.test(name)).map((name) => files.warning(`${name} ${sentence}`));
  return [
    ...(open.length > 0
      ? open
      : [files.ok('No other user on this machine can read the database files, the secret or the DKIM key.')]),
    ...warnAbout(
      /\.before-\d{8}T/,
      'was kept by a restore, and may contain secrets or erased people. Delete it once you no longer need it.',
    ),
    ...warnAbout(
      /desk-[0-9a-f]{8}\.part/,
      'remains from a killed command, and may contain secrets or erased people. Delete it, unless a command is still running.',
    ),
  ];
}

const LATE_DAYS = 2;

/** `desk backup` records its last success in this file. */
const recordFile = (database: Config['database'], folder: string): string =>
  path.join(dataFolderOf(database, folder), 'last-backup');

export const recordBackup = (database: Config['database'], folder: string, now: number): Promise<void> =>
  writeFile(recordFile(database, folder), `${isoTime(now)}\n`, { mode: 0o600 });

export async function examineBackup(
  database: Config['database'],
  { folder, now }: { folder: string; now: number },
): Promise<Findings> {
  if (database.engine === 'sqlite' && database.file === ':memory:') return [];
  const text = await readFile(recordFile(database, folder), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  // PostgreSQL usually has its own backups.
  if (text === null && database.engine === 'postgres') return [];
  const at = text === null ? Number.NaN : Date.parse(text.trim());
  if (Number.isNaN(at))
    return backup.note(
      'No backup made with "npm run -s desk -- backup" was found. Unless something else copies the database every night, schedule this command (docs/running.md).',
    );
  const days = Math.floor((now - at) / DAY_MS);
  return days > LATE_DAYS
    ? backup.warning(`The newest backup is ${days} days old. Find out why the nightly backup fails.`)
    : backup.ok(`The newest backup is ${days === 0 ? 'less than 24 hours' : counted(days, 'day')} old.`);
}
