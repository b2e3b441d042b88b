// desk move: copies everything from SQLite to PostgreSQL.
import { existsSync } from 'node:fs';

import type { Command } from '@commander-js/extra-typings';

import { sayUnfit } from '#desk/commands/backup.ts';
import { jsonText } from '#desk/commands/answer.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { fileOf, isInUse, readDeskInstance, type Desk } from '#desk/commands/command.ts';
import { openDatabase, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { filledTables, foreignTables, moveRows, RowsDiffer } from '#server/db/whole/move.ts';
import { inspectDatabase } from '#server/db/whole/restore.ts';
import { readOtherDatabase } from '#server/settings/env-file.ts';
import { explainDatabaseFailure } from '#server/run/why-the-start-failed.ts';

export function addMove(program: Command, desk: Desk): void {
  program
    .command('move')
    .description('copy everything from SQLite to an empty PostgreSQL, while the page is stopped')
    .requiredOption('--to <url>', 'postgres://user:password@host/name')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run -s desk -- move --to postgres://guide@db.example.com/leads?sslmode=verify-full',
    )
    .action(async ({ to, json }) => {
      const { database } = readDeskInstance().config;
      const read = readOtherDatabase('--to', to);
      if (read.type === 'complaints') throw new CommandFailure(read.complaints.join('\n'), 2);
      if (database.engine !== 'sqlite')
        throw new CommandFailure('The database is PostgreSQL already. pg_dump and pg_restore move it.');
      const file = fileOf(database);
      if (isInUse(database))
        throw new CommandFailure(
          `${file} is in use. Stop the page first: what visitors do meanwhile would be missing.`,
        );
      for (const warning of read.warnings) desk.note(`Warning: ${warning}`);
      desk.progress(`Checking ${file} …`);
      const found = existsSync(file) ? await inspectDatabase(file) : null;
      if (found !== null && found.type !== 'fit')
        throw new CommandFailure(
          `${file} ${sayUnfit(found)}. It was not moved. Mend it, put a whole backup back, or rescue what is in it (docs/operating.md).`,
        );
      // Opening the service brings the tables up to date, too.
      const { database: source } = await desk.service();
      const target = openDatabase(read.database, () => {}, { statementTimeoutMs: 0 });
      try {
        await mustBeEmpty(target);
        const moved = await moveRows(
          source,
          target,
          (table) => {
            desk.signal.throwIfAborted();
            if (!json)
              desk.note(`${table.table}: ${table.rows} rows, ${table.source.slice(0, 16)} on both sides`);
          },
          (table, rows) => {
            desk.signal.throwIfAborted();
            desk.progress(`${table}: ${rows} rows …`);
          },
        );
        if (json) await desk.print(jsonText(moved));
        desk.note(
          'Everything is there. Set DATABASE_URL to it, and APP_SECRET to what stands in the file app-secret, and start the page.',
        );
      } catch (error) {
        if (error instanceof RowsDiffer)
          throw new CommandFailure(
            `The rows of ${error.message} differ after they were copied, and the PostgreSQL is as it was. See that nothing else writes to either, and try again.`,
          );
        const sentence = explainDatabaseFailure(error, read.database, '--to');
        throw sentence === null ? error : new CommandFailure(sentence);
      } finally {
        await target.close();
      }
    });
}

/** @throws {CommandFailure} when tables or rows are there; nothing was changed then */
async function mustBeEmpty(target: OpenDatabase): Promise<void> {
  const others = await foreignTables(target.db);
  if (others.length > 0)
    throw new CommandFailure(
      `The PostgreSQL is not empty: another program has tables of our names there (${others.join(', ')}). Name an empty database.`,
    );
  await migrate(target);
  const filled = await filledTables(target.db);
  if (filled.length > 0)
    throw new CommandFailure(
      `The PostgreSQL is not empty: there are rows in ${filled.join(', ')}. Name an empty database.`,
    );
}
