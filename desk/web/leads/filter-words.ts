// A filter as a reader says it.
import type { Me } from '#desk/calls/door.ts';
import type { Filter } from '#desk/calls/people.ts';
import { dayName } from '#desk/web/ui/dates.ts';
import { filter as words, states } from '#desk/web/words.ts';

/** Such as "Leads, source newsletter, from 1 Nov". @param fields questions of the campaign's own */
export function filterInWords(filter: Filter, fields: Me['fields']): string {
  const { search, source, flag, field, answer, domain, from, to } = filter;
  const question = fields.find(({ id }) => id === field)?.label ?? field;
  const parts = [
    states[filter.state].many,
    search && words.searched(search),
    source && words.ofSource(source),
    flag && words.flagged(flag),
    domain && words.atDomain(domain),
    field && answer && words.answered(question ?? field, answer),
    from && words.fromDay(dayName(from)),
    to && words.toDay(dayName(to)),
  ];
  return parts.filter(Boolean).join(', ');
}
