import type { TimelineEntry } from '#desk/endpoints/people.ts';

export type Tone = 'good' | 'bad' | 'quiet';

const TONES: Readonly<Partial<Record<TimelineEntry['kind'], Tone>>> = {
  code: 'good',
  lead: 'good',
  read: 'good',
  consent: 'good',
  withdrawal: 'bad',
};

/** Endings of `what` that mark failures (desk/people/timeline.ts). */
const BAD_ENDS = [' failed', ' dead', ' dropped', ' wrong codes', 'was suppressed'];

export const toneOf = ({ kind, what }: Pick<TimelineEntry, 'kind' | 'what'>): Tone =>
  BAD_ENDS.some((end) => what.endsWith(end)) ? 'bad' : (TONES[kind] ?? 'quiet');

const PRIMARY_DETAILS: Readonly<Partial<Record<TimelineEntry['kind'], readonly string[]>>> = {
  form: ['source'],
  mail: ['kind'],
  code: ['how often'],
  export: ['as'],
  webhook: ['event'],
  withdrawal: ['reason', 'by way of'],
};
const PRIMARY_WHEN_BAD: readonly string[] = [
  'the mail server said',
  'the receiver responded',
  'reason',
  'note',
  'how often',
];

export type Detail = { readonly name: string; readonly value: string };

export function detailsOf(entry: Pick<TimelineEntry, 'kind' | 'what' | 'details'>): {
  readonly primary: readonly Detail[];
  readonly more: readonly Detail[];
} {
  const all = Object.entries(entry.details).map(([name, value]) => ({ name, value }));
  // Every detail of a correction is a change.
  if (entry.kind === 'correction') return { primary: all, more: [] };
  const wanted = new Set([
    ...(PRIMARY_DETAILS[entry.kind] ?? []),
    ...(toneOf(entry) === 'bad' ? PRIMARY_WHEN_BAD : []),
  ]);
  return {
    primary: all.filter(({ name }) => wanted.has(name)),
    more: all.filter(({ name }) => !wanted.has(name)),
  };
}

export const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text);

export function groupByDay<Entry extends { readonly at: string }>(
  entries: readonly Entry[],
  dayOf: (at: string) => string,
) {
  const days: { day: string; entries: Entry[] }[] = [];
  for (const entry of entries.toReversed()) {
    const day = dayOf(entry.at);
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  return days;
}
