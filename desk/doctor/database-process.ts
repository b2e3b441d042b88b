// A process of its own that looks at the database for the doctor: reading a large file would keep everything else waiting, and
// a process can be ended whatever it hangs at. Is told the settings of the database, and tells what it has seen.
import process from 'node:process';

import type { Config } from '#server/settings/settings.ts';
import { findDamage, lookAtDatabase, type Look } from '#server/db/whole/look-at-database.ts';
import { explainDatabaseFailure } from '#server/run/why-the-start-failed.ts';

export type Sight =
  | { readonly type: 'look'; readonly look: Look }
  | { readonly type: 'damage'; readonly damage: readonly string[] }
  | { readonly type: 'failed'; readonly sentence: string };

const tell = (sight: Sight): Promise<void> =>
  new Promise((resolve) => process.send?.(sight, undefined, undefined, () => resolve()));

process.once('message', (database: Config['database']) => {
  void look(database).finally(() => process.disconnect());
});

async function look(database: Config['database']): Promise<void> {
  try {
    await tell({ type: 'look', look: await lookAtDatabase(database) });
    if (database.engine === 'sqlite') await tell({ type: 'damage', damage: findDamage(database.file) });
  } catch (error) {
    const sentence =
      explainDatabaseFailure(error, database) ??
      `The database cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    await tell({ type: 'failed', sentence });
  }
}
