// The calls whose answers change with a person: they are asked for again.
import { log } from '#desk/endpoints/auth.ts';
import { suppressions, today } from '#desk/endpoints/figures.ts';
import { domains, lost, people, story } from '#desk/endpoints/people.ts';

/** After an erasure: there is no story any more. */
export const CHANGED_BY_AN_ERASURE = [people, domains, lost, today, suppressions, log];
export const CHANGED_BY_A_PERSON = [story, ...CHANGED_BY_AN_ERASURE];
