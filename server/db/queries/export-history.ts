import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { errorCode } from '#server/platform/system-errors.ts';

/** `at` is the time of all rows of the export, in milliseconds since 1970. */
export type ExportRun = { readonly name: string; readonly at: number };

export type NamedExport = {
  readonly name: string;
  readonly last: ExportRun & { readonly leads: number };
  readonly leads: number;
};

export async function listExports(db: Db): Promise<readonly NamedExport[]> {
  const rows = await db
    .selectFrom('exported_leads')
    .select((eb) => ['export_name', 'exported_at', eb.fn.countAll().as('leads')])
    .groupBy(['export_name', 'exported_at'])
    .orderBy('exported_at')
    .execute();
  const found = new Map<string, NamedExport>();
  for (const { export_name: name, exported_at: at, leads: count } of rows) {
    const last = { name, at, leads: Number(count) };
    found.set(name, { name, last, leads: last.leads + (found.get(name)?.leads ?? 0) });
  }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** On PostgreSQL. */
const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Skips leads erased meanwhile.
 * @param exported leadIds: a page of the export, so a few thousand at most
 */
export async function rememberExported(
  db: Db,
  { name, leadIds, now }: { name: string; leadIds: readonly string[]; now: number },
): Promise<void> {
  if (leadIds.length === 0) return;
  try {
    await sql`
      insert into exported_leads (export_name, lead_id, exported_at)
      select ${name}, id, ${now} from leads where id in (${sql.join(leadIds)})
      on conflict do nothing
    `.execute(db);
  } catch (error) {
    // A lead was erased during the statement.
    if (errorCode(error) !== FOREIGN_KEY_VIOLATION) throw error;
    await rememberExported(db, { name, leadIds, now });
  }
}
