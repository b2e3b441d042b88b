// `npm run test:logic`: every test that needs no browser, or those of the files that the command line names. PostgreSQL runs the files
// of on-postgres.ts; with --matrix (`npm run test:matrix`) it runs all.
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

import { readRecorded, sentToSqliteAlone, STATEMENTS_FOLDER_VARIABLE } from '#testing/compare-engines.ts';
import { POSTGRES_FILES_VARIABLE } from '#testing/databases.ts';
import { ON_POSTGRES } from '#testing/on-postgres.ts';
import { globalSetup, globalTeardown } from '#testing/test-setup.ts';

/**
 * What takes long begins first, or all would wait for it in the end. What waits most of the time (for the end of a mail server's
 * patience, a drain, a failover) stands between what computes.
 */
const LONGEST = [
  'server/run/restart',
  'server/run/main',
  'server/http/releases',
  'server/http/overload',
  'desk/desk',
  'server/db/engine/failover',
  'server/leads/leads',
  'desk/doctor/doctor',
  'server/limits/breaker',
  'server/observability/metrics',
  'server/mail/outbox/backlog',
  'server/campaign/campaign-files',
  'server/campaign/campaign-slips',
  'server/http/static-files',
  'server/mail/deliverability',
  'server/mail/outbox/mail-worker',
].map((name) => `${name}.test.ts`);

/** Two cores are kept busy by four, of which two wait. */
const AT_ONCE = 4;
/** A file, or one test of it, that takes this long hangs. */
const TIMEOUT_MS = 180_000;

const all = globSync('{shared,web,server,desk,deploy,testing}/**/*.test.ts');
const gone = [...LONGEST, ...ON_POSTGRES].filter((file) => !all.includes(file));
if (gone.length > 0)
  throw new Error(`There is no ${gone.join(', ')} (testing/run-logic.ts, testing/on-postgres.ts).`);
const isMatrix = process.argv.includes('--matrix');
const named = process.argv.slice(2).filter((word) => word !== '--matrix');
const files = named.length > 0 ? named : [...new Set([...LONGEST, ...all])];

if (!isMatrix) process.env[POSTGRES_FILES_VARIABLE] = ON_POSTGRES.join(' ');
const statements = mkdtempSync(path.join(tmpdir(), 'sent-statements-'));
process.env[STATEMENTS_FOLDER_VARIABLE] = statements;
await globalSetup();
try {
  const recorder = path.join(import.meta.dirname, 'record-statements.ts');
  const events = run({ files, concurrency: AT_ONCE, timeout: TIMEOUT_MS, execArgv: ['--import', recorder] });
  events.on('test:fail', () => {
    process.exitCode = 1;
  });
  for await (const words of events.compose(spec)) process.stdout.write(String(words));
  if (named.length === 0) reportSqliteAlone();
} finally {
  await globalTeardown();
  if (process.env['KEEP_STATEMENTS'] === undefined) rmSync(statements, { recursive: true });
}

/** A statement that PostgreSQL never got may be one that it does not understand. */
function reportSqliteAlone(): void {
  const alone = sentToSqliteAlone(readRecorded(statements));
  for (const [sql, file] of alone) process.stdout.write(`Sent to SQLite alone, by ${file}:\n  ${sql}\n`);
  if (alone.size === 0) return;
  process.stdout.write(
    `${alone.size} statements of the product were sent to SQLite and never to PostgreSQL. Add a test file that sends them to testing/on-postgres.ts.\n`,
  );
  process.exitCode = 1;
}
