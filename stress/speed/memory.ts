// Start time and memory, at rest and under load. Measured from outside, because SQLite's and the sockets' memory is not in the
// JavaScript heap.
import { setTimeout } from 'node:timers/promises';

import { defineCase, type Trial } from '#stress/harness/cases.ts';
import { residentBytes } from '#stress/harness/consumption.ts';
import { KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { leadsIn } from '#stress/harness/promises-kept.ts';
import { fifthsOf, median } from '#stress/harness/report.ts';
import { sampleWhile } from '#stress/harness/watch.ts';
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
const SAMPLE_EVERY_MS = 100;
const REST_MS = 3_000;
/** Stops the run if the server hangs; a healthy one takes 2 to 5 ms per flow. */
const FLOWS_WITHIN_MS = (flows: number): number => Math.max(1_800_000, flows * 10);
const FLOWS_SHORT = 1_000;
const MAX_GROWTH = 1.02;
/** In shorter runs, heaps and caches still grow in the last fifth. */
const JUDGED_FROM_FLOWS = 100_000;
const MIB = 1024 ** 2;

const OPTIONS = { ...ENGINE_OPTION, short: false, flows: 100_000 };
export const memory = defineCase(OPTIONS, async (trial, { engine: named, short, flows: most }) => {
  await using sink = await startSink();
  const flows = short ? Math.min(most, FLOWS_SHORT) : most;
  const rows = trial.rows();
  for (const engine of enginesIn(named)) {
    const surroundings = { trial, engine, sink };
    const ours = await enterOurs(surroundings, KEPT_FOR_EVER);
    const floor = await enterFloor(surroundings);
    const { starts } = paceOf(short);
    const [startMs = Number.NaN, startMsOfFloor = Number.NaN] = await timeStarts([ours, floor], sink, starts);
    const ourUse = await measureMemory(ours, sink, flows);
    const expect: Trial['expect'] = (holds, sentence) => trial.expect(holds, `${engine}: ${sentence}`);
    await expectLeads(expect, ours, ourUse, flows);
    // Not written with ">", because a fifth without samples (NaN) must fail too.
    expect(
      flows < JUDGED_FROM_FLOWS || ourUse.growth <= MAX_GROWTH,
      `memory grows by a factor of ${ourUse.growth.toFixed(3)} from the middle fifth to the last`,
    );
    const floorUse = await measureMemory(floor, sink, flows);
    for (const entrant of [ours, floor]) clear(entrant);

    const startTimes = compared(startMs, startMsOfFloor, 0);
    const atRest = compared(ourUse.restMib, floorUse.restMib, 0);
    const atTheEnd = compared(ourUse.endMib, floorUse.endMib, 0);
    rows.add({
      'ours/the floor’s': engine,
      'start to the first 200, in ms': startTimes,
      'memory at rest, in MiB': atRest,
      'memory after all flows, in MiB': atTheEnd,
      'last fifth to the middle one': `${ourUse.growth.toFixed(3)}, the floor’s ${floorUse.growth.toFixed(3)}`,
    });
    await trial.figure(
      `start and memory, ${engine}`,
      [
        `start to the first 200 ${startTimes} ms; memory at rest ${atRest} MiB, after ${flows.toLocaleString('en')} ` +
          `flows ${atTheEnd} MiB; last fifth to the middle one ${ourUse.growth.toFixed(3)}`,
      ],
      !short,
    );
  }
  return null;
});

type MemoryUse = {
  readonly restMib: number;
  readonly endMib: number;
  /** From the middle fifth of the run to the last. */
  readonly growth: number;
  readonly failure: string | null;
  readonly verified: readonly string[];
};

async function measureMemory(entrant: Entrant, sink: Sink, flows: number): Promise<MemoryUse> {
  const { client, pid, stop } = await start(entrant, sink);
  await setTimeout(REST_MS);
  const sample = () => residentBytes(pid) / MIB;
  const restMib = sample();
  const inTime = forMs(FLOWS_WITHIN_MS(flows));
  let started = 0;
  const { samples, result } = await sampleWhile(sample, SAMPLE_EVERY_MS, () =>
    closedLoop(client, { at: VISITORS, shouldContinue: () => inTime() && (started += 1) <= flows }),
  );
  await stop();
  const [, , middle = Number.NaN, , last = Number.NaN] = fifthsOf(samples);
  return {
    restMib,
    endMib: median(samples.slice(-1000 / SAMPLE_EVERY_MS)),
    growth: last / middle,
    failure: result.failure,
    verified: client.verified,
  };
}

async function expectLeads(
  expect: Trial['expect'],
  entrant: Entrant,
  { verified, failure }: MemoryUse,
  flows: number,
): Promise<void> {
  const { leads, withoutReceipt } = await leadsIn(entrant);
  const lost = verified.filter((email) => !leads.has(email)).length;
  expect(
    verified.length === flows && leads.size === flows,
    `only ${leads.size} of ${flows} flows became leads: ${failure ?? 'the run stopped at its time limit'}`,
  );
  expect(lost === 0, `${lost} visitors got a 200 but did not become leads`);
  expect(withoutReceipt === 0, `${withoutReceipt} leads have no consent receipt`);
}
