import { Filter, STATES } from '#desk/endpoints/people.ts';
import { urlOf } from '#desk/web/api-client.ts';
import { readDay } from '#shared/days.ts';

const NO_FILTER: Filter = { state: 'verified' };

export type FilterName = keyof Filter;
const NAMES = Object.keys(Filter.shape) as readonly FilterName[];

/** Ignores invalid values. */
export function filterIn(query: URLSearchParams): Filter {
  const found: Record<string, string> = { state: 'verified' };
  for (const name of NAMES) {
    const value = query.get(name)?.trim();
    if (value && isValid(name, value)) found[name] = value;
  }
  if (found['field'] === undefined) delete found['answer'];
  return found as Filter;
}

const isValid = (name: FilterName, value: string): boolean =>
  Filter.shape[name].safeParse(value).success &&
  ((name !== 'from' && name !== 'to') || readDay(value) !== null);

/** Equal filters have equal URLs. */
export const leadsUrl = (filter: Partial<Filter>): string =>
  urlOf(
    '/leads',
    Object.fromEntries(NAMES.map((name) => [name, filter[name] === NO_FILTER[name] ? null : filter[name]])),
  );

let last: Filter = NO_FILTER;

/** Filter of the list shown last. A person's page links back to it. */
export const lastFilter = (): Filter => last;

export function rememberFilter(filter: Filter): void {
  last = filter;
}

export function withFilter(filter: Filter, name: FilterName, value: string): Filter {
  const next: Record<string, string | undefined> = { ...filter };
  if (value === '') delete next[name];
  else next[name] = value;
  if (next['field'] === undefined) delete next['answer'];
  if (name === 'state' && !STATES.some((state) => state === value)) next['state'] = NO_FILTER.state;
  return next as Filter;
}

/** The server counts leads by time only. */
export const isCountable = ({ from: _from, to: _to, ...others }: Filter): boolean =>
  others.state === 'verified' && countFilters(others) === 0;

/** A question without an answer does not filter. */
export const countFilters = (filter: Filter): number =>
  NAMES.filter((name) => name !== 'state' && name !== 'field' && filter[name] !== undefined).length;
