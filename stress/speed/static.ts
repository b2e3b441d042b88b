import { compare, COMPARED, figuresOf, howMeasured, type Load, type Pace } from '#stress/speed/compare.ts';
import { withBoth, type Contestant, type Surroundings } from '#stress/speed/contestants.ts';
import { bytesOf, readersOf } from '#stress/speed/readers.ts';
import type { Section } from '#stress/speed/section.ts';

const READERS = 64;

export const measureStatic = (surroundings: Surroundings, pace: Pace): Promise<Section> =>
  withBoth(surroundings, async (both) => {
    const [{ url }] = both;
    const page = await (await fetch(url)).text();
    const application = /data-app="([^"]+)"/.exec(page)?.[1] ?? '';
    const rows: string[][] = [];
    for (const [name, path] of [
      ['the page', '/'],
      ['the application’s first file', application],
    ] as const) {
      const bytes = await bytesOf(url, path);
      const pathOf = (contestant: Contestant) => (contestant.name === 'ours' ? path : `/bytes/${bytes}`);
      const read = (contestant: Contestant, ms: number) =>
        readersOf(contestant.url, pathOf(contestant), { at: READERS, ms });
      for (const contestant of both) await read(contestant, pace.warmUpMs);
      const load: Load = {
        name,
        run: (contestant) => read(contestant, pace.turnMs),
      };
      rows.push(await compare(both, load, pace));
    }
    return {
      how: `${howMeasured(pace)} ${READERS} readers at a time.`,
      head: COMPARED,
      rows,
      figures: figuresOf(rows),
    };
  });
