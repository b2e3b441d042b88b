// Findings: what the doctor says about one thing it examined.

/** `problem`: codes do not arrive, or are not safe. `warning`: it works, but should be fixed. `note`: nothing to do. */
type State = 'ok' | 'note' | 'warning' | 'problem';

/** A record as the form of a DNS provider takes it: full names, without a dot at the end. */
export type DnsRecord = { readonly name: string; readonly type: string; readonly value: string };

export type Finding = {
  /** What was looked at, such as `SPF`. */
  readonly check: string;
  readonly state: State;
  /** What was found, and what to do. */
  readonly sentence: string;
  /** The record that mends it. */
  readonly publish?: DnsRecord;
};

type MakeFinding = (sentence: string, publish?: DnsRecord) => Finding;

/** Makes findings about one thing. */
export function about(check: string): Readonly<Record<State, MakeFinding>> {
  const as =
    (state: State): MakeFinding =>
    (sentence, publish) => ({ check, state, sentence, ...(publish && { publish }) });
  return { ok: as('ok'), note: as('note'), warning: as('warning'), problem: as('problem') };
}

/** Returns the findings of an examination. One that takes longer than the limit, or throws, becomes a problem and spoils no other. */
export async function within(
  check: string,
  limitMs: number,
  examination: Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(
      () =>
        resolve([about(check).problem(`This took longer than ${limitMs / 1000} seconds and was given up.`)]),
      limitMs,
    );
  });
  try {
    return await Promise.race([examination, late]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [about(check).problem(`This could not be looked at: ${reason}`)];
  } finally {
    clearTimeout(timer);
  }
}
