// The formats of an export: our CSV and JSON Lines, and those that other programs import. A new format is an entry here. Only our two have
// a column for the state of a person; the others have no place for it, and hold verified leads alone.
import { createHash } from 'node:crypto';

import type { Cell } from '#desk/export/csv.ts';
import { secondOf } from '#desk/shown-time.ts';
import { splitName } from '#server/platform/split-name.ts';
import type { LeadRecord, LeadState } from '#server/db/contacts/person.ts';
import {
  firstSourceOf,
  readAttribution,
  sourceOf,
  type KeptAttribution,
} from '#server/attribution/source.ts';
import { isoTime } from '#server/platform/time.ts';
import { IMPORTED, importedConsentText, leadAsJson, type LeadAsJson } from '#server/webhooks/lead-as-json.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { answerText, formerAnswers, readAnswers, type OwnAnswers } from '#shared/own-answers.ts';
import { TOUCH_NAMES } from '#shared/attribution.ts';

/** A lead as columns take it. Times are ISO 8601 in UTC; what is not known is empty. */
export type ExportedLead = Omit<LeadAnswers, 'answers'> & {
  /** To the questions of the campaign's own, by id; not there without any. */
  readonly answers: OwnAnswers | undefined;
  readonly email: string;
  readonly first_verified_at: string;
  readonly last_verified_at: string;
  /** When the lead was first given the article. */
  readonly first_read_at: string;
  readonly consent_given_at: string;
  readonly consent_version: string;
  readonly consent_text: string;
  readonly source: string;
  /** Separated by spaces. */
  readonly flags: string;
  readonly state: LeadState;
  /** First verified; or asked for the newest code; or imported. */
  readonly state_since: string;
  /** For the mail of other programs; empty for people who are no leads. */
  readonly unsubscribe_url: string;
  readonly attribution: KeptAttribution;
  /** Which of several pages had the form; not there where there was one. */
  readonly variant: string | undefined;
};

/** Makes the link with which a lead withdraws the consent; empty where the format has no column for it. */
export type UnsubscribeUrl = (leadId: string) => string;

/** What an advertiser's file says about a conversion. */
export type Conversion = { readonly name: string };

type Column = readonly [heading: string, value: (lead: ExportedLead, conversion: Conversion) => Cell];

export type CsvFormat = {
  readonly kind: 'csv';
  /** One sentence for --help. */
  readonly about: string;
  /** Whether a column has the unsubscribe link: a million signatures take seconds. */
  readonly hasLink?: true;
  /** A line before the headings. */
  readonly preamble?: string;
  readonly columns: readonly Column[];
};
type JsonLinesFormat = { readonly kind: 'jsonl'; readonly about: string };

const own = (name: Exclude<keyof ExportedLead, 'attribution' | 'answers' | 'variant'>): Column => [
  name,
  (lead) => lead[name],
];
const touched = (heading: string, name: (typeof TOUCH_NAMES)[number]): Column => [
  heading,
  (lead) => lead.attribution[name] ?? '',
];
const firstName: Column = ['First Name', (lead) => splitName(lead.name).first];
const lastName: Column = ['Last Name', (lead) => splitName(lead.name).last];
const conversionName: Column = ['Conversion Name', (_, conversion) => conversion.name];
const worthNothing: readonly Column[] = [
  ['Conversion Value', () => ''],
  ['Conversion Currency', () => ''],
];
const CONSENT_COLUMNS: readonly Column[] = [
  ['Consent Given At', (lead) => lead.consent_given_at],
  ['Consent Text', (lead) => lead.consent_text],
];

/** Behind the others, where programs that read columns by place find those before them unchanged. A CRM has such fields once you add them. */
const LAST_COLUMNS: readonly Column[] = [
  ['Unsubscribe URL', (lead) => lead.unsubscribe_url],
  touched('UTM Campaign', 'utm_campaign'),
];

