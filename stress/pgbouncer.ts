// The server's tests through a PgBouncer with transaction pooling. Usage: pgbouncer.ts [arguments of "node --test"]
import { spawnSync } from 'node:child_process';

import { PGBOUNCER_URL_VARIABLE, POSTGRES_URL_VARIABLE } from '#testing/databases.ts';
import { startPgBouncer } from '#testing/pgbouncer.ts';
import { findProgram, notTested } from '#testing/programs.ts';
import { startPostgres } from '#testing/postgres-server.ts';

if (findProgram('pgbouncer') === undefined) {
  process.stderr.write(`${notTested('pgbouncer')}\n`);
  process.exit(1);
}
const named = process.argv.slice(2);
const postgres = await startPostgres();
const pgBouncer = await startPgBouncer(postgres.url);
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-global-setup=testing/test-setup.ts',
    // pgbouncer.test.ts puts its own PgBouncer in front of a plain database.
    ...(named.length > 0 ? named : ['server/**/!(pgbouncer).test.ts']),
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      [POSTGRES_URL_VARIABLE]: postgres.url,
      [PGBOUNCER_URL_VARIABLE]: pgBouncer.through(postgres.url),
    },
  },
);
await pgBouncer.stop();
await postgres.stop();
process.exitCode = status ?? 1;
