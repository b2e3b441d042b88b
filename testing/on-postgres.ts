/** The test files that run on PostgreSQL as well as on SQLite. */
export const ON_POSTGRES: readonly string[] = [];
