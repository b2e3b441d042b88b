import { createHash } from 'node:crypto';

import { CommandFailure } from '#desk/command-failure.ts';
import type { Cell } from '#desk/export/csv.ts';
import { formatSecond } from '#desk/shown-time.ts';
import {
  firstSourceOf,
  readAttribution,
  sourceOf,
  type Attribution,
} from '#server/attribution/attribution.ts';
import type { ContactRecord, ContactState } from '#server/db/contacts/filter.ts';
import { splitName } from '#server/platform/text.ts';
import { isoTime } from '#server/platform/time.ts';
import { IMPORTED, importedConsentText, leadAsJson, type LeadAsJson } from '#server/webhooks/lead-as-json.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { TOUCH_NAMES } from '#shared/funnel.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { displayedAnswer, formerAnswersText, readAnswers, type OwnAnswers } from '#shared/own-fields.ts';
import { TOOLS, TOOL_NAMES, type LeadValue, type ToolName } from '#shared/tools.ts';

/** Times are ISO 8601 in UTC; unknown values are empty. */
export type ExportedLead = Omit<LeadAnswers, 'answers'> & {
  readonly answers: OwnAnswers | undefined;
  readonly email: string;
  readonly first_verified_at: string;
  readonly last_verified_at: string;
  readonly first_read_at: string;
  readonly consent_given_at: string;
  readonly consent_version: string;
  readonly consent_text: string;
  readonly news_consent: 'yes' | 'no';
  readonly news_consent_given_at: string;
  readonly news_consent_version: string;
  readonly news_consent_text: string;
  readonly source: string;
  readonly flags: string;
  readonly state: ContactState;
  /** Time of verification, of the newest request for a code, or of import. */
  readonly state_since: string;
  readonly unsubscribe_url: string;
  readonly attribution: Attribution;
  /** Undefined without variants. */
  readonly variant: string | undefined;
};

export type UnsubscribeUrl = (leadId: string) => string;

export type Column = readonly [heading: string, value: (lead: ExportedLead, conversionName: string) => Cell];

export type CsvFormat = {
  readonly kind: 'csv';
  readonly title: string;
  readonly about: string;
  readonly hasLink?: true;
  readonly preamble?: string;
  readonly columns: readonly Column[];
};
type JsonLinesFormat = { readonly kind: 'jsonl'; readonly title: string; readonly about: string };

const leadColumn = (name: Exclude<keyof ExportedLead, 'attribution' | 'answers' | 'variant'>): Column => [
  name,
  (lead) => lead[name],
];
const touchColumn = (heading: string, name: (typeof TOUCH_NAMES)[number]): Column => [
  heading,
  (lead) => lead.attribution[name] ?? '',
];
const conversionNameColumn: Column = ['Conversion Name', (_, name) => name];
const emptyValueColumns: readonly Column[] = [
  ['Conversion Value', () => ''],
  ['Conversion Currency', () => ''],
];
const COMPUTED = {
  first_name: ({ name }) => splitName(name).first,
  last_name: ({ name }) => splitName(name).last,
  company_and_name: ({ company, name }) => `${company}: ${name}`,
  legal_basis: () => 'Freely given consent from contact',
} as const satisfies Partial<Record<LeadValue, (lead: ExportedLead) => string>>;

const isComputed = (value: LeadValue): value is keyof typeof COMPUTED => value in COMPUTED;
const isTouch = (value: LeadValue): value is (typeof TOUCH_NAMES)[number] =>
  TOUCH_NAMES.some((name) => name === value);

const toolColumn = ([heading, value]: readonly [heading: string, value: LeadValue]): Column =>
  isComputed(value)
    ? [heading, COMPUTED[value]]
    : isTouch(value)
      ? touchColumn(heading, value)
      : [heading, (lead) => lead[value]];

const TOOL_FORMATS = Object.fromEntries(
  TOOL_NAMES.map((name) => {
    const { columns, news: _, ...tool } = TOOLS[name];
    return [name, { kind: 'csv', ...tool, hasLink: true, columns: Object.entries(columns).map(toolColumn) }];
  }),
) as unknown as Readonly<Record<ToolName, CsvFormat>>;

