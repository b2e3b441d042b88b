// Answers to the questions of a campaign's own (campaign/form.yaml), with their labels, as JSON: beside the name, wherever it stands.
import type { Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Null for no answers: a process of the previous release writes rows without the column.
  const add = (table: string, column: string) =>
    db.schema.alterTable(table).addColumn(column, 'text').execute();
  for (const table of ['submissions', 'leads', 'imported_leads', 'corrections', 'imported_corrections'])
    await add(table, 'answers');
  for (const table of ['corrections', 'imported_corrections']) await add(table, 'answers_before');
}
