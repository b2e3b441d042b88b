// What the doctor says about one thing it looked at.

/** `problem`: codes do not arrive, or are not safe. `warning`: works, and should be mended. `note`: nothing to do. */
type State = 'ok' | 'note' | 'warning' | 'problem';

/** As it is typed into the form of a DNS provider: whole names, without a dot at the end. */
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

type Tell = (sentence: string, publish?: DnsRecord) => Finding;

/** Makes findings about one thing. */
export function about(check: string): Readonly<Record<State, Tell>> {
  const tell =
    (state: State): Tell =>
    (sentence, publish) => ({ check, state, sentence, ...(publish && { publish }) });
  return { ok: tell('ok'), note: tell('note'), warning: tell('warning'), problem: tell('problem') };
}

/**
 * What an examination finds, or that it took too long or broke: the others' findings are worth having all the same.
 * @param limitMs how long it may take
 */
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