export const FORMATS = {
  csv: {
    kind: 'csv',
    about: 'every column',
    hasLink: true,
    columns: [
      own('email'),
      own('name'),
      own('company'),
      own('first_verified_at'),
      own('last_verified_at'),
      own('consent_given_at'),
      own('consent_version'),
      own('consent_text'),
      own('source'),
      own('flags'),
      own('state'),
      own('state_since'),
      ...TOUCH_NAMES.map((name) => touched(name, name)),
      ['first_source', (lead) => (lead.state === 'imported' ? IMPORTED : firstSourceOf(lead.attribution))],
      own('unsubscribe_url'),
      own('first_read_at'),
    ],
  },
  jsonl: { kind: 'jsonl', about: 'one JSON object a line, as in webhooks' },
  hubspot: {
    kind: 'csv',
    about: 'contacts',
    hasLink: true,
    columns: [
      ['Email', (lead) => lead.email],
      firstName,
      lastName,
      ['Company Name', (lead) => lead.company],
      ["Legal basis for processing contact's data", () => 'Freely given consent from contact'],
      ['Lead Source', (lead) => lead.source],
      ...CONSENT_COLUMNS,
      ...LAST_COLUMNS,
    ],
  },
  salesforce: {
    kind: 'csv',
    about: 'leads, for the data import wizard',
    hasLink: true,
    columns: [
      firstName,
      // Salesforce takes no lead without one.
      lastName,
      ['Company', (lead) => lead.company],
      ['Email', (lead) => lead.email],
      ['Lead Source', (lead) => lead.source],
      ...CONSENT_COLUMNS,
      ...LAST_COLUMNS,
    ],
  },
  mailchimp: {
    kind: 'csv',
    about: 'subscribed contacts',
    hasLink: true,
    columns: [
      ['Email Address', (lead) => lead.email],
      firstName,
      lastName,
      ['Company', (lead) => lead.company],
      ['Tags', (lead) => lead.source],
      ['Opt-in Time', (lead) => lead.consent_given_at],
      ['Confirmation Time', (lead) => lead.last_verified_at],
      ...LAST_COLUMNS,
    ],
  },
  pipedrive: {
    kind: 'csv',
    about: 'leads with person and organisation',
    hasLink: true,
    columns: [
      ['Lead - Title', (lead) => `${lead.company}: ${lead.name}`],
      ['Person - Name', (lead) => lead.name],
      ['Person - Email', (lead) => lead.email],
      ['Organization - Name', (lead) => lead.company],
      ['Lead - Source', (lead) => lead.source],
      ['Person - Consent given at', (lead) => lead.consent_given_at],
      ['Person - Consent text', (lead) => lead.consent_text],
      ['Person - Unsubscribe URL', (lead) => lead.unsubscribe_url],
      touched('Lead - UTM Campaign', 'utm_campaign'),
    ],
  },
  'google-ads': {
    kind: 'csv',
    about: 'offline conversions, addresses hashed',
    // https://support.google.com/google-ads/answer/7014069: the file says its zone once.
    preamble: 'Parameters:TimeZone=+0000',
    columns: [
      touched('Google Click ID', 'gclid'),
      touched('GBRAID', 'gbraid'),
      touched('WBRAID', 'wbraid'),
      ['Email', (lead) => sha256(withoutGmailDots(lead.email))],
      conversionName,
      ['Conversion Time', (lead) => secondOf(lead.first_verified_at)],
      ...worthNothing,
    ],
  },
  'microsoft-ads': {
    kind: 'csv',
    about: 'offline conversions, addresses hashed',
    preamble: 'Parameters:TimeZone=+0000',
    columns: [
      touched('Microsoft Click ID', 'msclkid'),
      ['Hashed Email Address', (lead) => sha256(lead.email)],
      conversionName,
      ['Conversion Time', (lead) => secondOf(lead.first_verified_at)],
      ...worthNothing,
    ],
  },
  meta: {
    kind: 'csv',
    about: 'offline events, addresses and names hashed',
    columns: [
      ['email', (lead) => sha256(lead.email)],
      ['fn', (lead) => hashedName(splitName(lead.name).first)],
      ['ln', (lead) => hashedName(splitName(lead.name).last)],
      ['event_name', (_, conversion) => conversion.name],
      ['event_time', (lead) => lead.first_verified_at],
      ['value', () => ''],
      ['currency', () => ''],
    ],
  },
} as const satisfies Record<string, CsvFormat | JsonLinesFormat>;

export type FormatName = keyof typeof FORMATS;

/** The programs that a field's `properties` name. */
type Program = keyof NonNullable<OwnField['properties']>;
const PROGRAMS: readonly string[] = ['hubspot', 'salesforce', 'mailchimp', 'pipedrive'] satisfies (Program &
  FormatName)[];
const isProgram = (name: string): name is Program => PROGRAMS.includes(name);

