// Sends each statement of a transaction as soon as it is begun. Kysely would wait for the answer to the one before: on PostgreSQL, one
// round trip each (31 a flow became 11, docs/decisions/0035-sent-together.md). Statements that need nothing from each other are begun
// together and awaited together; the database runs them in the order in which they were begun.
import type { ConnectionProvider, DatabaseConnection, Kysely, QueryExecutor } from 'kysely';

/** Changes an open database. To be called once, before its first transaction. */
export function sendAtOnce<Tables>(db: Kysely<Tables>): Kysely<Tables> {
  const executor = db.getExecutor();
  const original = executor.withConnectionProvider.bind(executor);
  const bind = (provider: ConnectionProvider): QueryExecutor => {
    const connection = connectionOf(provider);
    const bound = original(provider);
    return Object.assign(bound, {
      executeQuery: connection.executeQuery.bind(connection),
      // A transaction asks for one more executor with each statement, and gives itself as the provider.
      withConnectionProvider: (next: ConnectionProvider) => ('executeQuery' in next ? bound : bind(next)),
    });
  };
  Object.assign(executor, { withConnectionProvider: bind });
  return db;
}

/** The one connection of a transaction, which Kysely hands out at once while it is not in use. */
function connectionOf(provider: ConnectionProvider): DatabaseConnection {
  let connection: DatabaseConnection | undefined;
  void provider.provideConnection(async (one) => {
    connection = one;
  });
  if (connection === undefined) throw new Error('The connection of a new transaction is in use.');
  return connection;
}