export const FORMATS = {
  csv: {
    kind: 'csv',
    title: 'Spreadsheet',
    about: 'every column',
    hasLink: true,
    columns: [
      ...(['email', 'name', 'company', 'first_verified_at', 'last_verified_at'] as const).map(leadColumn),
      ...(['consent_given_at', 'consent_version', 'consent_text', 'source', 'flags'] as const).map(
        leadColumn,
      ),
      ...(['state', 'state_since'] as const).map(leadColumn),
      ...TOUCH_NAMES.map((name) => touchColumn(name, name)),
      ['first_source', (lead) => (lead.state === 'imported' ? IMPORTED : firstSourceOf(lead.attribution))],
      leadColumn('unsubscribe_url'),
      leadColumn('first_read_at'),
    ],
  },
  jsonl: { kind: 'jsonl', title: 'JSON', about: 'one JSON object per line, as in webhooks' },
  ...TOOL_FORMATS,
  'google-ads': {
    kind: 'csv',
    title: 'Google Ads',
    about: 'offline conversions, addresses hashed',
    // Declares the file's time zone: https://support.google.com/google-ads/answer/7014069.
    preamble: 'Parameters:TimeZone=+0000',
    columns: [
      touchColumn('Google Click ID', 'gclid'),
      touchColumn('GBRAID', 'gbraid'),
      touchColumn('WBRAID', 'wbraid'),
      ['Email', (lead) => sha256(withoutGmailDots(lead.email))],
      conversionNameColumn,
      ['Conversion Time', (lead) => formatSecond(lead.first_verified_at)],
      ...emptyValueColumns,
    ],
  },
  'microsoft-ads': {
    kind: 'csv',
    title: 'Microsoft Advertising',
    about: 'offline conversions, addresses hashed',
    preamble: 'Parameters:TimeZone=+0000',
    columns: [
      touchColumn('Microsoft Click ID', 'msclkid'),
      ['Hashed Email Address', (lead) => sha256(lead.email)],
      conversionNameColumn,
      ['Conversion Time', (lead) => formatSecond(lead.first_verified_at)],
      ...emptyValueColumns,
    ],
  },
  meta: {
    kind: 'csv',
    title: 'Meta Ads',
    about: 'offline events, addresses and names hashed',
    columns: [
      ['email', (lead) => sha256(lead.email)],
      ['fn', (lead) => hashedName(splitName(lead.name).first)],
      ['ln', (lead) => hashedName(splitName(lead.name).last)],
      ['event_name', (_, name) => name],
      ['event_time', (lead) => lead.first_verified_at],
      ['value', () => ''],
      ['currency', () => ''],
    ],
  },
  linkedin: {
    kind: 'csv',
    title: 'LinkedIn Ads',
    about: 'offline conversions, addresses hashed',
    // https://www.linkedin.com/help/lms/answer/a530615 has the headings, none of them for li_fat_id. LinkedIn requires an amount,
    // and 1 if it is unknown.
    columns: [
      ['email', (lead) => sha256(lead.email)],
      ['timestamp', (lead) => String(Date.parse(lead.first_verified_at))],
      ['eventtype', (_, name) => linkedinType(name)],
      ['amount', () => '1'],
      ['currency', () => 'USD'],
    ],
  },
} as const satisfies Record<string, CsvFormat | JsonLinesFormat>;

export type FormatName = keyof typeof FORMATS;

/** Example: SIGN_UP for Sign up */
const linkedinType = (name: string): string => name.toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_');

const isTool = (name: string): name is ToolName => name in TOOLS;

/**
 * Our CSV has a column per custom question, and a last one for removed questions; other programs only get mapped properties.
 * @param options hasAnswers: a custom question was ever asked; hasVariants: variants were ever shown; hasNews: the form has a box
 * for news, or somebody ticked an earlier one
 */
export function ownColumns(
  format: FormatName,
  {
    fields,
    hasAnswers,
    hasVariants,
    hasNews,
  }: {
    readonly fields: readonly OwnField[];
    readonly hasAnswers: boolean;
    readonly hasVariants: boolean;
    readonly hasNews: boolean;
  },
): readonly Column[] {
  if (format === 'csv')
    return [
      ...(hasNews ? NEWS_COLUMNS.map(leadColumn) : []),
      ...(hasVariants ? [['variant', (lead) => lead.variant ?? ''] satisfies Column] : []),
      ...(hasAnswers
        ? [
            ...fields.map((field): Column => [field.id, ({ answers }) => answerCell(field, answers)]),
            ['earlier_answers', ({ answers = {} }) => formerAnswersText(fields, answers)] satisfies Column,
          ]
        : []),
    ];
  if (!isTool(format)) return [];
  const mappedAnswers = fields.flatMap((field): Column[] => {
    const property = field.properties?.[format];
    // Other programs separate choices with semicolons.
    return property === undefined ? [] : [[property, ({ answers }) => answerCell(field, answers, ';')]];
  });
  return hasNews ? [...Object.entries(TOOLS[format].news).map(toolColumn), ...mappedAnswers] : mappedAnswers;
}

