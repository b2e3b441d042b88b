import { log } from '#desk/endpoints/auth.ts';
import { suppressions, today } from '#desk/endpoints/figures.ts';
import { domains, lost, people, story } from '#desk/endpoints/people.ts';

export const CHANGED_BY_AN_ERASURE = [people, domains, lost, today, suppressions, log];
export const CHANGED_BY_A_PERSON = [story, ...CHANGED_BY_AN_ERASURE];
