// Measures in turns, so other load affects both servers. The ratios are the result.
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';

import { processorSeconds, residentBytes } from '#stress/harness/consumption.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { median } from '#stress/harness/report.ts';
import {
  clear,
  enterOurs,
  start,
  timeStarts,
  withBoth,
  type Contestant,
  type Surroundings,
} from '#stress/speed/contestants.ts';
import { closedLoop, forMs, openLoop, quantile, type Measured } from '#stress/speed/loops.ts';
import { bytesOf, readersOf } from '#stress/speed/readers.ts';

/** Rows of docs/figures.md by key. */
type Figures = Readonly<Record<string, readonly string[]>>;

export type Section = {
  readonly how: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** For docs/figures.md. The engine is added to each key. */
  readonly figures: Figures;
  /** Promises that did not hold. */
  readonly broken?: readonly string[];
};

export function compared(one: number, other: number, digits: number): string {
  const say = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${say(one)}/${say(other)})`;
}

const READERS = 64;

export const measureStatic = (surroundings: Surroundings, pace: Pace): Promise<Section> =>
  withBoth(surroundings, async (both) => {
    const [{ url }] = both;
    const page = await (await fetch(url)).text();
    const application = /data-app="([^"]+)"/.exec(page)?.[1] ?? '';
    const rows: (readonly string[])[] = [];
    for (const [name, path] of [
      ['the page', '/'],
      ['the application’s first file', application],
    ] as const) {
      const bytes = await bytesOf(url, path);
      const pathOf = (contestant: Contestant) => (contestant.name === 'ours' ? path : `/bytes/${bytes}`);
      const read = (contestant: Contestant, ms: number) =>
        readersOf(contestant.url, pathOf(contestant), { at: READERS, ms });
      for (const contestant of both) await read(contestant, pace.warmUpMs);
      const run = (contestant: Contestant) => read(contestant, pace.turnMs);
      rows.push((await compare(both, { name, run }, pace)).row);
    }
    return {
      how: `${howMeasured(pace)} ${READERS} readers at a time.`,
      head: COMPARED,
      rows,
      figures: figuresOf(rows),
    };
  });

const AT_A_TIME = [1, 32, 128];
const A_SECOND = [20, 100, 200];

const flowsAt = (at: number, { turnMs }: Pace): Load => ({
  name: `${at} at a time`,
  run: ({ client }) => closedLoop(client, { at, goesOn: forMs(turnMs) }),
});

const flowsASecond = (perSecond: number, { turnMs }: Pace): Load => ({
  name: `${perSecond} begun a second`,
  run: ({ client }) => openLoop(client, { perSecond, ms: turnMs }),
});

/** Lets both sides compile their hot code. */
async function warmUp(contestants: readonly Contestant[], { warmUpMs }: Pace): Promise<void> {
  for (const { client } of contestants) await closedLoop(client, { at: 32, goesOn: forMs(warmUpMs) });
}

export const measureFlows = (surroundings: Surroundings, pace: Pace): Promise<Section> =>
  withBoth(surroundings, async (both) => {
    await warmUp(both, pace);
    const loads = [
      ...AT_A_TIME.map((at) => flowsAt(at, pace)),
      ...A_SECOND.map((perSecond) => flowsASecond(perSecond, pace)),
    ];
    const rows: (readonly string[])[] = [];
    for (const load of loads) rows.push((await compare(both, load, pace)).row);
    return { how: howMeasured(pace), head: COMPARED, rows, figures: figuresOf(rows) };
  });

const FEW = 1_000;
/** Promised share of the speed with few leads. */
const LEAST_RATIO = 0.9;
/** Shorter runs use turns of half a second, which vary too much. */
const JUDGED_FROM_LEADS = 100_000;
const VISITORS = 32;
const MIB = 1024 ** 2;

export async function measureLeads(
  surroundings: Surroundings,
  pace: Pace,
  { leads, starts }: { leads: number; starts: number },
): Promise<Section> {
  const { engine, sink } = surroundings;
  const prepare = async (count: number) => {
    const entrant = await enterOurs(surroundings, KEPT_FOR_EVER);
    await fillHistory({ ...entrant, engine }, count);
    // Otherwise these leads would be written to disk during the first minute.
    execFileSync('sync');
    return entrant;
  };
  const [many, few] = [await prepare(leads), await prepare(FEW)];
  const startsMs = await timeStarts([many, few], sink, starts);
  const both = [await start(many, sink), await start(few, sink)] as const;
  await warmUp(both, pace);
  const { perSecond, row } = await compare(both, flowsAt(VISITORS, pace), pace);
  const mib = both.map(({ pid }) => residentBytes(pid) / MIB);
  for (const contestant of both) await contestant.stop();
  for (const entrant of [many, few]) clear(entrant);
  const besideEach = ([ofMany = Number.NaN, ofFew = Number.NaN]: readonly number[]) =>
    compared(ofMany, ofFew, 0);
  const say = (count: number) => count.toLocaleString('en');
  return {
    how: `${howMeasured(pace)} ${say(leads)} leads of ${say(FEW)}; start to the first 200: ${besideEach(startsMs)} ms; memory after the load: ${besideEach(mib)} MiB.`,
    head: COMPARED,
    rows: [row],
    figures: Object.fromEntries(
      Object.values(figuresOf([row])).map((cells) => [`${say(leads)} leads`, cells]),
    ),
    broken:
      leads < JUDGED_FROM_LEADS || perSecond >= LEAST_RATIO
        ? []
        : [`with ${say(leads)} leads, speed is only ${perSecond.toFixed(2)} of that with few`],
  };
}

type Load = {
  readonly name: string;
  readonly run: (contestant: Contestant) => Promise<Measured>;
};

export type Pace = { readonly rounds: number; readonly turnMs: number; readonly warmUpMs: number };

const COMPARED = [
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
const figuresOf = (rows: readonly (readonly string[])[]): Figures =>
  Object.fromEntries(
    rows.map(([load = '', perSecond = '', cpu = '', p50 = '', , p99 = '']) => [
      load,
      [perSecond, cpu, p50, p99],
    ]),
  );

const howMeasured = ({ rounds, turnMs }: Pace): string =>
  `Medians of ${rounds} turns of ${turnMs / 1000} s each.`;

/** @returns perSecond: a ratio; row: the medians of all turns as a ratio and as "first of second"; for failures, their number */
async function compare(
  [one, other]: readonly [Contestant, Contestant],
  load: Load,
  { rounds }: Pace,
): Promise<{ readonly perSecond: number; readonly row: readonly string[] }> {
  const [ones, others]: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    ones.push(await turn(one, load));
    others.push(await turn(other, load));
  }
  const values = (turns: readonly Turn[], what: keyof Turn) => turns.map((each) => each[what]);
  const medians = (what: keyof Turn) => [median(values(ones, what)), median(values(others, what))] as const;
  const both = (what: keyof Turn, digits: number) => compared(...medians(what), digits);
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
  const [perSecond, perSecondOfOther] = medians('perSecond');
  return { perSecond: perSecond / perSecondOfOther, row };
}
