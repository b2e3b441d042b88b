// Flows (form, mail, code) compared with the floor, and with many leads compared with few.
import { execFileSync } from 'node:child_process';

import { defineCase } from '#stress/harness/cases.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { compare, paceOf, warmUp, type Load, type Pace } from '#stress/speed/compare.ts';
import { ENGINE_OPTION, enginesIn, enterOurs, withBoth, withContestants } from '#stress/speed/contestants.ts';
import { closedLoop, forMs, openLoop } from '#stress/speed/loops.ts';
import { startSink } from '#stress/speed/sink.ts';

const AT_A_TIME = [1, 32, 128];
const A_SECOND = [20, 100, 200];

const flowsAt = (at: number, { turnMs }: Pace): Load => ({
  name: `${at} at a time`,
  run: ({ client }) => closedLoop(client, { at, shouldContinue: forMs(turnMs) }),
});

const flowsASecond = (perSecond: number, { turnMs }: Pace): Load => ({
  name: `${perSecond} begun a second`,
  run: ({ client }) => openLoop(client, { perSecond, ms: turnMs }),
});

export const flows = defineCase(
  { ...ENGINE_OPTION, short: false },
  async (trial, { engine: named, short }) => {
    await using sink = await startSink();
    const pace = paceOf(short);
    const rows = trial.rows();
    const loads = [
      ...AT_A_TIME.map((at) => flowsAt(at, pace)),
      ...A_SECOND.map((perSecond) => flowsASecond(perSecond, pace)),
    ];
    for (const engine of enginesIn(named))
      await withBoth({ trial, engine, sink }, async (both) => {
        await warmUp(both, pace);
        for (const load of loads) await compare({ trial, rows, pace }, both, load, `${load.name}, ${engine}`);
      });
    return null;
  },
);

const FEW = 1_000;
const MANY_SHORT = 20_000;
/** Promised share of the speed with few leads. */
const MIN_RATIO = 0.9;
/** Shorter runs use turns of half a second, which vary too much. */
const JUDGED_FROM_LEADS = 100_000;
const VISITORS = 32;

const LEADS_OPTIONS = { ...ENGINE_OPTION, short: false, leads: 1_000_000 };
export const leads = defineCase(LEADS_OPTIONS, async (trial, { engine: named, short, leads: most }) => {
  await using sink = await startSink();
  const usual = paceOf(short);
  // This ratio is near one and needs more rounds.
  const pace = { ...usual, rounds: short ? usual.rounds : 9 };
  const rows = trial.rows();
  const count = short ? Math.min(most, MANY_SHORT) : most;
  const what = `${count.toLocaleString('en')} leads`;
  for (const engine of enginesIn(named)) {
    const prepare = async (leadsBefore: number) => {
      const entrant = await enterOurs({ trial, engine, sink }, KEPT_FOR_EVER);
      await fillHistory({ ...entrant, engine }, leadsBefore);
      // Otherwise these leads would be written to disk during the first minute.
      execFileSync('sync');
      return entrant;
    };
    const entrants = [await prepare(count), await prepare(FEW)] as const;
    await withContestants(entrants, sink, async (both) => {
      await warmUp(both, pace);
      const load = flowsAt(VISITORS, pace);
      const ratio = await compare({ trial, rows, pace }, both, load, `${what}, ${engine}`);
      trial.expect(
        count < JUDGED_FROM_LEADS || ratio >= MIN_RATIO,
        `${engine}: with ${what}, speed is only ${ratio.toFixed(2)} of that with few`,
      );
    });
  }
  return null;
});
