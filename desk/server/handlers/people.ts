import { domainToUnicode } from 'node:url';

import type { OutputOf } from '#desk/endpoints/endpoint.ts';
import type * as endpoints from '#desk/endpoints/people.ts';
import { FORMATS, FORMATS_WITH_STATE, FORMAT_NAMES } from '#desk/export/export-columns.ts';
import { originFilter } from '#desk/export/write-leads.ts';
import {
  describeFilter,
  startOfTypedDay,
  endOfTypedDay,
  selectionOf,
  toPerson,
} from '#desk/people/selection.ts';
import { suppressionsFor, isRemovable } from '#desk/people/suppress.ts';
import { timelineOf } from '#desk/people/timeline.ts';
import { deletedNote, findLostLeads } from '#desk/report/lost-leads.ts';
import type { Handler } from '#desk/server/handler.ts';
import { createCache } from '#desk/server/handlers/cache.ts';
import { campaignOf, mayBeShown, readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import type { ContactRecord } from '#server/db/contacts/filter.ts';
import { emailOfContact, countVerified, findContact, searchContacts } from '#server/db/contacts/people.ts';
import { timeOfId } from '#server/db/engine/ids.ts';
import { listPersonalData } from '#server/db/queries/personal-data.ts';
import { countDomains, newestAttributions } from '#server/db/queries/report-figures.ts';
import { DOMAIN_FLAGS } from '#server/leads/email-domain.ts';
import { MINUTE_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { createPlatformLookup } from '#server/stats/mail-platforms.ts';
import { importedConsentText } from '#server/webhooks/lead-as-json.ts';

/** A search may exceed this limit slightly. */
const SEARCH_LIMIT_MS = 150;
const PEOPLE_AT_ONCE = 50;

export const people: Handler<typeof endpoints.people> = async ({ service, log }, { after, ...filter }) => {
  const { state, source, campaign, ...selection } = selectionOf(filter, service.config);
  const { attributionContains, isFromOrigin } = originFilter({ state, source, campaign });
  const { found, next } = await searchContacts(
    service.database.db,
    state,
    { ...selection, attributionContains },
    {
      cursor: after ?? null,
      isWanted: isFromOrigin,
      limit: PEOPLE_AT_ONCE,
      timeLimitMs: SEARCH_LIMIT_MS,
    },
  );
  await log('viewed', null, `list: ${describeFilter(filter)}`);
  return {
    people: found.map(toPerson),
    next,
    searchedBackTo: next === null ? null : isoTime(timeOfId(next)),
  };
};

export const leadCount: Handler<typeof endpoints.leadCount> = async ({ service }, period) => {
  const selection = selectionOf({ state: 'verified', ...period }, service.config);
  return countVerified(service.database.db, selection);
};

export const domains: Handler<typeof endpoints.domains> = async ({ service }, { after }) => {
  const { freeMailDomains } = service.campaign;
  const found = await countDomains(service.database.db, {
    from: after ?? null,
    timeLimitMs: SEARCH_LIMIT_MS,
  });
  return {
    domains: [...found.domains]
      .filter(([domain]) => !freeMailDomains.has(domain))
      .map(([domain, count]) => ({ domain: domainToUnicode(domain), people: count }))
      .toSorted((a, b) => b.people - a.people || (a.domain < b.domain ? -1 : 1)),
    next: found.next,
  };
};

const MAX_NAMES = 100;

type Origins = { readonly sources: readonly string[]; readonly campaigns: readonly string[] };
export type FindOrigins = (service: Pick<Service, 'database'>) => Promise<Origins>;

export function createFindOrigins({ clock }: Pick<Service, 'clock'>): FindOrigins {
  const cache = createCache<Origins>({ maxAgeMs: MINUTE_MS, maxEntries: 1, clock });
  return ({ database }) =>
    cache.get('', async () => {
      const sources = new Map<string, number>();
      const campaigns = new Map<string, number>();
      for await (const groups of newestAttributions(database.db, SEARCH_LIMIT_MS / 2))
        for (const { attribution, people: count } of groups) {
          const touches = readAttribution(attribution);
          addName(sources, sourceOf(touches), count);
          addName(campaigns, campaignOf(touches), count);
        }
      return { sources: largest(sources), campaigns: largest(campaigns) };
    });
}

/** Links can contain e-mail addresses, and others may see the screen. */
function addName(counts: Map<string, number>, name: string | undefined, count: number): void {
  if (name !== undefined && mayBeShown(name)) counts.set(name, (counts.get(name) ?? 0) + count);
}

const largest = (counts: ReadonlyMap<string, number>): readonly string[] =>
  [...counts]
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(([name]) => name);

const FORMAT_CHOICES: OutputOf<typeof endpoints.choices>['formats'] = FORMAT_NAMES.map((name) => ({
  name,
  title: FORMATS[name].title,
  about: FORMATS[name].about,
  takesEveryState: FORMATS_WITH_STATE.includes(name),
}));

export const createChoices =
  (findOrigins: FindOrigins): Handler<typeof endpoints.choices> =>
  async ({ service }) => ({
    ...(await findOrigins(service)),
    flags: DOMAIN_FLAGS,
    formats: FORMAT_CHOICES,
  });

export const personDetails: Handler<typeof endpoints.personDetails> = async ({ service, log }, { id }) => {
  const { database, config, clock } = service;
  const email = await emailOfContact(database.db, id);
  const person = email === undefined ? undefined : await findContact(database.db, email);
  // The person was erased between the two queries.
  if (email === undefined || person === undefined) return null;
  const entries = await suppressionsFor(database.db, service, email);
  const timeline = timelineOf(await listPersonalData(database.db, email), clock());
  await log('viewed', email);
  const isLead = person.first_verified_at !== null;
  return {
    person: toPerson(person),
    timeline,
    consent: consentOf(person),
    newsConsent: newsConsentOf(person),
    suppressions: entries.map((entry) => ({
      reason: entry.reason,
      since: isoTime(entry.since),
      note: entry.note,
      canUndo: isRemovable(entry, true),
    })),
    canSendGuide: config.guideEmail !== 'off' && isLead && entries.length === 0,
  };
};

const newsConsentOf = ({
  news_consent_given_at: givenAt,
  news_consent_version: version,
  news_consent_text: text,
}: ContactRecord) => (givenAt === null ? null : { text: text ?? '', givenAt: isoTime(givenAt), version });

function consentOf({
  consent_source: source,
  consent_given_at: givenAt,
  consent_version: version,
  consent_text: text,
}: ContactRecord) {
  const at = givenAt === null ? null : isoTime(givenAt);
  if (source !== null) return { text: importedConsentText(source), givenAt: at, version: null };
  return version === null ? null : { text: text ?? '', givenAt: at, version };
}

const LOST_AT_ONCE = 50;
/** Time limit for looking up unknown domains; DNS answers are cached. */
const DNS_LIMIT_MS = 1_000;

export const lost: Handler<typeof endpoints.lost> = async (
  { service, log, signal, dnsServers },
  { from, to, after },
) => {
  const { database, clock, config } = service;
  const { timeZone } = config;
  const now = clock();
  const span = { from: startOfTypedDay(from, timeZone), to: endOfTypedDay(to, timeZone) };
  const lookup = createPlatformLookup(database, { dnsServers, now, signal, limitMs: DNS_LIMIT_MS });
  const found = await findLostLeads(database, span, {
    now,
    from: after ?? null,
    limit: LOST_AT_ONCE,
    timeLimitMs: SEARCH_LIMIT_MS,
    platformsOf: lookup.platformsOf,
  });
  await log('viewed', null, `list: lost leads, from ${from}, to ${to}`);
  return { ...found, note: deletedNote(span, config, now) };
};
