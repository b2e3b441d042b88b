import { v7 as uuid } from 'uuid';

export const leadRow = <Changes extends object>(id: string, changes: Changes) => ({
  id,
  email: `${id}@example.com`,
  name: 'Ada Lovelace',
  company: 'Analytical Engines',
  answers: null,
  attribution: '{}',
  flags: '',
  first_verified_at: 1,
  last_verified_at: 1,
  ...changes,
});

/** @param at time of verification, milliseconds since 1970 */
export const leadVerifiedAt = (email: string, at: number) =>
  leadRow(uuid({ msecs: at }), { email, first_verified_at: at, last_verified_at: at, variant: null });
