// Start time and memory, at rest and under load. Measured from outside, because SQLite's and the sockets' memory is not in the JavaScript
// heap.
import { setTimeout } from 'node:timers/promises';

import { defineCase } from '#stress/harness/cases.ts';
import { residentBytes } from '#stress/harness/consumption.ts';
import { KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { leadsIn } from '#stress/harness/promises-kept.ts';
import { median } from '#stress/harness/report.ts';
import { compared, paceOf } from '#stress/speed/compare.ts';
import {
  clear,
  ENGINE_OPTION,
  enginesIn,
  enterFloor,
  enterOurs,
  start,
  timeStarts,
  type Entrant,
} from '#stress/speed/contestants.ts';
import { closedLoop, forMs } from '#stress/speed/loops.ts';
import { startSink, type Sink } from '#stress/speed/sink.ts';

const VISITORS = 32;
const LOOK_EVERY_MS = 100;
const REST_MS = 3_000;
/** Stops the run if the server hangs; a healthy one takes 2 to 5 ms per flow. */
const FLOWS_WITHIN_MS = (flows: number): number => Math.max(1_800_000, flows * 10);
const FLOWS_SHORT = 1_000;
const FIFTHS = 5;
const MOST_GROWTH = 1.02;
/** In shorter runs, heaps and caches still grow in the last fifth. */
const JUDGED_FROM_FLOWS = 100_000;
const MIB = 1024 ** 2;

const OPTIONS = { ...ENGINE_OPTION, short: false, flows: 100_000 };
export const memory = defineCase(OPTIONS, async (trial, { engine: named, short, flows: most }) => {
  using sink = await startSink();
  const flows = short ? Math.min(most, FLOWS_SHORT) : most;
  const rows = trial.rows('', 'ours/the floor’s');
  for (const engine of enginesIn(named)) {
    const surroundings = { trial, engine, sink };
    const ours = await enterOurs(surroundings, KEPT_FOR_EVER);
    const floor = await enterFloor(surroundings);
    const { starts } = paceOf(short);
    const [startMs = Number.NaN, startMsOfFloor = Number.NaN] = await timeStarts([ours, floor], sink, starts);
    const seen = await watch(ours, sink, flows);
    for (const sentence of await promisesBroken(ours, seen, flows))
      trial.expect(false, `${engine}: ${sentence}`);
    const seenOfFloor = await watch(floor, sink, flows);
    for (const entrant of [ours, floor]) clear(entrant);

    const say = (count: number) => count.toLocaleString('en');
    const both = (of: (one: Seen) => number) => compared(of(seen), of(seenOfFloor), 0);
    const growth = (one: Seen) => growthOf(fifthsOf(one, flows)).toFixed(3);
    const startTimes = compared(startMs, startMsOfFloor, 0);
    const atRest = both(({ restMib }) => restMib);
    rows.add(`${engine}: start to the first 200, in ms`, startTimes);
    rows.add(`${engine}: memory at rest, in MiB`, atRest);
    const atTheEnd = both((one) => mibAfter(one, flows));
    rows.add(`${engine}: after ${say(flows)} flows`, atTheEnd);
    rows.add(
      `${engine}: last fifth to the middle one`,
      `${growth(seen)}, the floor’s ${growth(seenOfFloor)}`,
    );
    await trial.figure(
      `start and memory, ${engine}`,
      [
        `start to the first 200 ${startTimes} ms; memory at rest ${atRest} MiB, ` +
          `after ${say(flows)} flows ${atTheEnd} MiB; last fifth to the middle one ${growth(seen)}`,
      ],
      !short,
    );
  }
  return null;
});

type Look = { readonly flows: number; readonly mib: number };

type Seen = {
  readonly restMib: number;
  readonly looks: readonly Look[];
  readonly failure: string | null;
  readonly verified: readonly string[];
};

async function watch(entrant: Entrant, sink: Sink, flows: number): Promise<Seen> {
  const { client, pid, stop } = await start(entrant, sink);
  await setTimeout(REST_MS);
  const restMib = residentBytes(pid) / MIB;
  const looks: Look[] = [];
  const watching = setInterval(
    () => looks.push({ flows: client.verified.length, mib: residentBytes(pid) / MIB }),
    LOOK_EVERY_MS,
  );
  const inTime = forMs(FLOWS_WITHIN_MS(flows));
  let begun = 0;
  const { failure } = await closedLoop(client, {
    at: VISITORS,
    goesOn: () => inTime() && (begun += 1) <= flows,
  });
  clearInterval(watching);
  await stop();
  return { restMib, looks, failure, verified: client.verified };
}

/** The median in MiB in the last second before this many flows had ended. */
const mibAfter = ({ looks }: Seen, flows: number): number =>
  median(
    looks
      .filter((look) => look.flows <= flows)
      .slice(-1000 / LOOK_EVERY_MS)
      .map(({ mib }) => mib),
  );

const fifthsOf = ({ looks }: Seen, flows: number): number[] =>
  Array.from({ length: FIFTHS }, (_, fifth) =>
    median(
      looks
        .filter((look) => Math.min(FIFTHS - 1, Math.floor((look.flows / flows) * FIFTHS)) === fifth)
        .map(({ mib }) => mib),
    ),
  );

const growthOf = (fifths: readonly number[]): number =>
  (fifths.at(-1) ?? Number.NaN) / (fifths[Math.floor(FIFTHS / 2)] ?? Number.NaN);

async function promisesBroken(entrant: Entrant, seen: Seen, flows: number): Promise<string[]> {
  const { leads, withoutReceipt } = await leadsIn(entrant);
  const lost = seen.verified.filter((email) => !leads.has(email)).length;
  const growth = growthOf(fifthsOf(seen, flows));
  const why = seen.failure ?? 'the run stopped at its time limit';
  return [
    ...(seen.verified.length === flows && leads.size === flows
      ? []
      : [`only ${leads.size} of ${flows} flows became leads: ${why}`]),
    ...(lost === 0 ? [] : [`${lost} visitors got a 200 but did not become leads`]),
    ...(withoutReceipt === 0 ? [] : [`${withoutReceipt} leads have no consent receipt`]),
    // Not written with ">", because a fifth without samples (NaN) must fail too.
    ...(flows < JUDGED_FROM_FLOWS || growth <= MOST_GROWTH
      ? []
      : [`memory grows by a factor of ${growth.toFixed(3)} from the middle fifth to the last`]),
  ];
}
