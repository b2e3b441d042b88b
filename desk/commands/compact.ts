// desk compact: rewrites the database, so that its files hold live rows only.
import { existsSync, statSync } from 'node:fs';

import type { Command } from '@commander-js/extra-typings';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import type { Config } from '#server/settings/settings.ts';
import { PLANNER_SAMPLES, rewriteDatabase, type Rewriting } from '#server/db/whole/compact.ts';

const COMPACT = 'npm run -s desk -- compact';
/** An erasure rewrites a database up to this size by itself: visitors wait for it, and still get an answer. */
const LARGEST_BYTES = 100_000_000;

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

/**
 * Takes what was just erased out of the database's files. Where that would keep visitors waiting, says how to do it later.
 * @throws {CommandFailure} when it could not be done
 */
export async function removeRemains(desk: Desk, database: Config['database']): Promise<void> {
  const rewriting = await rewriteDatabase(database, { largestBytes: LARGEST_BYTES });
  if (rewriting.type === 'rewritten') return;
  // PostgreSQL's samples of the columns belong to the owner of the database; the page may run as another user.
  const isForTheOwner =
    rewriting.type === 'left' && rewriting.tables.every((table) => table === PLANNER_SAMPLES);
  if (rewriting.type === 'too large' || isForTheOwner) desk.note(sayRemains(rewriting));
  else throw new CommandFailure(`The rows are erased. ${sayRemains(rewriting)}`);
}

function sayRemains(rewriting: Exclude<Rewriting, { type: 'rewritten' }>): string {
  switch (rewriting.type) {
    case 'too large':
      return `The database is larger than ${sayBytes(LARGEST_BYTES)}, so it was not rewritten, and its files may hold traces. Take them out at a quiet hour: ${COMPACT}`;
    case 'in use':
      return `Its files may hold traces: what was deleted is still in use, by something that began earlier (an export, a backup, a shell). Wait for its end, then call: ${COMPACT}`;
    case 'left':
      return `Its files may hold traces: ${rewriting.tables.join(', ')} could not be rewritten. At a quiet hour, and as the owner of the database, call: ${COMPACT}`;
    case 'no room':
      return `There is no room on the disk to rewrite the database, whose files may hold traces. Make ${sayBytes(rewriting.neededBytes)} free, then call: ${COMPACT}`;
  }
}

const sizeOf = (database: Config['database']): number | null =>
  database.engine === 'sqlite' && existsSync(database.file) ? statSync(database.file).size : null;

const sayBytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;
