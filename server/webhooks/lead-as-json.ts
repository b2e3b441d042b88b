// A lead as programs read it, in events and in what the desk writes as JSON: one shape for both.
import type { LeadRecord } from '#server/db/contacts/person.ts';
import { readAttribution, sourceOf, type KeptAttribution } from '#server/attribution/source.ts';
import { splitName } from '#server/platform/split-name.ts';
import { isoTime } from '#server/platform/time.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { readAnswers, type OwnAnswers } from '#shared/own-answers.ts';

/** Times are ISO 8601 in UTC. What is null for people who are no leads is never null in an event. */
export type LeadAsJson = Omit<LeadAnswers, 'answers'> & {
  readonly id: string;
  readonly email: string;
  /** The name in two parts, as in exports, for programs that need them. */
  readonly first_name: string;
  readonly last_name: string;
  /** To the questions of the campaign's own, by id; not there without any. */
  readonly answers?: OwnAnswers;
  /** Null for a person who is no lead. */
  readonly first_verified_at: string | null;
  readonly last_verified_at: string | null;
  /** When the lead was first given the article; null: not yet. */
  readonly first_read_at: string | null;
  /** The newest; null when there is no receipt. */
  readonly consent: {
    /** Null where the tool that an imported person comes from did not say. */
    readonly given_at: string | null;
    /** Null for an imported person. */
    readonly version: string | null;
    /** The sentence beside the checkbox; or where an imported person's consent came from. */
    readonly text: string;
  } | null;
  /** Where the lead came from, in one word. */
  readonly source: string;
  readonly attribution: KeptAttribution;
  readonly flags: readonly string[];
  /** Which of several pages had the form; not there where there was one. */
  readonly variant?: string;
  /** For the mail that the receiving program sends to this lead; null for a person who is none. */
  readonly unsubscribe_url: string | null;
};

/** A row of a lead; of a person who is none, with the source of the consent. */
type Row = Omit<LeadRecord, 'state' | 'state_since' | 'consent_source'> &
  Partial<Pick<LeadRecord, 'consent_source'>>;

/** The source of imported people. */
export const IMPORTED = 'import';

/** What stands in place of the wording of a consent that was given elsewhere. @param source in the operator's words */
export const importedConsentText = (source: string): string => `Not given here. Imported: ${source}`;

/** Makes the JSON of a row. */
export function leadAsJson(row: Row, unsubscribeUrl: (leadId: string) => string): LeadAsJson {
  const { id, email, name, company, answers, variant } = row;
  const attribution = row.attribution === null ? {} : readAttribution(row.attribution);
  const { first, last } = splitName(name);
  return {
    id,
    email,
    name,
    first_name: first,
    last_name: last,
    company,
    ...(answers !== null && { answers: readAnswers(answers) }),
    first_verified_at: timeOrNull(row.first_verified_at),
    last_verified_at: timeOrNull(row.last_verified_at),
    first_read_at: timeOrNull(row.first_read_at),
    consent: consentOf(row),
    source: row.attribution === null ? IMPORTED : sourceOf(attribution),
    attribution,
    flags: row.flags.split(' ').filter((flag) => flag !== ''),
    ...(variant !== null && { variant }),
    // Only a lead has a consent to withdraw.
    unsubscribe_url: row.first_verified_at === null ? null : unsubscribeUrl(id),
  };
}

function consentOf({
  consent_given_at: givenAt,
  consent_version: version,
  consent_text: text,
  consent_source: source = null,
}: Row): LeadAsJson['consent'] {
  if (source !== null)
    return { given_at: timeOrNull(givenAt), version: null, text: importedConsentText(source) };
  return givenAt === null || version === null
    ? null
    : { given_at: isoTime(givenAt), version, text: text ?? '' };
}

const timeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
