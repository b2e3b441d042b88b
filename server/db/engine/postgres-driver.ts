// Kysely's driver for PostgreSQL, but for the beginning of a transaction: it goes along with the first statement.
import { CompiledQuery, PostgresDriver, type Driver, type PostgresPool } from 'kysely';

export function createPostgresDriver(pool: PostgresPool): Driver {
  const driver = new PostgresDriver({ pool });
  const begin: Driver['beginTransaction'] = driver.beginTransaction.bind(driver);
  return Object.assign(driver, {
    beginTransaction: async (...[connection, settings]: Parameters<Driver['beginTransaction']>) => {
      if (settings.isolationLevel !== undefined || settings.accessMode !== undefined)
        return begin(connection, settings);
      // It fails only with its connection, and then so do the statements behind it.
      connection.executeQuery(CompiledQuery.raw('begin')).catch(() => {});
    },
  });
}