/**
 * The columns for the campaign's own questions, which stand behind the others. In our CSV each has its id, and the last one holds
 * answers to questions that are no longer asked; a program gets those that have a property of its own.
 * @param own hasAnswers: whether anyone was ever asked; hasVariants: whether anyone was given one of several pages
 */
export function ownColumns(
  format: FormatName,
  {
    fields,
    hasAnswers,
    hasVariants,
  }: {
    readonly fields: readonly OwnField[];
    readonly hasAnswers: boolean;
    readonly hasVariants: boolean;
  },
): readonly Column[] {
  const variant: Column = ['variant', (lead) => lead.variant ?? ''];
  if (format === 'csv' && hasVariants)
    return [variant, ...ownColumns(format, { fields, hasAnswers, hasVariants: false })];
  if (format === 'csv' && hasAnswers)
    return [
      ...fields.map((field): Column => [field.id, ({ answers }) => answerCell(field, answers)]),
      ['earlier_answers', ({ answers = {} }) => formerAnswers(fields, answers)],
    ];
  if (!isProgram(format)) return [];
  return fields.flatMap((field): Column[] => {
    const property = field.properties?.[format];
    // As these programs separate several choices.
    return property === undefined ? [] : [[property, ({ answers }) => answerCell(field, answers, ';')]];
  });
}

function answerCell({ id, kind }: OwnField, answers: OwnAnswers = {}, between?: string): Cell {
  const text = answerText(answers[id]?.answer, between);
  return kind === 'telephone' || kind === 'number' ? { figure: text } : text;
}

/** Formats with a column for the state. */
export const FORMATS_WITH_STATE: readonly FormatName[] = ['csv', 'jsonl'];
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[];

/** A person as JSON: as in events (docs/webhooks.md), with the state. */
export type PersonAsJson = LeadAsJson & {
  readonly state: LeadState;
  /** First verified; or asked for the newest code; or imported. ISO 8601, UTC. */
  readonly state_since: string;
};

/** Makes the JSON of a row. */
export const personAsJson = (record: LeadRecord, unsubscribeUrl: UnsubscribeUrl): PersonAsJson => ({
  ...leadAsJson(record, unsubscribeUrl),
  state: record.state,
  state_since: isoTime(record.state_since),
});

/** Makes an exported lead of a row. */
export function exportedLead(record: LeadRecord, unsubscribeUrl: UnsubscribeUrl): ExportedLead {
  const { email, flags, state } = record;
  const attribution = record.attribution === null ? {} : readAttribution(record.attribution);
  const firstVerifiedAt = timeOrNothing(record.first_verified_at);
  return {
    email,
    name: record.name,
    company: record.company,
    answers: record.answers === null ? undefined : readAnswers(record.answers),
    first_verified_at: firstVerifiedAt,
    // Usually the same time: writing it once is faster for a million leads.
    last_verified_at:
      record.last_verified_at === record.first_verified_at
        ? firstVerifiedAt
        : timeOrNothing(record.last_verified_at),
    first_read_at: timeOrNothing(record.first_read_at),
    consent_given_at: timeOrNothing(record.consent_given_at),
    consent_version: record.consent_version ?? '',
    consent_text:
      record.consent_source === null
        ? (record.consent_text ?? '')
        : importedConsentText(record.consent_source),
    source: state === 'imported' ? IMPORTED : sourceOf(attribution),
    flags,
    state,
    state_since: state === 'verified' ? firstVerifiedAt : isoTime(record.state_since),
    // Only a lead has a consent to withdraw.
    unsubscribe_url: record.first_verified_at === null ? '' : unsubscribeUrl(record.id),
    attribution,
    variant: record.variant ?? undefined,
  };
}

const timeOrNothing = (ms: number | null): string => (ms === null ? '' : isoTime(ms));

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Google hashes Gmail addresses without the dots before the @ (https://support.google.com/google-ads/answer/13262500). */
function withoutGmailDots(email: string): string {
  const [, local, domain] = /^(.*)@(gmail\.com|googlemail\.com)$/.exec(email) ?? [];
  return local === undefined || domain === undefined ? email : `${local.replaceAll('.', '')}@${domain}`;
}

/** Lower case without punctuation, in UTF-8 (Meta's customer information parameters). */
const hashedName = (name: string): string =>
  name === '' ? '' : sha256(name.toLowerCase().replaceAll(/[\p{P}\p{S}\s]/gu, ''));
