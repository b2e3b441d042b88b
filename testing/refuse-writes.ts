import { sql } from 'kysely';

import type { OpenDatabase } from '#server/db/engine/connect.ts';

/**
 * @param event such as `insert on outbox`
 * @param when an SQL condition about `new`
 * @returns a function that ends the refusal
 */
export async function refuseWrites(
  { db, engine }: OpenDatabase,
  event: string,
  when = 'true',
): Promise<() => Promise<unknown>> {
  const run = (text: string) => sql.raw(text).execute(db);
  const isSqlite = engine === 'sqlite';
  if (!isSqlite)
    await run(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
    );
  const action = isSqlite ? `begin select raise(abort, 'refused'); end` : 'execute function refuse()';
  await run(`create trigger refuse before ${event} for each row when (${when}) ${action}`);
  return () => run(isSqlite ? 'drop trigger refuse' : `drop trigger refuse on ${event.split(' on ')[1]}`);
}
