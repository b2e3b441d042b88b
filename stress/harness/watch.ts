import { setTimeout } from 'node:timers/promises';

export async function sampleWhile<Sample, Result>(
  sample: () => Sample | Promise<Sample>,
  everyMs: number,
  work: () => Promise<Result>,
): Promise<{ readonly samples: Sample[]; readonly result: Result }> {
  const samples: Sample[] = [];
  const over = new AbortController();
  const sampling = (async () => {
    while (!over.signal.aborted) {
      samples.push(await sample());
      await setTimeout(everyMs);
    }
  })();
  const [result] = await Promise.all([work().finally(() => over.abort()), sampling]);
  return { samples, result };
}
