import { compare, COMPARED, figuresOf, howMeasured, type Load, type Pace } from '#stress/speed/compare.ts';
import { withBoth, type Contestant, type Surroundings } from '#stress/speed/contestants.ts';
import { closedLoop, forMs, openLoop } from '#stress/speed/loops.ts';
import type { Section } from '#stress/speed/section.ts';

const AT_A_TIME = [1, 32, 128];
const A_SECOND = [20, 100, 200];

export const flowsAt = (at: number, { turnMs }: Pace): Load => ({
  name: `${at} at a time`,
  run: ({ client }) => closedLoop(client, { at, goesOn: forMs(turnMs) }),
});

const flowsASecond = (perSecond: number, { turnMs }: Pace): Load => ({
  name: `${perSecond} begun a second`,
  run: ({ client }) => openLoop(client, { perSecond, ms: turnMs }),
});

/** Lets both sides compile their hot code. */
export async function warmUp(contestants: readonly Contestant[], { warmUpMs }: Pace): Promise<void> {
  for (const { client } of contestants) await closedLoop(client, { at: 32, goesOn: forMs(warmUpMs) });
}

export const measureFlows = (surroundings: Surroundings, pace: Pace): Promise<Section> =>
  withBoth(surroundings, async (both) => {
    await warmUp(both, pace);
    const loads = [
      ...AT_A_TIME.map((at) => flowsAt(at, pace)),
      ...A_SECOND.map((perSecond) => flowsASecond(perSecond, pace)),
    ];
    const rows: string[][] = [];
    for (const load of loads) rows.push(await compare(both, load, pace));
    return { how: howMeasured(pace), head: COMPARED, rows, figures: figuresOf(rows) };
  });
