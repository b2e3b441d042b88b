// The tables of the report: what stands behind each chart, and what the terminal shows.
import type { Report } from '#desk/report/report.ts';
import {
  FATES,
  areCodesKnown,
  areViewsKnown,
  daySentence,
  fateSentence,
  funnelSentence,
  number,
  percent,
  platformSentence,
  shownSteps,
  sourceSentence,
  timeGroupName,
  timeSentence,
} from '#desk/report/sentences.ts';

/** One finding: a sentence, a chart (drawn elsewhere) and its table. The first column says what, the others how many. */
export type Section = {
  readonly chart: 'funnel' | 'day' | 'source' | 'platform' | 'time' | 'fate';
  readonly title: string;
  readonly sentence: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What a bar of each row is as long as. */
  readonly lengths: readonly number[];
};

export function sectionsOf(report: Report): readonly Section[] {
  const { funnel, byDay, bySource, byPlatform, timeToEnter, notEntered } = report;
  const isCodeKnown = areCodesKnown(funnel);
  const isViewKnown = areViewsKnown(funnel);
  const counts = (row: { asked: number; entered: number; leads: number }) => [
    ...(!isCodeKnown ? [] : [number(row.asked), number(row.entered), percent(row.entered, row.asked)]),
    number(row.leads),
  ];
  const countColumns = [...(!isCodeKnown ? [] : ['Asked', 'Entered', 'Share']), 'New leads'];
  const seen = (row: { seen: number | null }) =>
    isViewKnown ? [row.seen === null ? '–' : number(row.seen)] : [];
  const seenColumn = isViewKnown ? ['Views'] : [];
  const steps = shownSteps(report);
  const missed = notEntered.reduce((sum, row) => sum + row.people, 0);
  const isWeekly = byDay.some(({ days }) => days > 1);
  return [
    {
      chart: 'funnel',
      title: 'Funnel',
      sentence: funnelSentence(report),
      columns: ['Step', isViewKnown ? 'Count' : 'People', 'Share', 'Of the one before'],
      rows: steps.map(({ name, count, share, ofBefore }) => [name, number(count), share, ofBefore ?? '–']),
      lengths: steps.map(({ count }) => count),
    },
    {
      chart: 'fate',
      title: 'Why codes were not entered',
      sentence: fateSentence(report),
      columns: ['What became of it', 'People', 'Share'],
      rows: notEntered.map(({ fate, people }) => [FATES[fate], number(people), percent(people, missed)]),
      lengths: notEntered.map(({ people }) => people),
    },
    {
      chart: 'day',
      title: isWeekly ? 'By week' : 'By day',
      sentence: daySentence(report),
      columns: [isWeekly ? 'Week from' : 'Day', ...seenColumn, ...countColumns],
      rows: byDay.map((row) => [row.day, ...seen(row), ...counts(row)]),
      lengths: byDay.map(({ leads }) => leads),
    },
    {
      chart: 'source',
      title: 'By source',
      sentence: sourceSentence(report),
      columns: ['Source', ...seenColumn, ...countColumns],
      rows: bySource.map((row) => [row.name, ...seen(row), ...counts(row)]),
      lengths: bySource.map(({ leads }) => leads),
    },
    {
      chart: 'platform',
      title: 'By mail platform',
      sentence: platformSentence(report),
      columns: ['Platform', ...countColumns],
      rows: byPlatform.map((row) => [row.name, ...counts(row)]),
      lengths: byPlatform.map(({ leads }) => leads),
    },
    {
      chart: 'time',
      title: 'From mail to code',
      sentence: timeSentence(report),
      columns: ['Time', 'People', 'Share'],
      rows: (timeToEnter?.groups ?? []).map(({ belowSeconds, people }, index, groups) => [
        timeGroupName(belowSeconds, groups[index - 1]?.belowSeconds ?? 0),
        number(people),
        percent(people, timeToEnter?.people ?? 0),
      ]),
      lengths: (timeToEnter?.groups ?? []).map(({ people }) => people),
    },
  ];
}
