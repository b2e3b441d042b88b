import { realpathSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import { fileOf, type Desk } from '#desk/commands/command.ts';
import { besideOf, cannotWrite, filePlace, orSay } from '#desk/commands/output-file.ts';
import { printable } from '#desk/printable.ts';
import { withParameters } from '#server/platform/database-url.ts';
import {
  COMPANIONS,
  copyDatabase,
  inspectDatabase,
  isWriteFailure,
  type Contents,
  type Inspection,
} from '#server/db/backup/backup.ts';
import { noteBackup } from '#desk/doctor/data-folder.ts';

export function addBackup(program: Command, desk: Desk): void {
  program
    .command('backup')
    .description('copy a SQLite database to one checked file, or print the pg_dump command for PostgreSQL')
    .argument('<file>')
    .addHelpText(
      'after',
      '\nIf APP_SECRET is not set, also back up data/app-secret, in a different place.\n\nExample:\n  $ npm run -s desk -- backup /backups/leads-$(date +%F).db',
    )
    .action(async (file) => {
      const { config, clock } = await desk.service();
      const { database } = config;
      if (database.engine === 'postgres') throw new CommandFailure(describePgDump(database.url, file));
      const source = fileOf(database);
      const place = await filePlace(file, 'a backup');
      if (['', ...COMPANIONS].some((companion) => place === realpathSync(source) + companion))
        throw cannotWrite(file, 'it is the database itself. Name another file.');
      const beside = besideOf(place);
      try {
        await using handle = await orSay(file, () => open(beside, 'wx', 0o600));
        const size = `${Math.ceil((await stat(source)).size / 2 ** 20)} MiB`;
        desk.progress(`Copying ${size} …`);
        await copyDatabase(source, beside).catch((error: unknown) => {
          throw isWriteFailure(error)
            ? cannotWrite(file, 'the disk or quota is full. Free some space, or choose another place.')
            : error;
        });
        desk.signal.throwIfAborted();
        desk.progress(`Checking the copy of ${size} …`);
        const found = await inspectDatabase(beside);
        desk.signal.throwIfAborted();
        if (found.type === 'damaged')
          throw new CommandFailure(
            `${source} is damaged, so ${file} was not written. Restore an intact backup, or recover the data (docs/running.md).`,
          );
        await orSay(file, () => handle.sync());
        await orSay(file, () => rename(beside, place));
        if (found.type !== 'fit')
          throw new CommandFailure(
            `${file} was written, but "restore" will refuse it, because ${source} ${describeUnfit(found)}. Fix the database, and make the backup again.`,
          );
        await noteBackup(source, clock()).catch(() =>
          desk.note(
            `The time of the backup could not be recorded next to ${source}, so the doctor will not know the age of the backup. Check the permissions of that folder.`,
          ),
        );
        desk.note(`${file} contains the database with ${describeContents(found)}.`);
      } finally {
        for (const suffix of ['', ...COMPANIONS]) await rm(`${beside}${suffix}`, { force: true });
      }
      if (config.appSecrets.length === 0)
        desk.note(
          'The file app-secret next to the database is not included. Back it up separately, because pending codes do not work without this file.',
        );
    });
}

/** Returns the rest of a sentence that begins with the database's name. */
export function describeUnfit(found: Exclude<Inspection, { type: 'fit' }>): string {
  switch (found.type) {
    case 'no database':
      return 'is not a SQLite database';
    case 'newer':
      return 'was used by a newer version of this software';
    case 'damaged':
      return 'is damaged';
    case 'unfit':
      return `is not a complete database of this software: ${printable(found.what)}`;
  }
}

export function describeContents({ leads, imported }: Contents): string {
  const said = leads === 1 ? '1 lead' : `${leads} leads`;
  if (imported === 0) return said;
  return `${said} and ${imported === 1 ? '1 imported person' : `${imported} imported people`}`;
}

/** Omits the password, because every user of the machine can see the arguments of processes. */
function describePgDump(url: string, file: string): string {
  const address = withParameters(url, (parameters) => {
    // pg_dump does not know these parameters.
    for (const name of ['password', 'prepare', 'uselibpqcompat']) parameters.delete(name);
    if (parameters.get('sslmode') === 'no-verify') parameters.set('sslmode', 'require');
  }).replace(/^([^:]+:\/\/[^/?#:@]*):[^/?#]*@/, '$1@');
  return `PostgreSQL has its own backup command. Run: pg_dump --format=custom --file='${file}' '${address}'`;
}
