// Speed, start time and memory compared with floor.ts. Fails if memory grows, a flow is lost or many leads slow it down. Needs Linux.
// speed.ts [sqlite] [postgres] [--only static,flows,memory,leads] [--short] [--flows 100000] [--before 0] [--leads 1000000]
// [--dry]; speed.ts postgres --only processes
import { parseArgs } from 'node:util';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import { measureFlows, measureLeads, measureStatic, type Pace, type Section } from '#stress/speed/compare.ts';
import type { Surroundings } from '#stress/speed/contestants.ts';
import { measureMemory } from '#stress/speed/memory.ts';
import { measureProcesses } from '#stress/speed/processes.ts';
import { startSink } from '#stress/speed/sink.ts';
import { conclude, report } from '#stress/harness/proof.ts';
import { table } from '#stress/harness/report.ts';

const USUAL_PARTS = ['static', 'flows', 'memory', 'leads'] as const;
const PARTS = [...USUAL_PARTS, 'processes'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: USUAL_PARTS.join() },
    short: { type: 'boolean', default: false },
    flows: { type: 'string' },
    before: { type: 'string', default: '0' },
    leads: { type: 'string' },
    dry: { type: 'boolean' },
  },
});
const { short } = values;
const parts = values.only.split(',');
const wants = (part: (typeof PARTS)[number]): boolean => parts.includes(part);
const unknown = [
  ...parts.filter((name) => !PARTS.some((part) => part === name)),
  ...positionals.filter((name) => !ENGINES.some((engine) => engine === name)),
];
if (unknown.length > 0) {
  process.stderr.write(`Parts are ${PARTS.join()}, engines ${ENGINES.join()}; not ${unknown.join()}.\n`);
  process.exit(1);
}
const engines = ENGINES.filter((engine) => positionals.length === 0 || positionals.includes(engine));

const PACE: Pace = short
  ? { rounds: 3, turnMs: 500, warmUpMs: 1_500 }
  : { rounds: 7, turnMs: 5_000, warmUpMs: 8_000 };
/** This ratio is near one and needs more rounds. */
const LEADS_PACE: Pace = { ...PACE, rounds: short ? 3 : 9 };
const STARTS = short ? 1 : 5;
const FLOWS = Number(values.flows ?? (short ? 1_000 : 100_000));
const LEADS_BEFORE = Number(values.before);
const LEADS = Number(values.leads ?? (short ? 20_000 : 1_000_000));

const allBroken: string[] = [];

async function write(
  engine: Engine | null,
  { how, head, rows, figures, broken = [] }: Section,
): Promise<void> {
  allBroken.push(...broken.map((sentence) => `${engine}: ${sentence}`));
  process.stdout.write(`\n${how}\n\n${table(head, rows)}\n`);
  for (const [name, cells] of Object.entries(figures))
    await report(engine === null ? name : `${name}, ${engine}`, cells, !short);
}

const sink = await startSink();
const needsPostgres = engines.includes('postgres') && parts.some((part) => part !== 'static');
const postgres = needsPostgres ? await startPostgres() : null;
const surroundingsOf = (engine: Engine): Surroundings => ({ engine, postgresUrl: postgres?.url, sink });
try {
  if (wants('static')) await write(null, await measureStatic(surroundingsOf('sqlite'), PACE));
  for (const engine of engines) {
    process.stdout.write(`${engine}\n`);
    const surroundings = surroundingsOf(engine);
    if (wants('flows')) await write(engine, await measureFlows(surroundings, PACE));
    if (wants('memory')) {
      const size = { flows: FLOWS, leadsBefore: LEADS_BEFORE, starts: STARTS };
      await write(engine, await measureMemory(surroundings, size));
    }
    if (wants('processes')) await write(engine, await measureProcesses(surroundings, PACE));
    if (wants('leads'))
      await write(engine, await measureLeads(surroundings, LEADS_PACE, { leads: LEADS, starts: STARTS }));
  }
} finally {
  await postgres?.stop();
  sink.close();
}
conclude(allBroken);
