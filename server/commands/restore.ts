// desk restore: a backup takes the place of the database.
import { randomBytes } from 'node:crypto';
import { constants, copyFileSync, existsSync } from 'node:fs';
import { chmod, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Command } from '@commander-js/extra-typings';

import { sayContents } from '#server/commands/backup.ts';
import { CommandFailure, type Desk } from '#server/commands/desk.ts';
import { orSay } from '#server/commands/output-file.ts';
import { COMPANIONS, inspectBackup, isDatabaseOpen } from '#server/db/restore.ts';
import { makePrivateFolder } from '#server/private-files.ts';
import { readInstance } from '#server/service.ts';

const UNFIT = {
  'no database': 'is no SQLite database. Name a file that "backup" wrote.',
  foreign: 'is a database, but not one of this page. Name a file that "backup" wrote.',
  damaged: 'is damaged. Take an older backup, or rescue what is in it (docs/operating.md).',
} as const;

export function addRestore(program: Command, desk: Desk): void {
  program
    .command('restore')
    .description('put a backup into the place of the database (SQLite), while the page is stopped')
    .argument('<file>')
    .addHelpText('after', '\nExample:\n  $ npm run -s desk -- restore /backups/leads-2026-11-21.db')
    .action(async (file) => {
      const instance = readInstance();
      if (instance.type === 'complaints') throw new CommandFailure(instance.complaints.join('\n'));
      const { database } = instance.config;
      if (database.engine === 'postgres')
        throw new CommandFailure(
          'The database is PostgreSQL. Stop the page and run: pg_restore --clean --if-exists --dbname=… FILE',
        );
      if (!existsSync(file))
        throw new CommandFailure(`${file} does not exist. Name a file that "backup" wrote.`);
      desk.progress(`Checking ${file} …`);
      const backup = inspectBackup(file);
      if (backup.type !== 'fit') throw new CommandFailure(`${file} ${UNFIT[backup.type]}`);
      if (isDatabaseOpen(database.file))
        throw new CommandFailure(`${database.file} is in use. Stop the page first; nothing was changed.`);

      const beside = `${database.file}.${randomBytes(4).toString('hex')}.part`;
      const kept = `${database.file}.before-${new Date(desk.clock()).toISOString().replaceAll(/[-:]|\..*/g, '')}`;
      try {
        desk.progress(`Copying ${file} …`);
        await orSay(database.file, async () => {
          // On a new machine, as the first start would.
          makePrivateFolder(path.dirname(database.file));
          copyFileSync(file, beside, constants.COPYFILE_EXCL);
          await chmod(beside, 0o600);
          await using copy = await open(beside, 'r+');
          await copy.sync();
        });
        desk.signal.throwIfAborted();
        for (const companion of ['', ...COMPANIONS])
          if (existsSync(database.file + companion))
            await rename(database.file + companion, kept + companion);
        await rename(beside, database.file);
      } finally {
        await rm(beside, { force: true });
      }
      desk.note(`${database.file} is now ${file}, with ${sayContents(backup)}.`);
      if (existsSync(kept)) desk.note(`What was there before is kept as ${kept}.`);
      // Opens it: a secret that does not fit is told here, and not by the first visitor.
      const { warnings } = await desk.service();
      for (const warning of warnings) desk.note(`Warning: ${warning}`);
    });
}
