// desk compact: rewrites the database, so that its files hold live rows only.
import { existsSync, statSync } from 'node:fs';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import type { Config } from '#server/settings/settings.ts';
import { rewriteDatabase } from '#server/db/whole/compact.ts';
import { sayBytes, sayRemains } from '#desk/people/remains.ts';

export function addCompact(program: Command, desk: Desk): void {
  program
    .command('compact')
    .description('rewrite the database, so that nothing that was deleted is left in its files')
    .addHelpText(
      'after',
      '\nForms wait meanwhile, some seconds for each 100 MB; on PostgreSQL readers wait, too. SQLite needs up to twice' +
        '\nthe room of its file, PostgreSQL that of its largest table. Without the room, nothing is changed.' +
        '\n\nExample:\n  $ npm run -s desk -- compact',
    )
    .action(async () => {
      const { database } = (await desk.service()).config;
      const before = sizeOf(database);
      desk.progress('Rewriting the database …');
      const rewriting = await rewriteDatabase(database);
      if (rewriting.type !== 'rewritten') throw new CommandFailure(sayRemains(rewriting));
      const after = sizeOf(database);
      const sizes =
        before === null || after === null ? '' : `: ${sayBytes(before)} before, ${sayBytes(after)} now`;
      desk.note(`The database was rewritten${sizes}. Nothing that was deleted is left in its files.`);
    });
}

const sizeOf = (database: Config['database']): number | null =>
  database.engine === 'sqlite' && existsSync(database.file) ? statSync(database.file).size : null;
