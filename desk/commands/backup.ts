import { realpathSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import { fileOf, type Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { secretFilesOf, wordFiles } from '#desk/commands/instance-files.ts';
import {
  temporaryNameFor,
  cannotWrite,
  resolveOutputFile,
  explainWriteErrors,
} from '#desk/commands/output-file.ts';
import { recordBackup } from '#desk/doctor/data-folder.ts';
import { printable, counted } from '#desk/printable.ts';
import { addBackupFiles } from '#server/db/backup/backup-files.ts';
import {
  copyDatabase,
  databaseFiles,
  inspectDatabase,
  isWriteFailure,
  type Contents,
  type Inspection,
} from '#server/db/backup/backup.ts';
import { inSnapshot, moveRows, RowsDiffer, type MovedTable } from '#server/db/backup/move.ts';
import { openDatabase, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { describeHost } from '#server/platform/database-url.ts';
import type { Config } from '#server/settings/settings.ts';

export function addBackup(program: Command, desk: Desk): void {
  program
    .command('backup')
    .description('write everything that a new server needs to one checked file, while the site runs')
    .argument('<file>')
    .option('--without-secrets', 'leave out the settings, the secret and the DKIM key')
    .addHelpText(
      'after',
      `
The file contains the database (SQLite or PostgreSQL), the settings (.env and the environment), the secret (APP_SECRET or its
file), the DKIM key, and the words in the campaign folder. Only its owner can read it. Whoever has it can read all leads and,
unless it was made with --without-secrets, forge sessions and links. Encrypt copies.
${examples('backup /backups/leads-$(date +%F).backup')}`,
    )
    .action(async (file, { withoutSecrets = false }) => {
      const { config, database, folder, clock } = await desk.service();
      const source = sourceOf(config.database);
      const target = await resolveOutputFile(file, 'a backup');
      if (config.database.engine === 'sqlite' && databaseFiles(realpathSync(source)).includes(target))
        throw cannotWrite(file, 'it is the database itself. Name another file.');
      const secretFiles = withoutSecrets ? [] : secretFilesOf({ config, folder, warnings: [] });
      const files = [...secretFiles, ...wordFiles()];
      const temporary = temporaryNameFor(target);
      try {
        await using handle = await explainWriteErrors(file, () => open(temporary, 'wx', 0o600));
        if (((await handle.stat()).mode & 0o077) !== 0)
          throw cannotWrite(
            file,
            'its disk does not support permissions, so other users could read the secrets in it. Choose another place.',
          );
        const copy = config.database.engine === 'sqlite' ? copySqlite : copyPostgres;
        await explainFullDisk(file, () => copy(desk, { source, database, temporary }));
        desk.signal.throwIfAborted();
        desk.progress('Checking the copy …');
        const inspection = await inspectDatabase(temporary);
        desk.signal.throwIfAborted();
        if (inspection.type === 'damaged')
          throw new CommandFailure(
            `${source} is damaged, so ${file} was not written. Restore an intact backup, or recover the data (docs/running.md).`,
          );
        await explainFullDisk(file, async () => addBackupFiles(temporary, files));
        await explainWriteErrors(file, () => handle.sync());
        await explainWriteErrors(file, () => rename(temporary, target));
        if (inspection.type !== 'fit')
          throw new CommandFailure(
            `${file} was written, but "restore" will refuse it, because ${source} ${describeUnfit(inspection)}. Fix the database, and make the backup again.`,
          );
        await recordBackup(config.database, folder, clock()).catch(() =>
          desk.note(
            `The time of the backup could not be recorded next to ${source}, so the doctor will not know the age of the backup. Check the permissions of that folder.`,
          ),
        );
        const parts = withoutSecrets ? '' : ', the settings, the secrets';
        desk.note(
          `${file} contains the database with ${describeContents(inspection)}${parts} and the words.`,
        );
      } finally {
        for (const name of databaseFiles(temporary)) await rm(name, { force: true });
      }
      desk.note(
        withoutSecrets
          ? 'It does not contain .env and APP_SECRET (or data/app-secret). Keep them elsewhere, because links in sent e-mails and the consent chain need them.'
          : 'It contains secrets: whoever reads it can forge sessions and links. Only you can read it (mode 600). Encrypt the copies that leave this machine.',
      );
    });
}

export const sourceOf = (database: Config['database']): string =>
  database.engine === 'sqlite' ? fileOf(database) : `PostgreSQL at ${describeHost(database.url)}`;

export async function explainFullDisk(file: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    throw isWriteFailure(error)
      ? cannotWrite(file, 'the disk or quota is full. Free some space, or choose another place.')
      : error;
  }
}

type CopyOptions = { readonly source: string; readonly database: OpenDatabase; readonly temporary: string };

async function copySqlite(desk: Desk, { source, temporary }: CopyOptions): Promise<void> {
  desk.progress(`Copying ${Math.ceil((await stat(source)).size / 2 ** 20)} MiB …`);
  await copyDatabase(source, temporary);
}

async function copyPostgres(desk: Desk, { database, temporary }: CopyOptions): Promise<void> {
  const copy = openDatabase({ engine: 'sqlite', file: temporary }, () => {});
  try {
    await migrate(copy);
    await inSnapshot(database.db, (db) =>
      copyRows(desk, { source: { ...database, db }, target: copy, isVerbose: false }),
    );
  } finally {
    await copy.close();
  }
}

export const copyRows = (
  desk: Desk,
  { source, target, isVerbose }: { source: OpenDatabase; target: OpenDatabase; isVerbose: boolean },
): Promise<readonly MovedTable[]> =>
  moveRows(
    source,
    target,
    ({ table, rows, source: checksum }) => {
      desk.signal.throwIfAborted();
      if (isVerbose) desk.note(`${table}: ${rows} rows, ${checksum.slice(0, 16)} in both databases`);
    },
    (table, rows) => {
      desk.signal.throwIfAborted();
      desk.progress(`${table}: ${rows} rows …`);
    },
  ).catch((error: unknown) => {
    throw error instanceof RowsDiffer
      ? new CommandFailure(
          `The rows of ${error.message} differ after copying, so the copy was discarded. Make sure that no other program writes to either database. If the operating system of a PostgreSQL server was upgraded, rebuild its indexes (reindex database). Then try again.`,
        )
      : error;
  });

/** Returns the rest of a sentence that begins with the database's name. */
export function describeUnfit(inspection: Exclude<Inspection, { type: 'fit' }>): string {
  switch (inspection.type) {
    case 'no database':
      return 'is not a SQLite database';
    case 'newer':
      return 'was used by a newer version of this software';
    case 'damaged':
      return 'is damaged';
    case 'unfit':
      return `is not a complete database of this software: ${printable(inspection.reason)}`;
  }
}

export function describeContents({ leads, imported }: Contents): string {
  const verified = counted(leads, 'lead');
  return imported === 0
    ? verified
    : `${verified} and ${counted(imported, 'imported person', 'imported people')}`;
}
