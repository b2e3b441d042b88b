// Has a transaction send each statement when it is begun, behind those begun before it. Kysely would hold it back until the one before is
// answered; on PostgreSQL, that is a round trip for each. Statements that need nothing from each other are begun together and awaited
// together; the database runs them in the order in which they were begun (31 round trips a flow became 11, docs/decisions/0035-sent-together.md).
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

/** The one connection of a transaction, which Kysely hands out at once when nobody uses it. */
function connectionOf(provider: ConnectionProvider): DatabaseConnection {
  let connection: DatabaseConnection | undefined;
  void provider.provideConnection(async (one) => {
    connection = one;
  });
  if (connection === undefined) throw new Error('The connection of a new transaction is in use.');
  return connection;
}

/**
 * Sends statements with the commit of their transaction, whose answer says whether they succeeded: to be used where no row of theirs is
 * needed. They must have been begun, not only be about to.
 * @param statements of the transaction that is about to end
 */
export function withCommit(...statements: readonly Promise<unknown>[]): void {
  for (const statement of statements) statement.catch(() => {});
}
