import type { Row } from '#server/stats/stats.ts';
import type { AnswerCounts } from '#desk/report/answers.ts';
import type { Report } from '#desk/report/report.ts';
import type { Comparison } from '#desk/report/variants.ts';
import {
  STATUS_LABELS,
  areCodesKnown,
  answerSentence,
  areViewsKnown,
  daySentence,
  notEnteredSentence,
  funnelSentence,
  number,
  percent,
  platformSentence,
  shownSteps,
  sourceSentence,
  timeGroupName,
  interval,
  leadsOfViews,
  tenths,
  timeSentence,
  variantSentence,
} from '#desk/report/sentences.ts';

export type Section = {
  readonly kind: 'funnel' | 'status' | 'time' | 'day' | 'source' | 'platform' | 'answer' | 'variant';
  readonly title: string;
  readonly sentence: string;
  readonly legend: { readonly value: string | null; readonly rest: string | null };
  readonly columns: readonly string[];
  readonly groups: readonly RowGroup[];
};

type RowGroup = { readonly name: string | null; readonly rows: readonly SectionRow[] };

export type SectionRow = {
  readonly cells: readonly string[];
  readonly value: number;
  readonly rest: number;
};

export const sectionsOf = (report: Report): readonly Section[] => [
  funnelSection(report),
  notEnteredSection(report),
  timeSection(report),
  daySection(report),
  ...(report.only?.source === undefined ? [sourceSection(report)] : []),
  platformSection(report),
  ...(report.byAnswer ?? []).map((answers) => answerSection(report, answers)),
  ...(report.byVariant === undefined ? [] : [variantSection(report.byVariant, report.timeZone)]),
];

/** Views have a separate scale, because they would dwarf the later steps. */
function funnelSection(report: Report): Section {
  const rows = shownSteps(report).map(({ step, name, count, share, ofPrevious }) => ({
    isView: step === 'seen' || step === 'opened',
    ...rowOf([name, number(count), share, ofPrevious ?? '–'], count),
  }));
  const { true: views = [], false: later = [] } = Object.groupBy(rows, ({ isView }) => `${isView}`);
  return {
    kind: 'funnel',
    title: 'Funnel',
    sentence: funnelSentence(report),
    legend: { value: areViewsKnown(report.funnel) ? 'Views and people' : 'People', rest: null },
    columns: ['Step', areViewsKnown(report.funnel) ? 'Count' : 'People', 'Share', 'Of previous step'],
    groups:
      views.length === 0
        ? [{ name: null, rows: later }]
        : [
            { name: 'All visitors', rows: views },
            { name: 'From the form on', rows: later },
          ].filter((group) => group.rows.length > 0),
  };
}

function notEnteredSection(report: Report): Section {
  const { notEntered } = report;
  const missed = notEntered.reduce((sum, { people }) => sum + people, 0);
  return {
    kind: 'status',
    title: 'Why codes were not entered',
    sentence: notEnteredSentence(report),
    legend: { value: null, rest: 'People' },
    columns: ['Outcome', 'People', 'Share'],
    groups: ungrouped(
      notEntered.map(({ status, people }) =>
        rowOf([STATUS_LABELS[status], number(people), percent(people, missed)], 0, people),
      ),
    ),
  };
}

function timeSection(report: Report): Section {
  const { groups = [], people: all = 0 } = report.timeToEnter ?? {};
  return {
    kind: 'time',
    title: 'From e-mail to code',
    sentence: timeSentence(report),
    legend: { value: 'People', rest: null },
    columns: ['Time', 'People', 'Share'],
    groups: ungrouped(
      groups.map(({ belowSeconds, people }, at) => {
        const name = timeGroupName(belowSeconds, groups[at - 1]?.belowSeconds ?? 0);
        return rowOf([name, number(people), percent(people, all)], people);
      }),
    ),
  };
}

