/**
 * `problem`: codes may fail to arrive, or may be insecure. `warning`: to be fixed soon. `note`: not checked, or up to the
 * operator.
 */
type State = 'ok' | 'note' | 'warning' | 'problem';

/** A DNS record as DNS providers' forms expect it: with full names and no trailing dot. */
export type DnsRecord = { readonly name: string; readonly type: string; readonly value: string };

export type Finding = {
  readonly check: string;
  readonly state: State;
  readonly sentence: string;
  readonly publish?: DnsRecord;
};

export type Findings = Finding | readonly Finding[];

type MakeFinding = (sentence: string, publish?: DnsRecord) => Finding;

export function about(check: string): Readonly<Record<State, MakeFinding>> {
  const as =
    (state: State): MakeFinding =>
    (sentence, publish) => ({ check, state, sentence, ...(publish && { publish }) });
  return { ok: as('ok'), note: as('note'), warning: as('warning'), problem: as('problem') };
}

/** Turns a timeout or an exception of one examination into a problem, without affecting the others. */
export async function within(
  check: string,
  limitMs: number,
  examination: Findings | Promise<Findings>,
): Promise<Findings> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(
      () =>
        resolve([
          about(check).problem(
            `This check took longer than ${limitMs / 1000} seconds and was stopped. Run the doctor again.`,
          ),
        ]),
      limitMs,
    );
  });
  try {
    return [await Promise.race([examination, late])].flat();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [about(check).problem(`This could not be checked: ${reason}`)];
  } finally {
    clearTimeout(timer);
  }
}
