import { residentBytes } from '#stress/harness/consumption.ts';
import { fillHistory, KEPT_FOR_EVER } from '#stress/harness/history.ts';
import { compare, COMPARED, figuresOf, howMeasured, type Pace } from '#stress/speed/compare.ts';
import { clear, enterOurs, start, timeStarts, type Surroundings } from '#stress/speed/contestants.ts';
import { flowsAt, warmUp } from '#stress/speed/flows.ts';
import { compared, type Section } from '#stress/speed/section.ts';

const FEW = 1_000;
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
    return entrant;
  };
  const [many, few] = [await prepare(leads), await prepare(FEW)];
  const startsMs = await timeStarts([many, few], sink, starts);
  const both = [await start(many, sink), await start(few, sink)] as const;
  await warmUp(both, pace);
  const rows = [await compare(both, flowsAt(VISITORS, pace), pace)];
  const mib = both.map(({ pid }) => residentBytes(pid) / MIB);
  for (const contestant of both) await contestant.stop();
  for (const entrant of [many, few]) clear(entrant);
  const besideEach = ([ofMany = Number.NaN, ofFew = Number.NaN]: readonly number[]) =>
    compared(ofMany, ofFew, 0);
  const say = (count: number) => count.toLocaleString('en');
  return {
    how: `${howMeasured(pace)} ${say(leads)} leads of ${say(FEW)}; start to the first 200: ${besideEach(startsMs)} ms; memory after the load: ${besideEach(mib)} MiB.`,
    head: COMPARED,
    rows,
    figures: Object.fromEntries(
      Object.values(figuresOf(rows)).map((cells) => [`${say(leads)} leads`, cells]),
    ),
  };
}
