import { existsSync } from 'node:fs';
import { readFile, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';
import { counted } from '#desk/printable.ts';
import { namesIn } from '#server/campaign/campaign-folder.ts';
import { deriveSecrets, lookAtSecretFile } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Look } from '#server/db/health.ts';
import { describeOpenToOthers } from '#server/platform/files.ts';
import { openFilesOf, secretFolderOf } from '#server/startup/service.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';

const disk = about('disk');
const secret = about('secret');
const files = about('files');
const backup = about('backup');

const MIB = 1024 ** 2;
const LOW_BYTES = 1024 * MIB;
const SCARCE_BYTES = 100 * MIB;

/** The folder may be missing. */
export async function examineDisk(folder: string): Promise<Finding> {
  let place = folder;
  while (!existsSync(place) && path.dirname(place) !== place) place = path.dirname(place);
  const { bavail, bsize, files: mostFiles, ffree } = await statfs(place);
  return judgeRoom(place, { freeBytes: bavail * bsize, filesLeft: mostFiles === 0 ? null : ffree });
}

/** @param room filesLeft is null if the disk doesn't limit the number of files */
export function judgeRoom(
  folder: string,
  { freeBytes, filesLeft }: { freeBytes: number; filesLeft: number | null },
): Finding {
  const free =
    freeBytes >= LOW_BYTES
      ? `${(freeBytes / LOW_BYTES).toFixed(1)} GiB`
      : `${Math.floor(freeBytes / MIB)} MiB`;
  const sentence = `The disk that holds ${folder} has ${free} free.`;
  if (filesLeft !== null && filesLeft < 100)
    return disk.problem(
      `The disk that holds ${folder} is almost out of inodes (${filesLeft} left). Delete unneeded files.`,
    );
  if (freeBytes < SCARCE_BYTES)
    return disk.problem(`${sentence} Free some space before the site has to refuse forms.`);
  return freeBytes < LOW_BYTES ? disk.warning(`${sentence} Free some space.`) : disk.ok(sentence);
}

/** Whatever the alphabet, 32 random characters almost always include at least this many different ones. */
const FEW_CHARACTERS = 10;
const SHORT_PERIOD = 22;

export function examineSecret(
  config: Config,
  { folder, look }: { folder: string; look: Look | null },
): Findings {
  const weak = config.appSecrets.some(isGuessable);
  if (weak)
    return secret.problem(
      'APP_SECRET looks easy to guess. A stranger who guesses it can forge codes and sessions. Put a random secret first (APP_SECRET=new,old), and remove the old one after a day. To create a secret: openssl rand -base64 32',
    );
  const file = path.join(secretFolderOf(config.database, path.join(folder, 'data')), 'app-secret');
  const kept = config.appSecrets.length > 0 ? null : lookAtSecretFile(file);
  if (kept?.type === 'unusable') return secret.problem(kept.sentence);
  if (kept?.type === 'missing')
    return (look?.secretIds.length ?? 0) > 0
      ? [
          secret.problem(
            `${file} is missing, but this database has already been used with a secret. Restore the file from a backup, or set APP_SECRET to that secret.`,
          ),
        ]
      : [secret.note(`No secret exists yet. The first start will create one in ${file}.`)];
  const where = kept === null ? 'APP_SECRET' : file;
  const ids = deriveSecrets(kept === null ? config.appSecrets : [kept.secret]).map(({ id }) => id);
  if (look !== null && look.secretIds.length > 0 && !ids.some((id) => look.secretIds.includes(id)))
    return secret.warning(
      `${where} does not match any secret that this database was used with. Visitors with a session or a pending code will have to request a new code. To avoid that, list the old secret second: APP_SECRET=new,old`,
    );
  return secret.ok(
    kept === null
      ? 'APP_SECRET is long enough and does not look easy to guess.'
      : `${file} contains a secret that the server created.`,
  );
}

export function examineFiles(config: Config, folder: string): Findings {
  const secretFolder = secretFolderOf(config.database, path.join(folder, 'data'));
  const open = openFilesOf(config, secretFolder);
  const kept = [...new Set([folder, secretFolder])].flatMap((place) =>
    namesIn(place)
      .filter((name) => /\.before-\d{8}T/.test(name))
      .map((name) => path.join(place, name)),
  );
  return [
    ...(open.length > 0
      ? open.map((name) => files.warning(describeOpenToOthers(name)))
      : [files.ok('No other user on this machine can read the database files, the secret or the DKIM key.')]),
    ...kept.map((name) =>
      files.warning(
        `${name} was kept by a restore, and may contain secrets or erased people. Delete it once you no longer need it.`,
      ),
    ),
  ];
}

/** Detects too few different characters, repetition and common words; randomness cannot be proven. */
function isGuessable(typed: string): boolean {
  if (new Set(typed).size < FEW_CHARACTERS) return true;
  for (let period = 1; period <= Math.min(SHORT_PERIOD, typed.length / 2); period += 1)
    if (typed.slice(period) === typed.slice(0, -period)) return true;
  return /change.?me|password|example|secret.?secret|1234567890|abcdefgh|qwerty/i.test(typed);
}

const LATE_DAYS = 2;

/** `desk backup` records its last success in this file. */
const noteIn = (database: Config['database'], folder: string): string =>
  path.join(secretFolderOf(database, path.join(folder, 'data')), 'last-backup');

export const noteBackup = (database: Config['database'], folder: string, now: number): Promise<void> =>
  writeFile(noteIn(database, folder), `${isoTime(now)}\n`, { mode: 0o600 });

export async function examineBackup(
  database: Config['database'],
  { folder, now }: { folder: string; now: number },
): Promise<Findings> {
  if (database.engine === 'sqlite' && database.file === ':memory:') return [];
  const text = await readFile(noteIn(database, folder), 'utf8').catch((error: unknown) => {
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
  return [
    days > LATE_DAYS
      ? backup.warning(`The newest backup is ${days} days old. Find out why the nightly backup fails.`)
      : backup.ok(`The newest backup is ${days === 0 ? 'less than 24 hours' : counted(days, 'day')} old.`),
  ];
}
