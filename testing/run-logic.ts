// `npm run test:logic [files]` runs every test without a browser. PostgreSQL runs the tests that on-each-engine.ts explains, or
// all with --matrix. Loading the server takes two seconds, so the files of one room share a process.
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { readRecorded, sentOnlyToSqlite, STATEMENTS_FOLDER_VARIABLE } from '#testing/compare-engines.ts';
import { MATRIX_VARIABLE } from '#testing/databases.ts';
import { WORKER_VARIABLE } from '#testing/free-port.ts';
import { TEST_FILES_VARIABLE, TEST_PROCESS } from '#testing/test-process.ts';
import { globalSetup, globalTeardown } from '#testing/test-setup.ts';

/** Files that start processes, mostly wait, or replace globals: each runs in its own process, first. */
const ALONE = [
  'server/startup/restart',
  'server/startup/main',
  'server/http/releases',
  'server/http/overload',
  'desk/desk',
  'server/db/engine/failover',
  'desk/doctor/doctor',
  'server/startup/refused-starts',
  'server/log/metrics',
  'server/campaign/campaign-files',
].map((name) => `${name}.test.ts`);

/** Six processes keep two cores busy, because some wait. */
const CONCURRENCY = 6;
/** With more lines per process, the last one would run while the others are idle. */
const MAX_LINES = 1_500;

type Group = { readonly name: string; readonly files: readonly string[] };

const all = globSync('{shared,web,server,desk,deploy,testing}/**/*.test.ts').sort();
const missing = ALONE.filter((file) => !all.includes(file));
if (missing.length > 0) throw new Error(`${missing.join(', ')} does not exist. Change testing/run-logic.ts.`);
if (process.argv.includes('--matrix')) process.env[MATRIX_VARIABLE] = 'yes';
const named = process.argv.slice(2).filter((word) => word !== '--matrix');

const statements = mkdtempSync(path.join(tmpdir(), 'sent-statements-'));
process.env[STATEMENTS_FOLDER_VARIABLE] = statements;
await globalSetup();
try {
  const groups = groupByRoom(named.length > 0 ? named : all);
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, worker) => {
      for (let group = groups.shift(); group !== undefined; group = groups.shift())
        if (!(await runGroup(group, worker))) process.exitCode = 1;
    }),
  );
  if (named.length === 0) reportSqliteOnly();
} finally {
  await globalTeardown();
  if (process.env['KEEP_STATEMENTS'] === undefined) rmSync(statements, { recursive: true });
}

function groupByRoom(files: readonly string[]): Group[] {
  const slow = ALONE.filter((file) => files.includes(file)).map((file) => ({ name: file, files: [file] }));
  const rooms = Map.groupBy(
    files.filter((file) => !ALONE.includes(file)),
    (file) => path.dirname(file).split(path.sep).slice(0, 2).join('/'),
  );
  const groups = [...rooms].flatMap(([name, inRoom]) =>
    inChunks(inRoom).map((chunk) => ({ name, files: chunk })),
  );
  return [...slow, ...groups.sort((a, b) => linesOf(b.files) - linesOf(a.files))];
}

function inChunks(files: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  for (const file of files) {
    const last = chunks.at(-1);
    if (last === undefined || linesOf([...last, file]) > MAX_LINES) chunks.push([file]);
    else last.push(file);
  }
  return chunks;
}

function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length, 0);
}

async function runGroup({ name, files }: Group, worker: number): Promise<boolean> {
  const startedAt = Date.now();
  // A file, because --test-force-exit cuts off output that is still in a pipe.
  const report = path.join(mkdtempSync(path.join(tmpdir(), 'test-report-')), 'report');
  const child = spawn(
    process.execPath,
    [
      '--import',
      path.join(import.meta.dirname, 'record-statements.ts'),
      `--test-reporter-destination=${report}`,
      ...TEST_PROCESS,
    ],
    {
      env: {
        ...process.env,
        [TEST_FILES_VARIABLE]: files.join(path.delimiter),
        [WORKER_VARIABLE]: String(worker),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exitCode = await new Promise((resolve) => child.once('close', resolve));
  if (existsSync(report)) output += readFileSync(report, 'utf8');
  rmSync(path.dirname(report), { recursive: true });
  const counted = (word: string) => Number(new RegExp(`^ℹ ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const passed = exitCode === 0 && counted('pass') > 0;
  if (!passed) process.stdout.write(`${output.slice(Math.max(0, output.indexOf('✖ failing tests:')))}\n`);
  process.stdout.write(
    `${passed ? '✔' : '✖'} ${name} (${files.length} files): ${counted('pass')} passed, ${counted('fail')} failed, ${counted('skipped')} skipped, ${seconds} s\n`,
  );
  return passed;
}

function reportSqliteOnly(): void {
  const statementsOnlyInSqlite = sentOnlyToSqlite(readRecorded(statements));
  for (const [sql, files] of statementsOnlyInSqlite)
    process.stdout.write(`Sent only to SQLite, by ${files}:\n  ${sql}\n`);
  if (statementsOnlyInSqlite.size === 0) return;
  process.stdout.write(
    `${statementsOnlyInSqlite.size} statements of the product were sent to SQLite and never to PostgreSQL. Run a test that sends them on both (testing/on-each-engine.ts).\n`,
  );
  process.exitCode = 1;
}
