import { setTimeout } from 'node:timers/promises';

export async function watchWhile<Seen, Result>(
  look: () => Seen | Promise<Seen>,
  everyMs: number,
  happening: () => Promise<Result>,
): Promise<{ readonly looks: Seen[]; readonly result: Result }> {
  const looks: Seen[] = [];
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      looks.push(await look());
      await setTimeout(everyMs);
    }
  })();
  const [result] = await Promise.all([happening().finally(() => over.abort()), watching]);
  return { looks, result };
}
