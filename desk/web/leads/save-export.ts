import { EXPORT_PATH, HEAD_ROWS_HEADER, PEOPLE_HEADER, type Filter } from '#desk/endpoints/people.ts';
import { addressOf, CallError, errorOf, fetchFromDesk, BROKEN, OFFLINE } from '#desk/web/ask.ts';
import { fileNameIn, handFile } from '#desk/web/file.ts';
import { rowCounter } from '#shared/row-counter.ts';

export type Progress = {
  readonly people: number;
  readonly atMost: number | null;
};

/** Maximum number of bytes in memory; earlier parts are in blobs, which the browser may store on disk. */
const HELD_BYTES = 8_000_000;

export async function saveExport(
  format: string,
  filter: Filter,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<number> {
  const response = await fetchFromDesk(addressOf(EXPORT_PATH, { format, ...filter }), {
    signal,
  }).catch(() => {
    signal.throwIfAborted();
    throw new CallError(OFFLINE);
  });
  if (!response.ok || response.body === null) throw await errorOf(response);
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  const announced = Number(response.headers.get(PEOPLE_HEADER) ?? Number.NaN);
  const atMost = Number.isFinite(announced) ? announced : null;
  const count = rowCounter(Number(response.headers.get(HEAD_ROWS_HEADER) ?? 1));
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let people = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      signal.throwIfAborted();
      // Discards the partial file, which would look complete.
      throw new CallError(BROKEN);
    });
    if (done) break;
    held.push(value);
    heldBytes += value.length;
    people = count(value);
    onProgress({ people, atMost });
    if (heldBytes < HELD_BYTES) continue;
    parts.push(new Blob(held));
    held = [];
    heldBytes = 0;
  }
  handFile(new Blob([...parts, ...held], { type }), fileNameIn(response) ?? `people-${format}`);
  return people;
}
