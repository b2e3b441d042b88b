// The sections of the report: each a finding in one sentence, with a chart and a table of the same figures. The page and the terminal show
// them.
import type { Row } from '#server/figures/figures.ts';
import type { AnswerCounts } from '#desk/report/answers.ts';
import type { Report } from '#desk/report/report.ts';
import type { Comparison } from '#desk/report/variants.ts';
import {
  FATES,
  areCodesKnown,
  answerSentence,
  areViewsKnown,
  daySentence,
  fateSentence,
  funnelSentence,
  number,
  percent,
  platformSentence,
  shortDay,
  shownSteps,
  sourceSentence,
  timeGroupName,
  interval,
  tenths,
  timeSentence,
  variantSentence,
} from '#desk/report/sentences.ts';

export type Section = {
  readonly chart: 'funnel' | 'fate' | 'day' | 'source' | 'platform' | 'time' | 'answer' | 'variant';
  readonly title: string;
  readonly sentence: string;
  /** Headings of the table. The first column names a row, the others count. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** One for each row. */
  readonly bars: readonly Bar[];
};

export type Bar = {
  readonly name: string;
  readonly value: number;
  /** People who asked for a code and entered none, drawn behind the value in a pale colour; 0 where that does not apply. */
  readonly rest: number;
  /** Text behind the bar. */
  readonly label: string;
};

export const sectionsOf = (report: Report): readonly Section[] => [
  funnelSection(report),
  fateSection(report),
  daySection(report),
  ...(report.only?.source === undefined ? [sourceSection(report)] : []),
  platformSection(report),
  timeSection(report),
  ...(report.byAnswer ?? []).map((answers) => answerSection(report, answers)),
  ...(report.byVariant === undefined ? [] : [variantSection(report.byVariant)]),
];

function funnelSection(report: Report): Section {
  const steps = shownSteps(report);
  const isViewKnown = areViewsKnown(report.funnel);
  return {
    chart: 'funnel',
    title: 'Funnel',
    sentence: funnelSentence(report),
    columns: ['Step', isViewKnown ? 'Count' : 'People', 'Share', 'Of the one before'],
    rows: steps.map(({ name, count, share, ofBefore }) => [name, number(count), share, ofBefore ?? '–']),
    bars: steps.map(({ name, count, share, ofBefore }) => ({
      name,
      value: count,
      rest: 0,
      label: [number(count), isViewKnown ? ofBefore : share].filter((text) => text !== null).join(' · '),
    })),
  };
}

function fateSection(report: Report): Section {
  const { notEntered } = report;
  const missed = notEntered.reduce((sum, { people }) => sum + people, 0);
  return {
    chart: 'fate',
    title: 'Why codes were not entered',
    sentence: fateSentence(report),
    columns: ['What became of it', 'People', 'Share'],
    rows: notEntered.map(({ fate, people }) => [FATES[fate], number(people), percent(people, missed)]),
    bars: notEntered.map(({ fate, people }) => ({
      name: FATES[fate],
      value: people,
      rest: 0,
      label: number(people),
    })),
  };
}

function daySection(report: Report): Section {
  const { byDay, funnel } = report;
  const isWeekly = byDay.some(({ days }) => days > 1);
  return {
    chart: 'day',
    title: isWeekly ? 'By week' : 'By day',
    sentence: daySentence(report),
    columns: [isWeekly ? 'Week from' : 'Day', ...seenColumn(report), ...countColumns(report)],
    rows: byDay.map((row) => [row.day, ...seenCell(report, row), ...countCells(report, row)]),
    bars: byDay.map((row) => ({ ...countBar(funnel, row), name: shortDay(row.day) })),
  };
}

function sourceSection(report: Report): Section {
  const { bySource, funnel } = report;
  return {
    chart: 'source',
    title: 'By source',
    sentence: sourceSentence(report),
    columns: ['Source', ...seenColumn(report), ...countColumns(report)],
    rows: bySource.map((row) => [row.name, ...seenCell(report, row), ...countCells(report, row)]),
    bars: bySource.map((row) => ({ ...countBar(funnel, row), name: row.name })),
  };
}

