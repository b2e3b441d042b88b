// Measures in turns, so other load affects both servers. The ratios are the result.
import { setTimeout } from 'node:timers/promises';

import type { Trial } from '#stress/harness/cases.ts';
import { processorSeconds } from '#stress/harness/consumption.ts';
import { median } from '#stress/harness/report.ts';
import type { Contestant } from '#stress/speed/contestants.ts';
import { closedLoop, forMs, quantile, type Measured } from '#stress/speed/loops.ts';

export type Pace = {
  readonly rounds: number;
  readonly turnMs: number;
  readonly warmUpMs: number;
  readonly starts: number;
};

/** @param short to try the program; docs/figures.md is not changed */
export const paceOf = (short: boolean): Pace =>
  short
    ? { rounds: 3, turnMs: 500, warmUpMs: 1_500, starts: 1 }
    : { rounds: 7, turnMs: 5_000, warmUpMs: 8_000, starts: 5 };

export function compared(one: number, other: number, digits: number): string {
  const say = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${say(one)}/${say(other)})`;
}

/** Lets both sides compile their hot code. */
export async function warmUp(contestants: readonly Contestant[], { warmUpMs }: Pace): Promise<void> {
  for (const { client } of contestants) await closedLoop(client, { at: 32, goesOn: forMs(warmUpMs) });
}

export type Load = {
  readonly name: string;
  readonly run: (contestant: Contestant) => Promise<Measured>;
};

export type Comparison = {
  /**
   * Adds the medians of all turns, as a ratio and as "first of second".
   * @param key of the row in docs/figures.md
   * @returns the ratio of the speeds
   */
  readonly add: (
    both: readonly [Contestant, Contestant],
    load: Load,
    pace: Pace,
    key?: string,
  ) => Promise<number>;
};

export function createComparison(trial: Trial, short: boolean): Comparison {
  const rows = trial.rows(
    'load',
    'a second',
    'processor time each',
    'p50',
    'p95',
    'p99',
    'p99.9',
    'failed',
    'visitors’ processor',
  );
  return {
    add: async ([one, other], load, { rounds, turnMs }, key = load.name) => {
      const [ones, others]: [Turn[], Turn[]] = [[], []];
      for (let round = 0; round < rounds; round += 1) {
        ones.push(await turn(one, load));
        others.push(await turn(other, load));
      }
      const values = (turns: readonly Turn[], what: keyof Turn) => turns.map((each) => each[what]);
      const medians = (what: keyof Turn) =>
        [median(values(ones, what)), median(values(others, what))] as const;
      const both = (what: keyof Turn, digits: number) => compared(...medians(what), digits);
      const failed = (turns: readonly Turn[]) =>
        values(turns, 'failed').reduce((sum, count) => sum + count, 0);
      const [visitors, otherVisitors] = medians('visitorsPercent').map((percent) => percent.toFixed(0));
      const figures = [both('perSecond', 0), both('cpuMs', 2), both('p50', 1), both('p99', 1)] as const;
      process.stdout.write(`Medians of ${rounds} turns of ${turnMs / 1000} s each: `);
      rows.add(
        key,
        figures[0],
        figures[1],
        figures[2],
        both('p95', 1),
        figures[3],
        both('p999', 1),
        `${failed(ones)} and ${failed(others)}`,
        `${visitors} and ${otherVisitors} %`,
      );
      await trial.figure(key, figures, !short);
      const [perSecond, perSecondOfOther] = medians('perSecond');
      return perSecond / perSecondOfOther;
    },
  };
}

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
