import type { ContactRecord } from '#server/db/contacts/filter.ts';
import { readAttribution, sourceOf, type Attribution } from '#server/attribution/attribution.ts';
import { splitName } from '#server/platform/text.ts';
import { isoTime } from '#server/platform/time.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { readAnswers, type OwnAnswers } from '#shared/own-fields.ts';

/** Times are ISO 8601 in UTC. Fields that are null only for people who aren't leads are never null in an event. */
export type LeadAsJson = Omit<LeadAnswers, 'answers'> & {
  readonly id: string;
  readonly email: string;
  /** For programs that need two parts. */
  readonly first_name: string;
  readonly last_name: string;
  readonly answers?: OwnAnswers;
  readonly first_verified_at: string | null;
  readonly last_verified_at: string | null;
  readonly first_read_at: string | null;
  readonly consent: {
    /** Null if the imported person's previous tool didn't record it. */
    readonly given_at: string | null;
    readonly version: string | null;
    /** For an imported person, the source of the consent. */
    readonly text: string;
  } | null;
  /** Absent if the lead didn't agree to get news, or has unsubscribed since. */
  readonly news_consent?: { readonly given_at: string; readonly version: string; readonly text: string };
  readonly source: string;
  readonly attribution: Attribution;
  readonly flags: readonly string[];
  /** Absent if the page had no variants. */
  readonly variant?: string;
  readonly unsubscribe_url: string | null;
};

type Row = Omit<ContactRecord, 'state' | 'state_since' | 'consent_source'> &
  Partial<Pick<ContactRecord, 'consent_source'>>;

export const IMPORTED = 'import';

export const importedConsentText = (source: string): string => `Not given here. Imported: ${source}`;

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
    ...(row.news_consent_given_at !== null && {
      news_consent: {
        given_at: isoTime(row.news_consent_given_at),
        version: row.news_consent_version ?? '',
        text: row.news_consent_text ?? '',
      },
    }),
    source: row.attribution === null ? IMPORTED : sourceOf(attribution),
    attribution,
    flags: row.flags.split(' ').filter((flag) => flag !== ''),
    ...(variant !== null && { variant }),
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
