// Start time and memory, at rest and under load. Measured from outside, because SQLite's and the sockets' memory is not in the JavaScript
// heap.
import { setTimeout } from 'node:timers/promises';

import { residentBytes } from '#stress/harness/consumption.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { median } from '#stress/harness/report.ts';
import {
  clear,
  enterFloor,
  enterOurs,
  start,
  timeStarts,
  type Entrant,
  type Surroundings,
} from '#stress/speed/contestants.ts';
import { closedLoop, forMs } from '#stress/speed/loops.ts';
import { compared, type Section } from '#stress/speed/compare.ts';
import { leadsIn } from '#stress/harness/promises-kept.ts';

const VISITORS = 32;
const LOOK_EVERY_MS = 100;
const REST_MS = 3_000;
/** Stops the run if the server hangs; a healthy one takes 2 to 5 ms per flow. */
const FLOWS_WITHIN_MS = (flows: number): number => Math.max(1_800_000, flows * 10);
const FIFTHS = 5;
const MOST_GROWTH = 1.02;
/** In shorter runs, heaps and caches still grow in the last fifth. */
const JUDGED_FROM_FLOWS = 100_000;
const MIB = 1024 ** 2;

type Look = { readonly flows: number; readonly mib: number };

type Seen = {
  readonly restMib: number;
  readonly looks: readonly Look[];
  readonly failure: string | null;
  readonly verified: readonly string[];
};

async function watch(entrant: Entrant, { sink }: Surroundings, flows: number): Promise<Seen> {
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

async function promisesBroken(
  entrant: Entrant,
  seen: Seen,
  { flows, leadsBefore }: { flows: number; leadsBefore: number },
): Promise<string[]> {
  const { leads, withoutReceipt } = await leadsIn(entrant);
  const lost = seen.verified.filter((email) => !leads.has(email)).length;
  const growth = growthOf(fifthsOf(seen, flows));
  const why = seen.failure ?? 'the run stopped at its time limit';
  return [
    ...(seen.verified.length === flows && leads.size === flows + leadsBefore
      ? []
      : [`only ${leads.size - leadsBefore} of ${flows} flows became leads: ${why}`]),
    ...(lost === 0 ? [] : [`${lost} visitors got a 200 but did not become leads`]),
    ...(withoutReceipt === 0 ? [] : [`${withoutReceipt} leads have no consent receipt`]),
    // Not written with ">", because a fifth without samples (NaN) must fail too.
    ...(flows < JUDGED_FROM_FLOWS || growth <= MOST_GROWTH
      ? []
      : [`memory grows by a factor of ${growth.toFixed(3)} from the middle fifth to the last`]),
  ];
}

export async function measureMemory(
  surroundings: Surroundings,
  { flows, leadsBefore, starts }: { flows: number; leadsBefore: number; starts: number },
): Promise<Section> {
  const ours = await enterOurs(surroundings, KEPT_FOR_EVER);
  const floor = await enterFloor(surroundings);
  if (leadsBefore > 0) await fillHistory({ ...ours, engine: surroundings.engine }, leadsBefore);
  const [ourStart = Number.NaN, floorStart = Number.NaN] = await timeStarts(
    [ours, floor],
    surroundings.sink,
    starts,
  );
  const seen = await watch(ours, surroundings, flows);
  const broken = await promisesBroken(ours, seen, { flows, leadsBefore });
  const seenOfFloor = await watch(floor, surroundings, flows);
  for (const entrant of [ours, floor]) clear(entrant);

  const both = (of: (one: Seen) => number) => compared(of(seen), of(seenOfFloor), 0);
  const growth = (one: Seen) => growthOf(fifthsOf(one, flows)).toFixed(3);
  const say = (count: number) => count.toLocaleString('en');
  const rows = [
    ['start to the first 200, in ms', compared(ourStart, floorStart, 0)],
    ['memory at rest, in MiB', both(({ restMib }) => restMib)],
    [`after ${say(flows / 10)} flows`, both((one) => mibAfter(one, flows / 10))],
    [`after ${say(flows / 2)} flows`, both((one) => mibAfter(one, flows / 2))],
    [`after ${say(flows)} flows`, both((one) => mibAfter(one, flows))],
    ...['first', 'second', 'middle', 'fourth', 'last'].map((name, fifth) => [
      `${name} fifth of the run`,
      both((one) => fifthsOf(one, flows)[fifth] ?? Number.NaN),
    ]),
    ['last fifth to the middle one', `${growth(seen)}, the floor’s ${growth(seenOfFloor)}`],
  ];
  for (const row of rows) process.stdout.write(`${row.join(' | ')}\n`);
  return {
    how: `${say(flows)} flows, ${VISITORS} at a time; start: medians of ${starts}.`,
    head: ['', 'ours/the floor’s'],
    rows,
    figures: {
      'start and memory': [
        `start to the first 200 ${compared(ourStart, floorStart, 0)} ms; memory at rest ${both(({ restMib }) => restMib)} MiB, ` +
          `after ${say(flows)} flows ${both((one) => mibAfter(one, flows))} MiB; last fifth to the middle one ${growth(seen)}`,
      ],
    },
    broken,
  };
}
