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
    .description('copy a SQLite database into one checked file; for PostgreSQL, print the pg_dump command')
    .argument('<file>')
    .addHelpText(
      'after',
      '\nIf APP_SECRET is not set, back up data/app-secret too, in another place.\n\nExample:\n  $ npm run -s desk -- backup /backups/leads-$(date +%F).db',
    )
    .action(async (file) => {
      const { config, clock } = await desk.service();
      const { database } = config;
      if (database.engine === 'postgres') throw new CommandFailure(sayPgDump(database.url, file));
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
            ? cannotWrite(file, 'the disk or quota is full. Free some space, or name another place.')
            : error;
        });
        desk.signal.throwIfAborted();
        desk.progress(`Checking the copy of ${size} …`);
        const found = await inspectDatabase(beside);
        desk.signal.throwIfAborted();
        if (found.type === 'damaged')
          throw new CommandFailure(
            `${source} is damaged, so a copy would be too; ${file} was not written. Restore a good backup, or recover its data (docs/running.md).`,
          );
        await orSay(file, () => handle.sync());
        await orSay(file, () => rename(beside, place));
        if (found.type !== 'fit')
          throw new CommandFailure(
            `${file} was written, but "restore" will refuse it, because ${source} ${sayUnfit(found)}. Fix that, and run it again.`,
          );
        await noteBackup(source, clock()).catch(() =>
          desk.note(
            `The backup could not be recorded next to ${source}, so the doctor will not know how old the backup is.`,
          ),
        );
        desk.note(`${file} contains the database with ${sayContents(found)}.`);
      } finally {
        for (const suffix of ['', ...COMPANIONS]) await rm(`${beside}${suffix}`, { force: true });
      }
      if (config.appSecrets.length === 0)
        desk.note(
          'The file app-secret next to the database is not included: back it up separately. Without it, nobody can enter a pending code.',
        );
    });
}

/** Continues a sentence that begins with the database's name. */
export function sayUnfit(found: Exclude<Inspection, { type: 'fit' }>): string {
  switch (found.type) {
    case 'no database':
      return 'is not a SQLite database';
    case 'newer':
      return 'was used by a newer version of this page';
    case 'damaged':
      return 'is damaged';
    case 'unfit':
      return `is not a complete database of this page: ${printable(found.what)}`;
  }
}

export function sayContents({ leads, imported }: Contents): string {
  const said = leads === 1 ? '1 lead' : `${leads} leads`;
  if (imported === 0) return said;
  return `${said} and ${imported === 1 ? '1 imported person' : `${imported} imported people`}`;
}

/** Omits the password, because every user of the machine can list processes with their arguments. */
function sayPgDump(url: string, file: string): string {
  const address = withParameters(url, (parameters) => {
    // pg_dump does not know these parameters.
    for (const name of ['password', 'prepare', 'uselibpqcompat']) parameters.delete(name);
    if (parameters.get('sslmode') === 'no-verify') parameters.set('sslmode', 'require');
  }).replace(/^([^:]+:\/\/[^/?#:@]*):[^/?#]*@/, '$1@');
  return `The database is PostgreSQL, which copies itself. Run: pg_dump --format=custom --file='${file}' '${address}'`;
}
