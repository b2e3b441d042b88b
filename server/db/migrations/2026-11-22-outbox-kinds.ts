// A row of the outbox says of which kind it is, and holds what that kind needs to make its message.
import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The defaults are for processes of the release before, which go on queueing codes while others have been restarted. They
  // also read "notice", so the column stands for them. No statement of this release names it; it may be dropped once that is true
  // of the release before, too.
  await db.schema
    .alterTable('outbox')
    .addColumn('kind', 'text', (column) => column.notNull().defaultTo('code'))
    .execute();
  await db.schema
    .alterTable('outbox')
    .addColumn('payload', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute();
  await sql`update outbox set kind = 'notice', payload = notice where notice is not null`.execute(db);
}
