// The desk with a million leads: an export beside the database's own, how much memory it takes, and that the whole chain of
// consents is sealed and checked. Usage: desk.ts [leads]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { residentBytes } from '#proofs/consumption.ts';
import { fillHistory } from '#proofs/history.ts';
import { measuredOn, table, writeReport } from '#proofs/report.ts';
import { conclude } from '#proofs/verdict.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { siteDatabaseUrl, siteSettings } from '#testing/start-site.ts';

const LEADS = Number(process.argv[2] ?? 1_000_000);
const MOST_MEMORY = 150e6;
const LOOK_MS = 20;
const PROJECT = path.resolve(import.meta.dirname, '..');
/** As `npm run desk` has it. */
const [, ...DESK] = (
  JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as { scripts: { desk: string } }
).scripts.desk.split(' ');
/** What the export says of each lead, for the database to write by itself. */
const DUMP = `select l.email, l.name, l.company, l.first_verified_at, l.last_verified_at, r.given_at, r.consent_version, w.text, l.attribution, l.flags
  from leads l left join consent_receipts r on r.id = (select id from consent_receipts where lead_id = l.id order by id desc limit 1)
  left join consent_wordings w on w.version = r.consent_version order by l.id`;

type Run = { readonly seconds: number; readonly bytes: number };
const broken: string[] = [];
const rows: string[][] = [];

/** Runs a program to its end; how long it took, and the most memory it held. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const begun = performance.now();
  const child = spawn(command, args, { env, cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number]>;
  let bytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    if (child.pid !== undefined) bytes = Math.max(bytes, memoryOf(child.pid));
    await setTimeout(LOOK_MS);
  }
  const [code] = await ended;
  if (code !== 0) broken.push(`${path.basename(command)} ${args.slice(1).join(' ')} ended with ${code}`);
  return { seconds: (performance.now() - begun) / 1000, bytes };
}

function memoryOf(pid: number): number {
  try {
    return residentBytes(pid);
  } catch {
    // It has ended.
    return 0;
  }
}

const countLines = (file: string): number => readFileSync(file, 'latin1').split('\n').length - 1;

async function measure(engine: Engine, postgresUrl: string): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'desk-proof-'));
  try {
    const databaseUrl = await siteDatabaseUrl(engine, postgresUrl);
    const settings = siteSettings(databaseUrl, { url: 'smtp://127.0.0.1:9' });
    await fillHistory({ folder, env: settings, engine }, LEADS);
    const env = {
      PATH: process.env['PATH'],
      INSTANCE_FOLDER: folder,
      CAMPAIGN_FOLDER: TEST_CAMPAIGN,
      ...settings,
    };
    const desk = (...args: readonly string[]) => run(process.execPath, [...DESK, ...args], env);
    const file = path.join(folder, 'leads.csv');
    const dump = path.join(folder, 'dump.csv');
    const own: readonly [string, readonly string[]] =
      engine === 'sqlite'
        ? ['sqlite3', ['-csv', path.join(folder, 'data', 'leads.db'), `.once ${dump}`, DUMP]]
        : ['psql', [databaseUrl, '-q', '-c', `\\copy (${DUMP.replaceAll('\n', ' ')}) to '${dump}' csv`]];
    // In turns, so that whatever else the machine does is shared.
    const exported = await desk('export', '--out', file);
    const dumped = await run(own[0], own[1], env);
    const again = await desk('export', '--format', 'jsonl', '--out', path.join(folder, 'leads.jsonl'));
    const marked = await desk('export', '--since-last', 'crm', '--out', path.join(folder, 'crm.csv'));
    const sealed = await desk('consent', 'anchor');
    const verified = await desk('consent', 'verify');
    if (countLines(file) !== LEADS + 1) broken.push(`${engine}: ${countLines(file)} lines in the export`);
    for (const [what, { seconds, bytes }] of [
      [`export --format csv, ${Math.round(statSync(file).size / 1e6)} MB`, exported],
      ['export --format jsonl', again],
      ['export --since-last, the first time', marked],
      ['consent anchor, which seals all of them', sealed],
      ['consent verify', verified],
    ] as const) {
      rows.push([
        what,
        engine,
        seconds.toFixed(1),
        what.startsWith('export') ? (seconds / dumped.seconds).toFixed(2) : '',
        String(Math.round(bytes / 1e6)),
      ]);
      process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`);
      if (bytes > MOST_MEMORY && !what.includes('since-last'))
        broken.push(`${engine}: ${what} held ${bytes} bytes`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const program of ['sqlite3', 'psql']) execFileSync(program, ['--version']);
const postgres = await startPostgres();
for (const engine of ENGINES) await measure(engine, postgres.url);
await postgres.stop();
await writeReport(
  'desk.md',
  'desk-million',
  `${measuredOn()} ${LEADS.toLocaleString('en')} leads. The ratio is to the database's own dump of the same to CSV (sqlite3, psql), in one run.\n\n${table(['what', 'engine', 'seconds', 'ratio', 'most memory, MB'], rows)}`,
);
conclude(broken);
