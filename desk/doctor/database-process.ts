// A separate process can be killed while it hangs, and does not block the doctor.
import process from 'node:process';

import type { Config } from '#server/settings/settings.ts';
import { findDamage, lookAtDatabase, type Look } from '#server/db/health.ts';
import { explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';

export type DatabaseReport =
  | { readonly type: 'look'; readonly look: Look }
  | { readonly type: 'damage'; readonly damage: readonly string[] }
  | { readonly type: 'failed'; readonly sentence: string };

const send = (report: DatabaseReport): Promise<void> =>
  new Promise((resolve) => process.send?.(report, undefined, undefined, () => resolve()));

process.once('message', (database: Config['database']) => {
  void look(database).finally(() => process.disconnect());
});

async function look(database: Config['database']): Promise<void> {
  try {
    await send({ type: 'look', look: await lookAtDatabase(database) });
    if (database.engine === 'sqlite') await send({ type: 'damage', damage: findDamage(database.file) });
  } catch (error) {
    const sentence =
      explainDatabaseFailure(error, database) ??
      `The database cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    await send({ type: 'failed', sentence });
  }
}
