import path from 'node:path';

import type { Db } from '#server/db/engine/connect.ts';
import { knownSecretIds, rememberSecretIds } from '#server/db/tables/known-secrets.ts';
import { CannotOpen, explainFileFailure, orRefuse } from '#server/startup/why-the-start-failed.ts';
import { deriveSecrets, makeSecretFile, readSecretFile, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';

const STRANGE_SECRET =
  'This database was used with a different secret: visitors with a session or a pending code must request a new code. To avoid that, stop and list the old secret second: APP_SECRET=new,old';

/** @returns sentences with the action */
const saySecretUnfit = (file: string, what: 'missing' | 'strange'): string =>
  `${file} ${
    what === 'missing'
      ? 'is missing, though this database was used with a secret before'
      : 'differs from the secrets that this database knows'
  }. Put the file back from a backup, or set APP_SECRET to that secret. ` +
  'To go on without it, set APP_SECRET to a new one (openssl rand -base64 32): visitors with a session or a pending code must then request a new code, ' +
  'links in mails end, and erased people are no longer recognised.';

/**
 * A used database never gets a new secret by accident, because its codes and sessions would be lost.
 * @param options folder: of the file. now: milliseconds since 1970
 * @returns warning: a sentence, or null
 * @throws CannotOpen
 */
export async function openSecrets(
  db: Db,
  { config, folder, now }: { config: Pick<Config, 'appSecrets'>; folder: string; now: number },
): Promise<{ secrets: Secrets; warning: string | null }> {
  // Queried before reading the file, because another process that starts for the first time writes the file
  // first.
  const known = await knownSecretIds(db);
  const secrets = deriveSecrets(
    config.appSecrets.length > 0 ? config.appSecrets : [await keptSecret(folder, known.length > 0)],
  );
  const ids = secrets.map(({ id }) => id);
  const isStrange = known.length > 0 && !ids.some((id) => known.includes(id));
  // APP_SECRET is deliberate; a file can belong to another instance, as after a restore elsewhere.
  if (isStrange && config.appSecrets.length === 0)
    throw new CannotOpen(saySecretUnfit(secretFileIn(folder), 'strange'));
  await rememberSecretIds(db, ids, now);
  return { secrets, warning: isStrange ? STRANGE_SECRET : null };
}

async function keptSecret(folder: string, databaseKnowsOne: boolean): Promise<string> {
  const file = secretFileIn(folder);
  const explain = (error: unknown) =>
    explainFileFailure(error, file, 'Grant this user permission, or set APP_SECRET.');
  const kept = await orRefuse(() => readSecretFile(file), explain);
  if (kept.type === 'secret') return kept.secret;
  if (kept.type === 'unusable') throw new CannotOpen(kept.sentence);
  if (databaseKnowsOne) throw new CannotOpen(saySecretUnfit(file, 'missing'));
  return orRefuse(() => makeSecretFile(file), explain);
}

export const secretFileIn = (folder: string): string => path.join(folder, 'app-secret');
