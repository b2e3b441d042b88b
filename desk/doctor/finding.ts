import { setTimeout } from 'node:timers/promises';

import type { Finding } from '#desk/endpoints/figures.ts';
import { explainSystemFailure } from '#server/platform/system-errors.ts';

export type Findings = Finding | readonly Finding[];
export type DnsRecord = NonNullable<Finding['publish']>;

type MakeFinding = (sentence: string, publish?: DnsRecord) => Finding;

export function about(check: string): Readonly<Record<Finding['state'], MakeFinding>> {
  const as =
    (state: Finding['state']): MakeFinding =>
    (sentence, publish) => ({ check, state, sentence, ...(publish && { publish }) });
  return { ok: as('ok'), note: as('note'), warning: as('warning'), problem: as('problem') };
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Turns a timeout or an exception of one examination into a problem, without affecting the others. */
export async function limitTime(
  check: string,
  limitMs: number,
  examination: Findings | Promise<Findings>,
): Promise<Findings> {
  const { problem } = about(check);
  const late = problem(
    `This check took longer than ${limitMs / 1000} seconds and was stopped. Run the doctor again.`,
  );
  try {
    return await Promise.race([examination, setTimeout(limitMs, late, { ref: false })]);
  } catch (error) {
    return problem(explainSystemFailure(error) ?? `This could not be checked: ${reasonOf(error)}`);
  }
}
