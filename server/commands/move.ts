// desk move: from SQLite to PostgreSQL.
import type { Command } from '@commander-js/extra-typings';

import { CommandFailure, type Desk } from '#server/commands/desk.ts';
import { openDatabase } from '#server/db/connect.ts';
import { migrate } from '#server/db/migrate.ts';
import { filledTables, moveRows } from '#server/db/move.ts';
import { isDatabaseOpen } from '#server/db/restore.ts';
import { readInstance } from '#server/service.ts';
import { explainDatabaseFailure } from '#server/start-failures.ts';

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
      if (!/^postgres(ql)?:\/\//.test(to))
        throw new CommandFailure('Say where to: an address such as postgres://user@host/name.', 2);
      const instance = readInstance();
      if (instance.type === 'complaints') throw new CommandFailure(instance.complaints.join('\n'));
      const { database } = instance.config;
      if (database.engine !== 'sqlite')
        throw new CommandFailure('The database is PostgreSQL already. pg_dump and pg_restore move it.');
      if (isDatabaseOpen(database.file))
        throw new CommandFailure(
          `${database.file} is in use. Stop the page first: what visitors do meanwhile would be missing.`,
        );
      // Brings it up to date, too.
      const { database: source } = await desk.service();
      const config = { engine: 'postgres', url: to } as const;
      const target = openDatabase(config, () => {}, { statementTimeoutMs: 0 });
      try {
        await migrate(target);
        const filled = await filledTables(target.db);
        if (filled.length > 0)
          throw new CommandFailure(
            `The PostgreSQL is not empty: there are rows in ${filled.join(', ')}. Name an empty database.`,
          );
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
        if (json) await desk.print(`${JSON.stringify(moved, null, 2)}\n`);
        desk.note(
          'Everything is there. Set DATABASE_URL to it, and APP_SECRET to what stands in the file app-secret, and start the page.',
        );
      } catch (error) {
        const sentence = explainDatabaseFailure(error, config);
        throw sentence === null ? error : new CommandFailure(sentence);
      } finally {
        await target.close();
      }
    });
}
