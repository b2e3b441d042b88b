// Speed, start time and memory compared with floor.ts. Fails if memory grows or a flow is lost, but never because of a time. Needs Linux.
// speed.ts [sqlite] [postgres] [--only static,flows,memory,leads] [--short] [--flows 100000] [--leads 1000000] [--dry]
// speed.ts postgres --only processes | sqlite --only long-run (an hour, 8 GB of disk)
import { parseArgs } from 'node:util';

import { ENGINES, type Engine } from '#testing/databases.ts';
import { startPostgres } from '#testing/postgres-server.ts';
import type { Pace } from '#stress/speed/compare.ts';
import type { Surroundings } from '#stress/speed/contestants.ts';
import { measureFlows } from '#stress/speed/flows.ts';
import { measureLeads } from '#stress/speed/leads.ts';
import { measureLongRun, measureMemory } from '#stress/speed/memory.ts';
import type { Section } from '#stress/speed/section.ts';
import { measureProcesses } from '#stress/speed/processes.ts';
import { startSink } from '#stress/speed/sink.ts';
import { measureStatic } from '#stress/speed/static.ts';
import { conclude, report } from '#stress/harness/proof.ts';
import { table } from '#stress/harness/report.ts';

const USUAL_PARTS = ['static', 'flows', 'memory', 'leads'] as const;
const PARTS = [...USUAL_PARTS, 'long-run', 'processes'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: USUAL_PARTS.join() },
    short: { type: 'boolean', default: false },
    flows: { type: 'string' },
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
const LONG_RUN = short ? { flows: 2_000, leadsBefore: 1_000 } : { flows: 1_000_000, leadsBefore: 500_000 };
const LEADS = Number(values.leads ?? (short ? 20_000 : 1_000_000));

async function write(engine: Engine | null, { how, head, rows, figures }: Section): Promise<void> {
  process.stdout.write(`\n${how}\n\n${table(head, rows)}\n`);
  for (const [name, cells] of Object.entries(figures))
    await report(engine === null ? name : `${name}, ${engine}`, cells, !short);
}

const broken: string[] = [];
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
      const memory = await measureMemory(surroundings, { flows: FLOWS, starts: STARTS });
      await write(engine, memory);
      broken.push(...memory.broken.map((sentence) => `${engine}: ${sentence}`));
    }
    if (wants('long-run')) {
      const long = await measureLongRun(surroundings, LONG_RUN);
      await write(engine, long);
      broken.push(...long.broken.map((sentence) => `${engine}: ${sentence}`));
    }
    if (wants('processes')) await write(engine, await measureProcesses(surroundings, PACE));
    if (wants('leads')) {
      const leads = await measureLeads(surroundings, LEADS_PACE, { leads: LEADS, starts: STARTS });
      await write(engine, leads);
    }
  }
} finally {
  await postgres?.stop();
  sink.close();
}
conclude(broken);