function daySection(report: Report): Section {
  const { byDay } = report;
  const isWeekly = byDay.some(({ days }) => days > 1);
  return {
    kind: 'day',
    title: isWeekly ? 'By week' : 'By day',
    sentence: daySentence(report),
    legend: leadLegend(report),
    columns: [isWeekly ? 'Week from' : 'Day', ...seenColumn(report), ...countColumns(report)],
    groups: ungrouped(byDay.map((row) => countsRow(report, row, [row.day, ...seenCell(report, row)]))),
  };
}

function sourceSection(report: Report): Section {
  return {
    kind: 'source',
    title: 'By source',
    sentence: sourceSentence(report),
    legend: leadLegend(report),
    columns: [
      'Source',
      ...seenColumn(report),
      ...countColumns(report),
      ...(areViewsKnown(report.funnel) ? ['Leads of views'] : []),
    ],
    groups: ungrouped(
      report.bySource.map((row) => {
        const counted = countsRow(report, row, [row.name, ...seenCell(report, row)]);
        if (!areViewsKnown(report.funnel)) return counted;
        const share = leadsOfViews(report, row);
        return { ...counted, cells: [...counted.cells, share === null ? '–' : tenths(share)] };
      }),
    ),
  };
}

function platformSection(report: Report): Section {
  return {
    kind: 'platform',
    title: 'By mail platform',
    sentence: platformSentence(report),
    legend: leadLegend(report),
    columns: ['Platform', ...countColumns(report)],
    groups: ungrouped(report.byPlatform.map((row) => countsRow(report, row, [row.name]))),
  };
}

function answerSection({ leads: all }: Report, answers: AnswerCounts): Section {
  return {
    kind: 'answer',
    title: answers.label,
    sentence: answerSentence(answers, all),
    legend: { value: 'New leads', rest: null },
    columns: ['Answer', 'New leads', 'Share'],
    groups: ungrouped(
      answers.rows.map(({ name, leads }) => rowOf([name, number(leads), percent(leads, all)], leads)),
    ),
  };
}

function variantSection(comparison: Comparison, timeZone: string): Section {
  return {
    kind: 'variant',
    title: 'Variants of the page',
    sentence: variantSentence(comparison, timeZone),
    legend: { value: 'New leads from first views', rest: null },
    columns: ['Variant', 'First views', 'New leads', 'Share', '95% interval'],
    groups: ungrouped(
      comparison.variants.map(({ name, views, leads, share }) => {
        const shares = share === null ? ['–', '–'] : [tenths(share.share), interval(share)];
        return rowOf([name, number(views), number(leads), ...shares], share?.share ?? 0);
      }),
    ),
  };
}

const rowOf = (cells: readonly string[], value: number, rest = 0): SectionRow => ({ cells, value, rest });

const ungrouped = (rows: readonly SectionRow[]): readonly RowGroup[] => [{ name: null, rows }];

type Counts = Omit<Row, 'name'>;
type Funnel = Pick<Report, 'funnel'>;

const seenColumn = ({ funnel }: Funnel): readonly string[] => (areViewsKnown(funnel) ? ['Views'] : []);

const seenCell = ({ funnel }: Funnel, { seen }: { seen: number | null }): readonly string[] =>
  areViewsKnown(funnel) ? [seen === null ? '–' : number(seen)] : [];

const countColumns = ({ funnel }: Funnel): readonly string[] =>
  areCodesKnown(funnel) ? ['Asked', 'Entered', 'Share', 'New leads'] : ['New leads'];

const countsRow = (
  { funnel }: Funnel,
  { asked, entered, leads }: Counts,
  cells: readonly string[],
): SectionRow =>
  areCodesKnown(funnel)
    ? rowOf(
        [...cells, number(asked), number(entered), percent(entered, asked), number(leads)],
        leads,
        asked - entered,
      )
    : rowOf([...cells, number(leads)], leads);

const leadLegend = ({ funnel }: Funnel): Section['legend'] => ({
  value: 'New leads',
  rest: areCodesKnown(funnel) ? 'Asked but entered no code' : null,
});
