// Measures in turns, so other load affects both servers. The ratios are the result.
import { setTimeout } from 'node:timers/promises';

import type { Trial } from '#stress/harness/cases.ts';
import { processorSeconds } from '#stress/harness/consumption.ts';
import { median, type Rows } from '#stress/harness/report.ts';
import type { Contestant } from '#stress/speed/contestants.ts';
import { closedLoop, forMs, quantile, type Measured } from '#stress/speed/loops.ts';

export type Pace = {
  readonly short: boolean;
  readonly rounds: number;
  readonly turnMs: number;
  readonly warmUpMs: number;
  readonly starts: number;
};

/** @param short to try the program; docs/figures.md is not changed */
export const paceOf = (short: boolean): Pace =>
  short
    ? { short, rounds: 3, turnMs: 500, warmUpMs: 1_500, starts: 1 }
    : { short, rounds: 7, turnMs: 5_000, warmUpMs: 8_000, starts: 5 };

/** Formats the ratio and both values: "**0.50** (1/2)". */
export function compared(one: number, other: number, digits: number): string {
  const format = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${format(one)}/${format(other)})`;
}

/** Lets both sides compile their hot code. */
export async function warmUp(contestants: readonly Contestant[], { warmUpMs }: Pace): Promise<void> {
  for (const { client } of contestants) await closedLoop(client, { at: 32, shouldContinue: forMs(warmUpMs) });
}

export type Load = {
  readonly name: string;
  readonly run: (contestant: Contestant) => Promise<Measured>;
};

/**
 * Adds the medians of all turns to the rows and to docs/figures.md.
 * @param key of the row in docs/figures.md
 * @returns the ratio of the speeds
 */
export async function compare(
  { trial, rows, pace }: { readonly trial: Trial; readonly rows: Rows; readonly pace: Pace },
  [one, other]: readonly [Contestant, Contestant],
  load: Load,
  key = load.name,
): Promise<number> {
  const [ones, others]: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < pace.rounds; round += 1) {
    ones.push(await turn(one, load));
    others.push(await turn(other, load));
  }
  const medians = (what: keyof Turn) =>
    [median(ones.map((each) => each[what])), median(others.map((each) => each[what]))] as const;
  const both = (what: keyof Turn, digits: number) => compared(...medians(what), digits);
  const failed = [ones, others].map((turns) => turns.reduce((sum, each) => sum + each.failed, 0));
  const figures = {
    'a second': both('perSecond', 0),
    'processor time each': both('cpuMs', 2),
    p50: both('p50', 1),
    p99: both('p99', 1),
  };
  process.stdout.write(`Medians of ${pace.rounds} turns of ${pace.turnMs / 1000} s each: `);
  rows.add({
    load: key,
    ...figures,
    p95: both('p95', 1),
    'p99.9': both('p999', 1),
    failed: failed.join(' and '),
    'visitors’ processor': medians('visitorsPercent')
      .map((percent) => `${percent.toFixed(0)} %`)
      .join(' and '),
  });
  await trial.figure(key, Object.values(figures), !pace.short);
  const [perSecond, perSecondOfOther] = medians('perSecond');
  return perSecond / perSecondOfOther;
}

/** Lets one server finish its work before the other's turn. */
const PAUSE_MS = 200;

type Turn = Awaited<ReturnType<typeof turn>>;

async function turn(contestant: Contestant, { run }: Load) {
  const { name, pid } = contestant;
  const [server, visitors] = [processorSeconds(pid), process.cpuUsage()];
  const measured = await run(contestant);
  const serverSeconds = processorSeconds(pid) - server;
  const { user, system } = process.cpuUsage(visitors);
  if (measured.failure !== null)
    process.stdout.write(`${name}: ${measured.failed} failed: ${measured.failure}\n`);
  await setTimeout(PAUSE_MS);
  return {
    perSecond: measured.count / measured.seconds,
    cpuMs: (serverSeconds * 1000) / measured.count,
    p50: quantile(measured, 0.5),
    p95: quantile(measured, 0.95),
    p99: quantile(measured, 0.99),
    p999: quantile(measured, 0.999),
    failed: measured.failed,
    visitorsPercent: (user + system) / 10_000 / measured.seconds,
  };
}
