// PostgreSQL plans a statement that has a name once for each connection, and a visitor's way is made of the same few
// statements. pg gives none a name by itself.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';

/** Several times what the server has; statements beyond are planned anew each time. */
const MOST_NAMES = 200;

/**
 * The pool of a dialect whose statements are prepared. Not those that ask for "*": a release that comes beside this one may add a
 * column, and PostgreSQL refuses a plan whose rows would change.
 */
export function preparing(pool: Pool): PostgresPool {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MOST_NAMES || text.includes('*')) return known;
    const name = `s${names.size + 1}`;
    names.set(text, name);
    return name;
  };

  // The dialect knows its connections by their clients.
  const clients = new WeakMap<PoolClient, PostgresPoolClient>();
  const prepare = (client: PoolClient): PostgresPoolClient => {
    const query = (text: string, values: readonly unknown[]) => {
      // Without values it is one of the few that need no plan: begin, commit, or what a migration does once.
      const name = values.length > 0 ? nameOf(text) : undefined;
      return client.query({ ...(name !== undefined && { name }), text, values: [...values] });
    };
    return Object.assign(Object.create(client) as PostgresPoolClient, { query });
  };

  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect();
      const known = clients.get(client) ?? prepare(client);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}
