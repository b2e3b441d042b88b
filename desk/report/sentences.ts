import { NO_ANSWER, OTHER_ANSWERS, type AnswerCounts } from '#desk/report/answers.ts';
import type { CodeStatus } from '#server/db/queries/report-figures.ts';
import { OTHERS } from '#server/attribution/attribution.ts';
import { countOf, type Figures, type Selection, type Row, type Step } from '#server/stats/stats.ts';
import type { Share } from '#desk/report/compare-variants.ts';
import type { Report } from '#desk/report/report.ts';
import type { Comparison } from '#desk/report/variants.ts';
import { isoTime } from '#server/platform/time.ts';

const STEPS: Readonly<Record<Step['step'], string>> = {
  seen: 'Page seen',
  opened: 'Form opened',
  asked: 'Asked for a code',
  mailed: 'Were sent a code',
  entered: 'Entered the code',
  quarter: 'Read a quarter',
  half: 'Read half',
  'three-quarters': 'Read three quarters',
  whole: 'Read to the end',
};

export const STATUS_LABELS: Readonly<Record<Exclude<CodeStatus, 'entered'>, string>> = {
  open: 'Can still enter the code',
  'not-tried': 'Got the e-mail but never tried',
  'wrong-attempts': 'Only entered wrong codes',
  refused: 'Refused by the mail server',
  waiting: 'E-mail is still queued',
  'too-late': 'Expired before the e-mail was sent',
  unknown: 'E-mail is no longer stored',
};

export const number = (value: number): string => value.toLocaleString('en');

function countIn(funnel: Figures['funnel'], wanted: Step['step']): number {
  const found = funnel?.find(({ step }) => step === wanted);
  return found === undefined ? 0 : countOf(found);
}

export const areCodesKnown = (funnel: Figures['funnel']): boolean =>
  funnel?.some(({ step }) => step === 'asked') ?? false;

export const areViewsKnown = (funnel: Figures['funnel']): boolean =>
  funnel?.some(({ step }) => step === 'seen') ?? false;

/** Views and codes are only comparable over the same time. */
const isComparable = ({ funnel, codesFrom, viewsFrom }: FunnelParts): boolean =>
  areViewsKnown(funnel) && areCodesKnown(funnel) && codesFrom === null && viewsFrom === null;

type FunnelParts = Pick<Report, 'funnel' | 'codesFrom' | 'viewsFrom'>;

type ShownStep = {
  readonly step: Step['step'];
  readonly name: string;
  readonly count: number;
  readonly share: string;
  readonly ofPrevious: string | null;
};

export function shownSteps(report: FunnelParts): readonly ShownStep[] {
  const funnel = report.funnel ?? [];
  const canCompare = isComparable(report);
  return funnel.map((step, at) => {
    const count = countOf(step);
    const first = canCompare || 'times' in step ? 'seen' : 'asked';
    const previous = funnel[at - 1];
    const hasSameUnit = previous !== undefined && (canCompare || 'people' in previous === 'people' in step);
    return {
      step: step.step,
      name: STEPS[step.step],
      count,
      share: percent(count, countIn(funnel, first)),
      ofPrevious: hasSameUnit ? percent(count, countOf(previous)) : null,
    };
  });
}

