// Tries everything on a copy before replacing the database.
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs';
import { chmod, open, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Command } from '@commander-js/extra-typings';

import { describeContents, describeUnfit } from '#desk/commands/backup.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { fileOf, isInUse, readDeskInstance, type Desk } from '#desk/commands/command.ts';
import { besideOf, filePlace, orSay } from '#desk/commands/output-file.ts';
import { deleteDeskAccess, type DeletedAccess } from '#server/db/tables/desk-access.ts';
import { openDatabase } from '#server/db/engine/connect.ts';
import { COMPANIONS, inspectDatabase, takePlace } from '#server/db/backup/backup.ts';
import { makePrivateFolder } from '#server/platform/files.ts';
import { isoTime } from '#server/platform/time.ts';

const NAME_BACKUP = 'Name a file written by "backup".';
const ADVICE = {
  'no database': NAME_BACKUP,
  newer: 'Restore it with that version, or name an older backup.',
  damaged: 'Use an older backup, or recover its data (docs/running.md).',
  unfit: NAME_BACKUP,
} as const;
export function addRestore(program: Command, desk: Desk): void {
  program
    .command('restore')
    .description('replace the SQLite database with a backup, and keep the previous database next to it')
    .argument('<file>')
    .addHelpText(
      'after',
      '\nStop the site first. Before anything changes, refuses a damaged file, unknown tables, a backup from a later release or with' +
        '\nanother APP_SECRET, and a disk without enough space. Desk users must sign in again and add their passkeys again.' +
        '\n\nExample:\n  $ npm run -s desk -- restore /backups/leads-2026-11-21.db',
    )
    .action(async (file) => {
      const { database } = readDeskInstance().config;
      if (database.engine === 'postgres')
        throw new CommandFailure(
          'The database is PostgreSQL. Stop the site, and run: pg_restore --clean --if-exists --dbname=… FILE',
        );
      const live = fileOf(database);
      mustBeBackup(file, live);
      // A new machine may not have this folder.
      await orSay(live, async () => makePrivateFolder(path.dirname(live)));
      const place = await filePlace(live, 'a database');
      const copy = besideOf(place);
      try {
        desk.progress(`Copying ${file} …`);
        await orSay(live, async () => copyFileSync(file, copy, constants.COPYFILE_EXCL));
        await chmod(copy, 0o600);
        desk.progress(`Checking ${file} …`);
        const backup = await inspectDatabase(copy);
        if (backup.type !== 'fit')
          throw new CommandFailure(`${file} ${describeUnfit(backup)}. ${ADVICE[backup.type]}`);
        desk.signal.throwIfAborted();
        const { warnings, access } = await bringUpToDate(desk, copy);
        if (isInUse(database))
          throw new CommandFailure(`${live} is in use, so nothing was changed. Stop the site first.`);
        desk.signal.throwIfAborted();
        const kept = freeName(`${place}.before-${isoTime(desk.clock()).replaceAll(/[-:]|\..*/g, '')}`);
        const isKept = existsSync(place);
        await orSay(live, async () => {
          await using handle = await open(copy, 'r+');
          await handle.sync();
          takePlace(copy, place, kept);
        });
        desk.note(`${live} was restored from ${file}, with ${describeContents(backup)}.`);
        if (isKept) desk.note(`The previous database was kept as ${kept}.`);
        if (access.desk_sessions + access.desk_sign_ins + access.desk_passkeys > 0)
          desk.note(
            'Desk sessions, sign-ins and passkeys were not restored. Desk users must sign in with an e-mailed code and add their passkeys again.',
          );
        for (const warning of warnings) desk.note(`Warning: ${warning}`);
      } finally {
        for (const part of ['', ...COMPANIONS]) await rm(copy + part, { force: true });
      }
    });
}

function mustBeBackup(file: string, live: string): void {
  const found = statOf(file);
  if (found === undefined) throw new CommandFailure(`${file} does not exist. ${NAME_BACKUP}`);
  if (!found.isFile()) throw new CommandFailure(`${file} is not a file. ${NAME_BACKUP}`);
  if (found.size === 0) throw new CommandFailure(`${file} is empty. ${NAME_BACKUP}`);
  const current = statOf(live);
  if (found.dev === current?.dev && found.ino === current.ino)
    throw new CommandFailure(`${file} is the database itself. ${NAME_BACKUP}`);
  const real = realpathSync(file);
  // Without its log, the file is outdated or contains half a change.
  const rest = ['-wal', '-journal'].find((part) => (statOf(real + part)?.size ?? 0) > 0);
  if (rest !== undefined)
    throw new CommandFailure(
      `${file} is incomplete: its last changes are in ${real}${rest}. Merge the two files: sqlite3 '${real}' "pragma integrity_check; pragma wal_checkpoint(truncate)"`,
    );
  // An unreadable file fails here, so later failures concern the copy.
  closeSync(openSync(file, 'r'));
}

function freeName(name: string, number = 1): string {
  const tried = number === 1 ? name : `${name}-${number}`;
  return ['', ...COMPANIONS].some((part) => existsSync(tried + part)) ? freeName(name, number + 1) : tried;
}

const statOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

/**
 * Opens the service on the copy as the next start would, so a wrong secret or a full disk fails before anything changes. Deletes the desk's
 * sessions and passkeys, because someone with write access to the backup could have planted them.
 * @returns warnings, and the deleted access
 */
async function bringUpToDate(
  desk: Desk,
  file: string,
): Promise<{ readonly warnings: readonly string[]; readonly access: DeletedAccess }> {
  const copy = openDatabase({ engine: 'sqlite', file }, () => {});
  try {
    const { warnings, close } = await desk.service(copy);
    await close();
    return { warnings, access: await deleteDeskAccess(copy.db) };
  } finally {
    await copy.close();
  }
}
