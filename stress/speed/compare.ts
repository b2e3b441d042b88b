// Measures in turns, so other load affects both servers. The ratios are the result.
import { setTimeout } from 'node:timers/promises';

import { processorSeconds } from '#stress/harness/consumption.ts';
import { median } from '#stress/harness/report.ts';
import type { Contestant } from '#stress/speed/contestants.ts';
import { quantile, type Measured } from '#stress/speed/loops.ts';
import { compared, type Figures } from '#stress/speed/section.ts';

export type Load = {
  readonly name: string;
  readonly run: (contestant: Contestant) => Promise<Measured>;
};

export type Pace = { readonly rounds: number; readonly turnMs: number; readonly warmUpMs: number };

export const COMPARED = [
  'load',
  'a second',
  'processor time each',
  'p50',
  'p95',
  'p99',
  'p99.9',
  'failed',
  'visitors’ processor',
] as const;

type Turn = {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly failed: number;
  readonly visitorsPercent: number;
};

/** Lets one server finish its work before the other's turn. */
const PAUSE_MS = 200;

async function turn(contestant: Contestant, { run }: Load): Promise<Turn> {
  const { name, pid } = contestant;
  const [server, visitors] = [processorSeconds(pid), process.cpuUsage()];
  const seen = await run(contestant);
  const serverSeconds = processorSeconds(pid) - server;
  const { user, system } = process.cpuUsage(visitors);
  if (seen.failure !== null) process.stdout.write(`${name}: ${seen.failed} failed: ${seen.failure}\n`);
  await setTimeout(PAUSE_MS);
  return {
    perSecond: seen.count / seen.seconds,
    cpuMs: (serverSeconds * 1000) / seen.count,
    p50: quantile(seen, 0.5),
    p95: quantile(seen, 0.95),
    p99: quantile(seen, 0.99),
    p999: quantile(seen, 0.999),
    failed: seen.failed,
    visitorsPercent: (user + system) / 10_000 / seen.seconds,
  };
}

/** The columns for docs/figures.md: all but p95, p99.9 and the last two. */
export const figuresOf = (rows: readonly (readonly string[])[]): Figures =>
  Object.fromEntries(
    rows.map(([load = '', perSecond = '', cpu = '', p50 = '', , p99 = '']) => [
      load,
      [perSecond, cpu, p50, p99],
    ]),
  );

export const howMeasured = ({ rounds, turnMs }: Pace): string =>
  `Medians of ${rounds} turns of ${turnMs / 1000} s each.`;

/** @returns a row: the medians of all turns as a ratio and as "first of second"; for failures, their number */
export async function compare(
  [one, other]: readonly [Contestant, Contestant],
  load: Load,
  { rounds }: Pace,
): Promise<string[]> {
  const [ones, others]: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ones.push(await turn(one, load));
    others.push(await turn(other, load));
  }
  const values = (turns: readonly Turn[], what: keyof Turn) => turns.map((each) => each[what]);
  const both = (what: keyof Turn, digits: number) =>
    compared(median(values(ones, what)), median(values(others, what)), digits);
  const failed = (turns: readonly Turn[]) => values(turns, 'failed').reduce((sum, count) => sum + count, 0);
  const percent = (turns: readonly Turn[]) => `${median(values(turns, 'visitorsPercent')).toFixed(0)} %`;
  const row = [
    load.name,
    both('perSecond', 0),
    both('cpuMs', 2),
    both('p50', 1),
    both('p95', 1),
    both('p99', 1),
    both('p999', 1),
    `${failed(ones)} and ${failed(others)}`,
    `${percent(ones)} and ${percent(others)}`,
  ];
  process.stdout.write(`${row.join(' | ')}\n`);
  return row;
}
