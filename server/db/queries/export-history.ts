import type { Db } from '#server/db/engine/connect.ts';

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

/** PostgreSQL accepts 65,535 values per statement. */
const MOST_AT_ONCE = 1_000;

/** Skips leads erased meanwhile. */
export async function rememberExported(
  db: Db,
  { name, leadIds, now }: { name: string; leadIds: readonly string[]; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (let from = 0; from < leadIds.length; from += MOST_AT_ONCE) {
      await tx
        .insertInto('exported_leads')
        .columns(['export_name', 'lead_id', 'exported_at'])
        .expression((eb) =>
          eb
            .selectFrom('leads')
            .select((leads) => [
              leads.val(name).as('export_name'),
              'leads.id as lead_id',
              leads.val(now).as('exported_at'),
            ])
            .where('leads.id', 'in', leadIds.slice(from, from + MOST_AT_ONCE)),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
}