/** @returns labels of the questions whose answers the other program's file lacks, because they name no property for it */
export const labelsWithoutProperty = (format: FormatName, fields: readonly OwnField[]): readonly string[] =>
  isTool(format)
    ? fields.filter(({ properties }) => properties?.[format] === undefined).map(({ label }) => label)
    : [];

const NEWS_COLUMNS = [
  'news_consent',
  'news_consent_given_at',
  'news_consent_version',
  'news_consent_text',
] as const;

function answerCell({ id, kind }: OwnField, answers: OwnAnswers = {}, separator?: string): Cell {
  const text = displayedAnswer(answers[id]?.answer, separator);
  return kind === 'telephone' || kind === 'number' ? { figure: text } : text;
}

export const FORMATS_WITH_STATE: readonly FormatName[] = ['csv', 'jsonl'];
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** The same JSON as in events (docs/webhooks.md), plus the state. */
export type PersonAsJson = LeadAsJson & {
  readonly state: ContactState;
  readonly state_since: string;
};

export const personAsJson = (record: ContactRecord, unsubscribeUrl: UnsubscribeUrl): PersonAsJson => ({
  ...leadAsJson(record, unsubscribeUrl),
  state: record.state,
  state_since: isoTime(record.state_since),
});

export function exportedLead(record: ContactRecord, unsubscribeUrl: UnsubscribeUrl): ExportedLead {
  const { email, flags, state } = record;
  const attribution = record.attribution === null ? {} : readAttribution(record.attribution);
  const firstVerifiedAt = timeOrEmpty(record.first_verified_at);
  return {
    email,
    name: record.name,
    company: record.company,
    answers: record.answers === null ? undefined : readAnswers(record.answers),
    first_verified_at: firstVerifiedAt,
    // Usually equal; reusing the text is faster for a million leads.
    last_verified_at:
      record.last_verified_at === record.first_verified_at
        ? firstVerifiedAt
        : timeOrEmpty(record.last_verified_at),
    first_read_at: timeOrEmpty(record.first_read_at),
    consent_given_at: timeOrEmpty(record.consent_given_at),
    consent_version: record.consent_version ?? '',
    consent_text:
      record.consent_source === null
        ? (record.consent_text ?? '')
        : importedConsentText(record.consent_source),
    news_consent: record.news_consent_version === null ? 'no' : 'yes',
    news_consent_given_at: timeOrEmpty(record.news_consent_given_at),
    news_consent_version: record.news_consent_version ?? '',
    news_consent_text: record.news_consent_text ?? '',
    source: state === 'imported' ? IMPORTED : sourceOf(attribution),
    flags,
    state,
    state_since: state === 'verified' ? firstVerifiedAt : isoTime(record.state_since),
    unsubscribe_url: record.first_verified_at === null ? '' : unsubscribeUrl(record.id),
    attribution,
    variant: record.variant ?? undefined,
  };
}

const timeOrEmpty = (ms: number | null): string => (ms === null ? '' : isoTime(ms));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Removes dots before the @, because Google hashes Gmail addresses without them
 * (https://support.google.com/google-ads/answer/13262500).
 */
function withoutGmailDots(email: string): string {
  const [, local, domain] = /^(.*)@(gmail\.com|googlemail\.com)$/.exec(email) ?? [];
  return local === undefined || domain === undefined ? email : `${local.replaceAll('.', '')}@${domain}`;
}

/** Lower case without punctuation, in UTF-8 (Meta's customer information parameters). */
function hashedName(name: string): string {
  const letters = name.toLowerCase().replaceAll(/[\p{P}\p{S}\s]/gu, '');
  return letters === '' ? '' : sha256(letters);
}

/** @throws {CommandFailure} */
export function checkFormat(format: FormatName, state: ContactState): void {
  // Other programs' formats lack a state column, so unverified people would count as leads.
  if (state !== 'verified' && !FORMATS_WITH_STATE.includes(format))
    throw new CommandFailure(
      `The format ${format} only takes verified leads, because it has no column for unverified people. Use --format ${FORMATS_WITH_STATE.join(' or ')} instead.`,
      2,
    );
}
