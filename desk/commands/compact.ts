import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples } from '#desk/commands/help.ts';
import { rewriteDatabase } from '#server/db/backup/compact.ts';
import { describeResidualData } from '#desk/people/erase.ts';

export function addCompact(program: Command, desk: Desk): void {
  program
    .command('compact')
    .description('rewrite the database so that its files keep no deleted data')
    .addHelpText(
      'after',
      '\nEach 100 MB takes up to three seconds on SQLite (after five seconds, forms get status 503) and up to ten on PostgreSQL,' +
        '\nwhere the tables are locked one after another. The free disk space must be up to twice the size of the SQLite file, or' +
        `\nthe size of the largest PostgreSQL table.\n${examples('compact')}`,
    )
    .action(async () => {
      const { database } = (await desk.service()).config;
      desk.progress('Rewriting the database …');
      const rewriting = await rewriteDatabase(database);
      if (rewriting.type !== 'rewritten') throw new CommandFailure(describeResidualData(rewriting));
      desk.note('The database was rewritten. Its files contain no deleted data.');
    });
}
