// Measures a million leads: the export compared with the database's own dump, memory and the consent chain. Usage: desk.ts [leads] [--dry]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { peakBytes } from '#stress/harness/consumption.ts';
import { fillHistory } from '#stress/harness/history.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { median } from '#stress/harness/report.ts';
import { watchWhile } from '#stress/harness/watch.ts';
import { ENGINES, type Engine } from '#testing/databases.ts';

const LEADS = argument(0, 1_000_000);
const MOST_MEMORY = 150e6;
const TURNS = 3;
const LOOK_MS = 20;
const PROJECT = path.resolve(import.meta.dirname, '..');
const [, ...DESK] = (
  JSON.parse(readFileSync(path.join(PROJECT, 'package.json'), 'utf8')) as { scripts: { desk: string } }
).scripts.desk.split(' ');
const DUMP = `select l.email, l.name, l.company, l.first_verified_at, l.last_verified_at, r.given_at, r.consent_version, w.text, l.attribution, l.flags
  from leads l left join consent_receipts r on r.id = (select id from consent_receipts where lead_id = l.id order by id desc limit 1)
  left join consent_wordings w on w.version = r.consent_version order by l.id`;

type Run = { readonly seconds: number; readonly bytes: number };
const proof = createProof('prove:desk');
const rows = proof.rows('what', 'engine', 'seconds', 'ratio', 'most memory, MB');

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Run> {
  const begun = performance.now();
  const child = spawn(command, args, { env, cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'] });
  const { looks, result: end } = await watchWhile(
    () => memoryOf(child.pid ?? 0),
    LOOK_MS,
    async () => {
      const [code] = (await once(child, 'exit')) as [number | null];
      proof.expect(code === 0, `${path.basename(command)} ${args.slice(1).join(' ')} ended with ${code}`);
      return performance.now();
    },
  );
  return { seconds: (end - begun) / 1000, bytes: Math.max(...looks) };
}

function memoryOf(pid: number): number {
  try {
    return peakBytes(pid);
  } catch {
    return 0;
  }
}

const medianOf = (runs: readonly Run[]): Run => ({
  seconds: median(runs.map(({ seconds }) => seconds)),
  bytes: Math.max(...runs.map(({ bytes }) => bytes)),
});

const countLines = (file: string): number => readFileSync(file, 'latin1').split('\n').length - 1;

async function measure(engine: Engine): Promise<void> {
  const site = await proof.prepareSite(engine);
  const { folder, databaseUrl } = site;
  try {
    await fillHistory({ ...site, engine }, LEADS, { seal: false });
    const env = { PATH: process.env['PATH'], INSTANCE_FOLDER: folder, ...site.env };
    const desk = (...args: readonly string[]) => run(process.execPath, [...DESK, ...args], env);
    const file = path.join(folder, 'leads.csv');
    const dump = path.join(folder, 'dump.csv');
    const own: readonly [string, readonly string[]] =
      engine === 'sqlite'
        ? ['sqlite3', ['-csv', path.join(folder, 'data', 'leads.db'), `.once ${dump}`, DUMP]]
        : ['psql', [databaseUrl, '-q', '-c', `\\copy (${DUMP.replaceAll('\n', ' ')}) to '${dump}' csv`]];
    // The runs alternate, so other load affects both.
    const dumps: Run[] = [];
    const exports: Run[] = [];
    const ratios: number[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const exported = await desk('export', '--out', file);
      const dumped = await run(own[0], own[1], env);
      exports.push(exported);
      dumps.push(dumped);
      ratios.push(exported.seconds / dumped.seconds);
    }
    const dumped = medianOf(dumps);
    const again = await desk('export', '--format', 'jsonl', '--out', path.join(folder, 'leads.jsonl'));
    const marked = await desk('export', '--since-last', 'crm', '--out', path.join(folder, 'crm.csv'));
    const sealed = await desk('consent', 'anchor');
    const verified = await desk('consent', 'verify');
    proof.expect(countLines(file) === LEADS + 1, `${engine}: ${countLines(file)} lines in the export`);
    const inCsv = `export --format csv, ${Math.round(statSync(file).size / 1e6)} MB`;
    for (const [what, { seconds, bytes }] of [
      [`${own[0]}, its own dump, ${Math.round(statSync(dump).size / 1e6)} MB`, dumped],
      [inCsv, medianOf(exports)],
      ['export --format jsonl', again],
      ['export --since-last, the first time', marked],
      ['consent anchor, which seals all of them', sealed],
      ['consent verify', verified],
    ] as const) {
      rows.add(
        what,
        engine,
        seconds.toFixed(1),
        what === inCsv
          ? median(ratios).toFixed(2)
          : what.startsWith('export')
            ? (seconds / dumped.seconds).toFixed(2)
            : '',
        Math.round(bytes / 1e6),
      );
      proof.expect(
        bytes <= MOST_MEMORY || what.includes('since-last'),
        `${engine}: ${what} held ${bytes} bytes`,
      );
    }
  } finally {
    await site.close();
  }
}

for (const program of ['sqlite3', 'psql']) execFileSync(program, ['--version']);
for (const engine of ENGINES) await measure(engine);
await proof.end(
  `${LEADS.toLocaleString('en')} leads. ${ENGINES.map((engine) => `${engine}: CSV export ${rows.range('seconds', engine, '--format csv')} s (${rows.range('ratio', engine, '--format csv')} of the database's own dump), consent anchor ${rows.range('seconds', engine, 'anchor')} s, consent verify ${rows.range('seconds', engine, 'verify')} s; at most ${rows.range('most memory, MB', engine, '--since-last')} MB (export --since-last)`).join('. ')}`,
  rows.table(),
);
