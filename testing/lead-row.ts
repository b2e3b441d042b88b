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
