// What a run could not test with, for its last lines.
import { missingEngines } from '#testing/engines/find-engines.ts';
import { findPgBouncer, PGBOUNCER_MISSING } from '#testing/pgbouncer.ts';

/** A loud line for each program that is not here: the run passes without it, and must not look as if it had not. */
export const missingPrograms = (): readonly string[] => [
  ...missingEngines(),
  ...(findPgBouncer() === undefined ? [PGBOUNCER_MISSING] : []),
];