/** Example: 62%; returns a dash if the whole is 0. */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${Math.round((100 * part) / whole)}%`;

/** Examples: 48 s, 4 min 10 s, 1 h 5 min */
function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
  return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
}

/** Example: 17 November 2026 */
export const longDay = (iso: string, timeZone: string): string =>
  new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone });

/**
 * Example: 17 Nov
 * @param day such as 2026-11-17
 */
export const shortDay = (day: string): string =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

function spanInWords({ period: { from, to }, timeZone }: Pick<Report, 'period' | 'timeZone'>): string {
  const first = longDay(from, timeZone);
  const last = longDay(isoTime(Date.parse(to) - 1), timeZone);
  if (first === last) return first;
  const year = last.slice(-5);
  return `${first.endsWith(year) ? first.slice(0, -year.length) : first} to ${last}`;
}

/** Example: 23 October to 21 November 2026, from newsletter, campaign spring, variant short */
export const scopeInWords = ({ only, ...when }: Pick<Report, 'period' | 'only' | 'timeZone'>): string =>
  [
    spanInWords(when),
    ...(only?.source === undefined ? [] : [`from ${only.source}`]),
    ...(only?.campaign === undefined ? [] : [`campaign ${only.campaign}`]),
    ...(only?.variant === undefined ? [] : [`variant ${only.variant}`]),
  ].join(', ');

/** Percentages of fewer people are not meaningful. */
const MIN_PEOPLE = 20;

const amount = (count: number, one: string, many: string): string =>
  `${number(count)} ${count === 1 ? one : many}`;
const leadsOf = (count: number): string => amount(count, 'new lead', 'new leads');
const peopleOf = (count: number): string => amount(count, 'person', 'people');
const viewsOf = (count: number): string => amount(count, 'view', 'views');

export type KeyFigure = { readonly name: string; readonly value: string; readonly change: string };

export function keyFigures(report: Report): readonly KeyFigure[] {
  const { before, funnel, timeToEnter } = report;
  const isKnown = areCodesKnown(funnel);
  const isWhole = report.codesFrom === null && isKnown;
  const isCompared = isWhole && before.funnel !== null;
  const asked = countIn(funnel, 'asked');
  const entered = countIn(funnel, 'entered');
  const askedBefore = countIn(before.funnel, 'asked');
  return [
    {
      name: 'New leads',
      value: number(report.leads),
      change: `${number(before.leads)} in ${before.name}.`,
    },
    conversion(report),
    {
      name: 'Asked for a code',
      value: !isKnown ? '–' : number(asked),
      change: isCompared
        ? `${number(askedBefore)} in ${before.name}.`
        : isKnown
          ? 'Codes from the previous period are no longer stored.'
          : '',
    },
    {
      name: 'Entered the code',
      value: !isKnown ? '–' : percent(entered, asked),
      change: isCompared
        ? `${percent(countIn(before.funnel, 'entered'), askedBefore)} in ${before.name}.`
        : '',
    },
    {
      name: 'Median time from e-mail to code',
      value: timeToEnter === null ? '–' : duration(timeToEnter.p50Seconds),
      change:
        isCompared && timeToEnter !== null && before.timeToEnter !== null
          ? `${duration(before.timeToEnter.p50Seconds)} in ${before.name}.`
          : '',
    },
  ];
}

/** Views for the previous period are unknown, because it may end in the middle of a day. */
function conversion(report: Report): KeyFigure {
  const name = 'Views that became leads';
  const { leads } = report;
  const seen = areViewsKnown(report.funnel) ? countIn(report.funnel, 'seen') : null;
  const share = leadsOfViews(report, { leads, seen });
  return seen === null || report.viewsFrom !== null || leads > seen
    ? { name, value: '–', change: 'Not all views are known.' }
    : {
        name,
        value: share === null ? '–' : tenths(share),
        change: `${leadsOf(leads)}, ${viewsOf(seen)}.`,
      };
}

export function funnelSentence(report: FunnelParts): string {
  const { funnel } = report;
  const seen = countIn(funnel, 'seen');
  if (!isComparable(report) || seen === 0) return codeSentence(report);
  return `The page was seen ${seen === 1 ? 'once' : `${number(seen)} times`}. ${codeSentence(report)}`;
}

function codeSentence({ funnel }: Pick<Figures, 'funnel'>): string {
  const asked = countIn(funnel, 'asked');
  const entered = countIn(funnel, 'entered');
  if (!areCodesKnown(funnel)) return 'Codes from this period are no longer stored.';
  if (asked === 0) return 'Nobody asked for a code.';
  return `${number(entered)} of ${peopleOf(asked)} who asked for a code entered it.`;
}

export function daySentence({ byDay, leads }: Pick<Figures, 'byDay' | 'leads'>): string {
  const [best] = byDay.toSorted((a, b) => b.leads - a.leads);
  if (leads === 0 || best === undefined) return 'No new leads in this period.';
  const isWeek = byDay.some(({ days }) => days > 1);
  return `${isWeek ? 'The best week began on' : 'The best day was'} ${weekday(best.day)}, with ${leadsOf(best.leads)}.`;
}

const weekday = (iso: string): string =>
  new Date(iso).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone: 'UTC',
  });

/** @returns null if the views of the whole period are unknown, or if leads came whose views were not counted */
export const leadsOfViews = (
  { viewsFrom }: Pick<Figures, 'viewsFrom'>,
  { leads, seen }: Pick<Figures['bySource'][number], 'leads' | 'seen'>,
): number | null => (viewsFrom !== null || seen === null || seen === 0 || leads > seen ? null : leads / seen);

export function sourceSentence(report: Pick<Figures, 'bySource' | 'leads' | 'viewsFrom'>): string {
  const { bySource, leads } = report;
  const [best] = bySource.filter(({ name }) => name !== OTHERS).toSorted((a, b) => b.leads - a.leads);
  if (leads === 0) return 'No source brought any new leads.';
  if (best === undefined || best.leads === 0)
    return 'All new leads came from sources that the report does not name.';
  return best.name === 'direct'
    ? `${number(best.leads)} of ${leadsOf(leads)} came without a known source.`
    : `${number(best.leads)} of ${leadsOf(leads)} came from ${best.name}${shareOfViews(report, best)}.`;
}

function shareOfViews(report: Pick<Figures, 'viewsFrom'>, row: Figures['bySource'][number]): string {
  const share = leadsOfViews(report, row);
  return share === null ? '' : `, which is ${tenths(share)} of its ${viewsOf(row.seen ?? 0)}`;
}

export function answerSentence({ rows, areSeveral }: AnswerCounts, leads: number): string {
  const best = rows
    .filter(({ name }) => name !== NO_ANSWER && name !== OTHER_ANSWERS)
    .toSorted((a, b) => b.leads - a.leads)[0];
  const hasOthers = rows.some((row) => row.name === OTHER_ANSWERS && row.leads > 0);
  if (leads === 0 || best === undefined || best.leads === 0)
    return `None of the new leads chose an answer${hasOthers ? ' that the form still offers' : ''}.`;
  const several = areSeveral ? ' Leads may choose several answers.' : '';
  return `${number(best.leads)} of ${leadsOf(leads)} chose “${best.name}”.${several}`;
}

const MIN_POINTS_BEHIND = 10;

export function platformSentence({ byPlatform }: Pick<Figures, 'byPlatform'>): string {
  const asked = byPlatform.reduce((sum, row) => sum + row.asked, 0);
  const entered = byPlatform.reduce((sum, row) => sum + row.entered, 0);
  const shareOf = (part: number, whole: number) => (whole === 0 ? 0 : (100 * part) / whole);
  const weakest = byPlatform
    .filter((row) => row.asked >= MIN_PEOPLE && asked - row.asked >= MIN_PEOPLE)
    .map((row) => ({ row, elsewhere: shareOf(entered - row.entered, asked - row.asked) }))
    .map(({ row, elsewhere }) => ({ row, elsewhere, points: elsewhere - shareOf(row.entered, row.asked) }))
    .toSorted((a, b) => b.points - a.points)[0];
  if (weakest && weakest.points >= MIN_POINTS_BEHIND) {
    const { row, elsewhere } = weakest;
    return `At ${platformName(row.name)}, ${percent(row.entered, row.asked)} entered their code, compared with ${Math.round(elsewhere)}% elsewhere.`;
  }
  const most = byPlatform.toSorted((a, b) => b.asked - a.asked)[0];
  if (most === undefined || asked === 0) return 'No requests for a code are known.';
  return `${number(most.asked)} of ${peopleOf(asked)} who asked for a code read their mail at ${platformName(most.name)}.`;
}

const platformName = (name: Row['name']): string =>
  name === 'other' ? 'companies and small providers' : name;

export function timeSentence({ timeToEnter }: Pick<Figures, 'timeToEnter'>): string {
  if (timeToEnter === null)
    return 'The time is unknown, because the e-mails are no longer stored or no code was entered.';
  const { p50Seconds, p95Seconds } = timeToEnter;
  return `Half of the people who entered a code did so within ${duration(p50Seconds)} after it was sent, and 95% within ${duration(p95Seconds)}.`;
}

export function notEnteredSentence({
  notEntered: rows,
  funnel,
}: Pick<Figures, 'notEntered' | 'funnel'>): string {
  const people = rows.reduce((sum, row) => sum + row.people, 0);
  const most = rows.toSorted((a, b) => b.people - a.people)[0];
  if (!areCodesKnown(funnel)) return 'Codes from this period are no longer stored.';
  if (most === undefined)
    return countIn(funnel, 'asked') === 0
      ? 'Nobody asked for a code.'
      : 'Everyone who asked for a code entered it.';
  return `Most common of ${peopleOf(people)}: ${STATUS_LABELS[most.status]} (${number(most.people)}).`;
}

/** Example: 3.1% for 0.031 */
export const tenths = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** Example: 2.4 to 4.0% */
export const interval = ({ low, high }: Share): string => `${(100 * low).toFixed(1)} to ${tenths(high)}`;

export function variantSentence({ since, variants, verdicts }: Comparison, timeZone: string): string {
  const [own] = variants;
  if (since === null || own === undefined)
    return `There is nothing to compare yet, because ${variants.map(({ name }) => name).join(' and ')} have not all been seen so far.`;
  if (variants.every(({ views }) => views === 0))
    return `The comparison begins on ${longDay(since, timeZone)}, because visitors also saw other pages on the day before.`;
  const shareOf = (name: string) => {
    const found = variants.find((variant) => variant.name === name)?.share;
    return found ? tenths(found.share) : '–';
  };
  const sentences = verdicts.map((verdict) => {
    const { variant } = verdict;
    const both = `${own.name} ${shareOf(own.name)}, ${variant} ${shareOf(variant)}`;
    switch (verdict.type) {
      case 'nothing yet':
        return `Neither ${own.name} nor ${variant} has brought a lead yet.`;
      case 'uneven':
        return `${own.name} and ${variant} cannot be compared, because visitors were distributed more unevenly than chance would explain. Check whether there is a cache in front of the site.`;
      case 'differ':
        return `${verdict.better} brings more leads than ${verdict.worse} (${both}), and the difference is reliable.`;
      case 'open':
        return verdict.leading === null
          ? `So far ${own.name} and ${variant} have brought the same number of leads (${both}).`
          : `It is not clear yet which of ${own.name} and ${variant} is better (${both}). ${describeWait(verdict.moreViews)}`;
    }
  });
  return [...sentences, `Counted since ${longDay(since, timeZone)}.`].join(' ');
}

const describeWait = (moreViews: number | null): string =>
  moreViews === null
    ? 'A difference this small is not worth waiting for.'
    : `If the shares stay the same, about ${number(roundEstimate(moreViews))} more first views would show a clear result.`;

/** Rounds to two digits, because the number is an estimate from few leads. */
const roundEstimate = (count: number): number => (count < 10 ? 10 : Number(count.toPrecision(2)));

export function notes({
  timeZone,
  codesFrom,
  mailFrom,
  viewsFrom,
  funnel,
  byVariant,
  only,
}: Report): readonly string[] {
  return [
    `Days are in ${timeZone}. People who asked for codes are counted once per e-mail address, on the day of their first request. Leads are counted on the day their address was first verified.`,
    ...(!areCodesKnown(funnel)
      ? ['Codes from this period are no longer stored (RETENTION_DAYS), but leads are.']
      : codesFrom === null
        ? []
        : [
            `Requests for a code are only known from ${longDay(codesFrom, timeZone)} on, because earlier requests are no longer stored (RETENTION_DAYS).`,
          ]),
    ...(mailFrom === null || !areCodesKnown(funnel)
      ? []
      : [
          `Mail delivery is only known from ${longDay(mailFrom, timeZone)} on, because older e-mails are no longer stored (MAIL_RETENTION_DAYS).`,
        ]),
    ...(areViewsKnown(funnel)
      ? [
          'Page views, opened forms and read articles are counted per view, not per person. Robots and visitors whose browser asks not to be counted are not included.',
        ]
      : []),
    ...(viewsFrom === null
      ? []
      : [
          `Views are only known from ${longDay(viewsFrom, timeZone)} on, because earlier views were not counted or are no longer stored.`,
        ]),
    ...(byVariant === undefined ? [] : variantNotes(byVariant)),
    ...(only?.campaign === undefined
      ? []
      : ['Views are counted by source, not by campaign, so they are left out.']),
    ...(only?.variant === undefined
      ? []
      : [
          'Views of a single variant are left out. The complete report compares the first views of all variants.',
        ]),
    ...(only === undefined ? [] : [omissionNote(only)]),
    'Mail platforms are recognised by the domain of the address, and those of companies by their mail servers in DNS. “Other” means that the domain runs its own mail server or that the platform is unknown.',
  ];
}

const omissionNote = ({ source, campaign }: Selection): string =>
  source === undefined && campaign === undefined
    ? 'People who entered no code are left out if their form was erased or has expired.'
    : 'People whose form was erased or has expired are left out, because their source is no longer known.';

function variantNotes({ variants }: Comparison): string[] {
  const wordings = new Set(variants.map(({ consentVersion }) => consentVersion));
  return [
    `Variants are compared as a whole, from their first complete day on, regardless of the report’s period. A first view is counted when a browser has seen none of the variants before. Browsers without scripts, robots, previews and visitors who ask not to be counted are not included. The verdict is valid however often you check: if there is no difference, the chance of reporting one is at most 5% (mixture test, Robbins 1970). The intervals are Wilson’s (1927) and are only valid for a single check.`,
    ...(wordings.size <= 1
      ? []
      : [
          `The consent wording differs between the variants (${variants.map(({ name, consentVersion }) => `${name}: ${consentVersion}`).join(', ')}), which may explain part of the difference.`,
        ]),
  ];
}

/** Examples: below 15 s, 15 to 30 s, 30 s to 2 min, 2 to 5 min, 10 min and more */
export function timeGroupName(belowSeconds: number | null, fromSeconds: number): string {
  if (belowSeconds === null) return `${duration(fromSeconds)} and more`;
  if (fromSeconds === 0) return `below ${duration(belowSeconds)}`;
  if (belowSeconds < 60) return `${fromSeconds} to ${duration(belowSeconds)}`;
  if (fromSeconds < 60) return `${duration(fromSeconds)} to ${duration(belowSeconds)}`;
  return `${fromSeconds / 60} to ${belowSeconds / 60} min`;
}
