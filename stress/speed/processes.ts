// One PostgreSQL with one, two and four of our processes, and the processor time per flow, for docs/postgres.md. All share this machine, so
// more processes show cost, not speed.
import os from 'node:os';

import { defineCase } from '#stress/harness/cases.ts';
import { processorSeconds } from '#stress/harness/consumption.ts';
import { median } from '#stress/harness/report.ts';
import { paceOf, type Pace } from '#stress/speed/compare.ts';
import { clear, enterOurs, start, type Contestant } from '#stress/speed/contestants.ts';
import { closedLoop, forMs, quantile, type Visitors } from '#stress/speed/loops.ts';
import { startSink } from '#stress/speed/sink.ts';

const COUNTS = [1, 2, 4];
const VISITORS = 64;

export const processes = defineCase({ short: false }, async (trial, { short }) => {
  using sink = await startSink();
  const pace = paceOf(short);
  const rows = trial.rows(
    'processes',
    'flows a second',
    'p99, in ms',
    'our processor time of a flow, in ms',
    'PostgreSQL’s and the system’s',
    'cores busy, in %',
    'failed',
  );
  const entrant = await enterOurs({ trial, engine: 'postgres', sink });
  const turns = new Map<number, Turn[]>(COUNTS.map((count) => [count, []]));
  for (let round = 0; round < pace.rounds; round += 1)
    for (const count of COUNTS) {
      const contestants: Contestant[] = [];
      // Started one after the other, because the first creates the tables.
      for (let at = 0; at < count; at += 1) contestants.push(await start(entrant, sink));
      turns.get(count)!.push(await turn(contestants, pace));
      for (const { stop } of contestants) await stop();
    }
  clear(entrant);
  const summary = COUNTS.map((count) => {
    const seen = turns.get(count)!;
    const of = (what: keyof Turn, digits: number) => median(seen.map((each) => each[what])).toFixed(digits);
    const failed = seen.reduce((sum, each) => sum + each.failed, 0);
    const [perSecond, p99, busy] = [of('perSecond', 0), of('p99', 0), of('busyPercent', 0)];
    const [oursMs, databaseMs] = [of('oursMs', 2), of('databaseMs', 2)];
    rows.add(count, perSecond, p99, oursMs, databaseMs, busy, failed);
    return `${count}: ${perSecond} flows a second, p99 ${p99} ms, ${oursMs} ms of our processor time and ${databaseMs} of PostgreSQL’s, cores ${busy} % busy`;
  });
  await trial.figure('processes, postgres', [summary.join('; ')], !short);
  return null;
});

type Turn = {
  readonly perSecond: number;
  readonly p99: number;
  readonly failed: number;
  /** Milliseconds of processor time per flow: our processes, then everything else except the visitors. */
  readonly oursMs: number;
  readonly databaseMs: number;
  readonly busyPercent: number;
};

function inTurn(contestants: readonly Contestant[]): Visitors {
  let next = 0;
  return {
    flow: () => contestants[(next += 1) % contestants.length]!.client.flow(),
    abandon: () => {
      for (const { client } of contestants) client.abandon();
    },
  };
}

function machineSeconds(): { readonly busy: number; readonly all: number } {
  let [busy, all] = [0, 0];
  for (const { times } of os.cpus()) {
    const worked = times.user + times.nice + times.sys + times.irq;
    busy += worked / 1000;
    all += (worked + times.idle) / 1000;
  }
  return { busy, all };
}

async function turn(contestants: readonly Contestant[], { turnMs, warmUpMs }: Pace): Promise<Turn> {
  const visitors = inTurn(contestants);
  await closedLoop(visitors, { at: VISITORS, goesOn: forMs(warmUpMs) });
  const seconds = () => contestants.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  const [machine, ours, own] = [machineSeconds(), seconds(), process.cpuUsage()];
  const seen = await closedLoop(visitors, { at: VISITORS, goesOn: forMs(turnMs) });
  const [machineAfter, oursSeconds, ownAfter] = [machineSeconds(), seconds() - ours, process.cpuUsage(own)];
  if (seen.failure !== null) process.stdout.write(`${seen.failed} failed: ${seen.failure}\n`);
  const busy = machineAfter.busy - machine.busy;
  const elsewhere = busy - oursSeconds - (ownAfter.user + ownAfter.system) / 1_000_000;
  return {
    perSecond: seen.count / seen.seconds,
    p99: quantile(seen, 0.99),
    failed: seen.failed,
    oursMs: (oursSeconds * 1000) / seen.count,
    databaseMs: (elsewhere * 1000) / seen.count,
    busyPercent: (100 * busy) / (machineAfter.all - machine.all),
  };
}