function platformSection(report: Report): Section {
  const { byPlatform, funnel } = report;
  return {
    chart: 'platform',
    title: 'By mail platform',
    sentence: platformSentence(report),
    columns: ['Platform', ...countColumns(report)],
    rows: byPlatform.map((row) => [row.name, ...countCells(report, row)]),
    bars: byPlatform.map((row) => ({ ...countBar(funnel, row), name: row.name })),
  };
}

function timeSection(report: Report): Section {
  const { groups = [], people: all = 0 } = report.timeToEnter ?? {};
  const named = groups.map(({ belowSeconds, people }, at) => ({
    name: timeGroupName(belowSeconds, groups[at - 1]?.belowSeconds ?? 0),
    people,
    share: percent(people, all),
  }));
  return {
    chart: 'time',
    title: 'From mail to code',
    sentence: timeSentence(report),
    columns: ['Time', 'People', 'Share'],
    rows: named.map(({ name, people, share }) => [name, number(people), share]),
    bars: named.map(({ name, people, share }) => ({
      name,
      value: people,
      rest: 0,
      label: people === 0 ? '0' : `${number(people)} · ${share}`,
    })),
  };
}

function answerSection({ leads: all }: Report, answers: AnswerCounts): Section {
  const rows = answers.rows.map((row) => ({ ...row, share: percent(row.leads, all) }));
  return {
    chart: 'answer',
    title: answers.label,
    sentence: answerSentence(answers, all),
    columns: ['Answer', 'New leads', 'Share'],
    rows: rows.map(({ name, leads, share }) => [name, number(leads), share]),
    bars: rows.map(({ name, leads, share }) => ({
      name,
      value: leads,
      rest: 0,
      label: leads === 0 ? '0' : `${number(leads)} · ${share}`,
    })),
  };
}

function variantSection(comparison: Comparison): Section {
  const rows = comparison.variants.map(({ name, views, leads, share }) => ({
    name,
    cells: [
      number(views),
      number(leads),
      ...(share === null ? ['–', '–'] : [tenths(share.share), interval(share)]),
    ],
    bar: {
      name,
      value: share?.share ?? 0,
      rest: 0,
      label:
        share === null ? 'no views yet' : `${tenths(share.share)} · ${number(leads)} of ${number(views)}`,
    },
  }));
  return {
    chart: 'variant',
    title: 'Variants of the page',
    sentence: variantSentence(comparison),
    columns: ['Variant', 'First views', 'New leads', 'Share', '95% interval'],
    rows: rows.map(({ name, cells }) => [name, ...cells]),
    bars: rows.map(({ bar }) => bar),
  };
}

type Counted = Omit<Row, 'name'>;
type Funnel = Pick<Report, 'funnel'>;

const seenColumn = ({ funnel }: Funnel): readonly string[] => (areViewsKnown(funnel) ? ['Views'] : []);

const seenCell = ({ funnel }: Funnel, { seen }: { seen: number | null }): readonly string[] =>
  areViewsKnown(funnel) ? [seen === null ? '–' : number(seen)] : [];

const countColumns = ({ funnel }: Funnel): readonly string[] =>
  areCodesKnown(funnel) ? ['Asked', 'Entered', 'Share', 'New leads'] : ['New leads'];

const countCells = ({ funnel }: Funnel, { asked, entered, leads }: Counted): readonly string[] =>
  areCodesKnown(funnel)
    ? [number(asked), number(entered), percent(entered, asked), number(leads)]
    : [number(leads)];

const countBar = (funnel: Report['funnel'], { asked, entered, leads }: Counted): Omit<Bar, 'name'> =>
  areCodesKnown(funnel)
    ? { value: leads, rest: asked - entered, label: `${number(leads)} · ${percent(entered, asked)}` }
    : { value: leads, rest: 0, label: number(leads) };
