// Checks that APP_SECRET exists, is hard to guess, matches the database, and is unreadable for other users.
import path from 'node:path';

import { deriveSecrets, lookAtSecretFile } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Look } from '#server/db/backup/look-at-database.ts';
import { about, type Finding } from '#desk/doctor/finding.ts';
import { sayOpenToOthers } from '#server/platform/private-files.ts';
import { openFilesOf, secretFolderOf } from '#server/startup/service.ts';

const { ok, note, warning, problem } = about('secret');
const files = about('files');

/** 32 random characters contain at least this many different ones, whatever the alphabet. */
const FEW_CHARACTERS = 10;
const SHORT_PERIOD = 22;

/**
 * @param folder of the instance
 * @param look null if the database is missing or unreadable
 */
export function examineSecret(
  config: Config,
  { folder, look }: { folder: string; look: Look | null },
): readonly Finding[] {
  const weak = config.appSecrets.some(isGuessable);
  if (weak)
    return [
      problem(
        'APP_SECRET looks made up by hand: a stranger who guesses it makes codes and sessions. Put a random one before it (APP_SECRET=new,old) and take the old one out after a day: openssl rand -base64 32',
      ),
    ];
  const file = path.join(secretFolderOf(config.database, path.join(folder, 'data')), 'app-secret');
  const kept = config.appSecrets.length > 0 ? null : lookAtSecretFile(file);
  if (kept?.type === 'unusable') return [problem(kept.sentence)];
  if (kept?.type === 'missing')
    return (look?.secretIds.length ?? 0) > 0
      ? [
          problem(
            `${file} is missing, though this database was used with a secret before. Put the file back from a backup, or set APP_SECRET to that secret.`,
          ),
        ]
      : [note(`There is no secret yet: the first start makes one and keeps it in ${file}.`)];
  const where = kept === null ? 'APP_SECRET' : file;
  const ids = deriveSecrets(kept === null ? config.appSecrets : [kept.secret]).map(({ id }) => id);
  if (look !== null && look.secretIds.length > 0 && !ids.some((id) => look.secretIds.includes(id)))
    return [
      warning(
        `${where} differs from the secrets that this database knows: visitors who are signed in or wait for a code must ask for a new one. If that is not what you want, put the old one behind it: APP_SECRET=new,old`,
      ),
    ];
  return [
    ok(
      kept === null
        ? 'APP_SECRET is long enough, and does not look made up.'
        : `${file} holds a secret that the server made.`,
    ),
  ];
}

export function examineFiles(config: Config, folder: string): readonly Finding[] {
  const open = openFilesOf(config, secretFolderOf(config.database, path.join(folder, 'data')));
  return open.length > 0
    ? open.map((name) => files.warning(sayOpenToOthers(name)))
    : [
        files.ok(
          'No other user of this machine can read the files of the database, the secret or the DKIM key.',
        ),
      ];
}

/** Detects few different characters, repetition and common words; randomness cannot be proven. */
function isGuessable(secret: string): boolean {
  if (new Set(secret).size < FEW_CHARACTERS) return true;
  for (let period = 1; period <= Math.min(SHORT_PERIOD, secret.length / 2); period += 1)
    if (secret.slice(period) === secret.slice(0, -period)) return true;
  return /change.?me|password|example|secret.?secret|1234567890|abcdefgh|qwerty/i.test(secret);
}
