import type { story as storyCall } from '#desk/endpoints/people.ts';
import type { Handler } from '#desk/server/handler.ts';
import { timelineOf } from '#desk/people/timeline.ts';
import { shownPerson } from '#desk/people/selection.ts';
import { entriesOf, isMistake } from '#desk/people/suppress.ts';
import { addressOfPerson, findPerson } from '#server/db/contacts/people.ts';
import type { LeadRecord } from '#server/db/contacts/filter.ts';
import { listPersonalData } from '#server/db/queries/personal-data.ts';
import { isoTime } from '#server/platform/time.ts';
import { importedConsentText } from '#server/webhooks/lead-as-json.ts';

export const story: Handler<typeof storyCall> = async ({ service, note }, { id }) => {
  const { database, config } = service;
  const email = await addressOfPerson(database.db, id);
  const person = email === undefined ? undefined : await findPerson(database.db, email);
  // The person was erased between the two queries.
  if (email === undefined || person === undefined) return null;
  const entries = await entriesOf(database.db, service, email);
  const happenings = timelineOf(await listPersonalData(database.db, email));
  await note('looked', email);
  const isLead = person.first_verified_at !== null;
  return {
    person: shownPerson(person),
    happenings,
    consent: consentOf(person),
    newsConsent: newsConsentOf(person),
    suppressions: entries.map((entry) => ({
      reason: entry.reason,
      since: isoTime(entry.since),
      note: entry.note,
      canUndo: isMistake(entry, true),
    })),
    canSendGuide: config.guideEmail !== 'off' && isLead && entries.length === 0,
  };
};

const newsConsentOf = ({
  news_consent_given_at: givenAt,
  news_consent_version: version,
  news_consent_text: text,
}: LeadRecord) => (givenAt === null ? null : { text: text ?? '', givenAt: isoTime(givenAt), version });

function consentOf({
  consent_source: source,
  consent_given_at: givenAt,
  consent_version: version,
  consent_text: text,
}: LeadRecord) {
  const at = givenAt === null ? null : isoTime(givenAt);
  if (source !== null) return { text: importedConsentText(source), givenAt: at, version: null };
  return version === null ? null : { text: text ?? '', givenAt: at, version };
}
