import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

import type { Command } from '@commander-js/extra-typings';

import { copyRows, describeUnfit } from '#desk/commands/backup.ts';
import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { databaseFailure, fileOf, isInUse, readDeskInstance, type Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { temporaryNameFor, resolveOutputFile, explainWriteErrors } from '#desk/commands/output-file.ts';
import { counted } from '#desk/printable.ts';
import { openDatabase, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { filledTables, foreignTables, otherConnections } from '#server/db/backup/move.ts';
import { databaseFiles, inspectDatabase } from '#server/db/backup/backup.ts';
import { describeHost } from '#server/platform/database-url.ts';
import { readOtherDatabase } from '#server/settings/env-file.ts';
import type { Config } from '#server/settings/settings.ts';

type DatabaseConfig = Config['database'];
type ConfigOf<Engine extends DatabaseConfig['engine']> = Extract<DatabaseConfig, { engine: Engine }>;

export function addMove(program: Command, desk: Desk): void {
  program
    .command('move')
    .description(
      'copy everything from SQLite to an empty PostgreSQL database, or from PostgreSQL to a new file',
    )
    .requiredOption('--to <address>', 'postgres://user:password@host/name, or file:./data/leads.db')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Stop the site first. No other client may be connected to PostgreSQL, not even a pooler. Copies in one transaction and compares
counts and checksums of every table.
${examples('move --to postgres://guide@db.example.com/leads?sslmode=verify-full', 'move --to file:./data/leads.db')}`,
    )
    .action(async ({ to, json = false }) => {
      const { database: from, appSecrets } = readDeskInstance().config;
      const read = readOtherDatabase('--to', to);
      if (read.type === 'mistakes') throw new CommandFailure(read.mistakes.join('\n'), 2);
      const { database: target } = read;
      if (from.engine === target.engine)
        throw new CommandFailure(
          from.engine === 'postgres'
            ? 'The database is already PostgreSQL. Use pg_dump and pg_restore to move it.'
            : 'The database is already a file. Use npm run -s desk -- backup to copy it.',
        );
      if (from.engine === 'sqlite') await mustNotBeInUse(desk, from);
      else await mustHaveNoOtherClients(from);
      for (const warning of read.warnings) desk.note(`Warning: ${warning}`);
      // Opening the service migrates the source.
      const { database: source } = await desk.service();
      const copy = (into: OpenDatabase) => copyRows(desk, { source, target: into, isVerbose: !json });
      const moved = await (
        target.engine === 'sqlite' ? toFile(target, copy) : toPostgres(target, copy)
      ).catch((error: unknown) => {
        throw databaseFailure(error, target, '--to');
      });
      if (json) await desk.print(jsonText(moved));
      const advice =
        appSecrets.length > 0 ? ', keep APP_SECRET' : ' and APP_SECRET to the content of the file app-secret';
      desk.note(
        `Everything was copied. Set DATABASE_URL to ${target.engine === 'sqlite' ? to : 'the new database'}${advice}, and start the site.`,
      );
    });
}

const CLOSING_CHECKS = 10;
const CLOSING_PAUSE_MS = 100;

async function mustNotBeInUse(desk: Desk, database: ConfigOf<'sqlite'>): Promise<void> {
  const file = fileOf(database);
  if (isInUse(database))
    throw new CommandFailure(
      `${file} is in use. Stop the site first, so that no changes by visitors are lost.`,
    );
  desk.progress(`Checking ${file} …`);
  const found = existsSync(file) ? await inspectDatabase(file) : null;
  if (found !== null && found.type !== 'fit')
    throw new CommandFailure(
      `Nothing was copied, because ${file} ${describeUnfit(found)}. Restore an intact backup, or recover the data (docs/running.md).`,
    );
}

export async function mustHaveNoOtherClients(database: ConfigOf<'postgres'>): Promise<void> {
  const probe = openDatabase(database, () => {});
  try {
    let others = await otherConnections(probe.db);
    // PostgreSQL takes a moment to end the connections of a site that has just stopped.
    for (let checks = 0; others > 0 && checks < CLOSING_CHECKS; checks += 1) {
      await setTimeout(CLOSING_PAUSE_MS);
      others = await otherConnections(probe.db);
    }
    if (others > 0)
      throw new CommandFailure(
        `PostgreSQL at ${describeHost(database.url)} is in use (${counted(others, 'other connection')}). Stop the site and all other clients, including poolers, so that no changes by visitors are lost.`,
      );
  } finally {
    await probe.close();
  }
}

export async function toPostgres<Result>(
  database: ConfigOf<'postgres'>,
  copy: (target: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  const target = openDatabase(database, () => {}, { statementTimeoutMs: 0 });
  try {
    await mustBeEmpty(target);
    return await copy(target);
  } finally {
    await target.close();
  }
}

/** Writes under another name first, so the file is either complete or absent. */
async function toFile<Result>(
  { file }: ConfigOf<'sqlite'>,
  copy: (target: OpenDatabase) => Promise<Result>,
): Promise<Result> {
  if (file === ':memory:')
    throw new CommandFailure(
      'A database in memory is lost when the command ends. Name a file, such as file:./data/leads.db.',
    );
  const filePath = await explainWriteErrors(file, () => resolveOutputFile(file, 'a database'));
  for (const name of databaseFiles(filePath))
    if (existsSync(name)) throw new CommandFailure(`${name} already exists. Name a new file.`);
  const temporary = temporaryNameFor(filePath);
  try {
    const target = openDatabase({ engine: 'sqlite', file: temporary }, () => {});
    let result: Result;
    try {
      await migrate(target);
      result = await copy(target);
    } finally {
      await target.close();
    }
    await explainWriteErrors(filePath, () => rename(temporary, filePath));
    return result;
  } finally {
    for (const name of databaseFiles(temporary)) await rm(name, { force: true });
  }
}

async function mustBeEmpty(target: OpenDatabase): Promise<void> {
  const others = await foreignTables(target.db);
  if (others.length > 0)
    throw new CommandFailure(
      `The PostgreSQL database already contains another program’s tables with the same names (${others.join(', ')}). Name an empty database.`,
    );
  await migrate(target);
  const filled = await filledTables(target.db);
  if (filled.length > 0)
    throw new CommandFailure(
      `The PostgreSQL database already contains rows in ${filled.join(', ')}. Name an empty database.`,
    );
}
