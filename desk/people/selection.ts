import type { Filter, Person } from '#desk/endpoints/people.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { campaignOf, readAttribution, sourceOf } from '#server/attribution/attribution.ts';
import type { ContactFilter, ContactRecord, ContactState } from '#server/db/contacts/filter.ts';
import { hasNewsConsents } from '#server/db/contacts/people.ts';
import { domainOf } from '#server/platform/text.ts';
import { isoTime } from '#server/platform/time.ts';
import { DOMAIN_FLAGS } from '#server/leads/email-domain.ts';
import { IMPORTED } from '#server/webhooks/lead-as-json.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Service } from '#server/startup/service.ts';
import { readDay, startOfDay } from '#shared/days.ts';
import { normaliseEmail } from '#shared/lead.ts';
import { readAnswers } from '#shared/own-fields.ts';

export type LeadSelection = ContactFilter & {
  readonly state: ContactState;
  readonly source?: string | undefined;
  readonly campaign?: string | undefined;
  readonly limit?: number | undefined;
};

/** Returns true if the form has a box for news, or somebody ticked an earlier one. */
export const hasNews = async ({
  campaign,
  database,
}: Pick<Service, 'campaign' | 'database'>): Promise<boolean> =>
  [campaign, ...campaign.variants].some(({ consent }) => consent.news !== null) ||
  (await hasNewsConsents(database.db));

export function selectionOf(
  { state, search, source, campaign, flag, news, field, answer, domain, from, to }: Filter,
  { timeZone }: Pick<Config, 'timeZone'>,
): LeadSelection {
  const isKnownFlag = !isFilled(flag) || DOMAIN_FLAGS.some((one) => one === flag.trim());
  if (!isKnownFlag) throw new CommandFailure(`The flag must be ${DOMAIN_FLAGS.join(' or ')}.`, 2);
  const hasAnswerFilter = isFilled(field) && isFilled(answer);
  return {
    state,
    search: nonEmpty(search && cleanPastedText(search)),
    source: nonEmpty(source),
    campaign: nonEmpty(campaign),
    flag: nonEmpty(flag),
    news: news === undefined ? undefined : true,
    answer: hasAnswerFilter ? { field: field.trim(), text: answer.trim() } : undefined,
    domain: isFilled(domain) ? domainOf(normaliseEmail(`a@${domain.trim()}`)) : undefined,
    since: from === undefined ? undefined : startOfTypedDay(from, timeZone),
    until: to === undefined ? undefined : endOfTypedDay(to, timeZone),
  };
}

/** Describes filters for the audit log, without texts that may name a person. */
export const describeFilter = ({ state, flag, news, from, to, ...others }: Filter): string =>
  [
    state,
    ...(others.source ? ['of a source'] : []),
    ...(others.campaign ? ['of a campaign'] : []),
    ...(flag ? [flag] : []),
    ...(news ? ['agreed to news'] : []),
    ...(from ? [`from ${from}`] : []),
    ...(to ? [`to ${to}`] : []),
    ...(others.search ? ['with a search'] : []),
    ...(others.answer ? ['with an answer'] : []),
    ...(others.domain ? ['of a domain'] : []),
  ].join(', ');

export const startOfTypedDay = (day: string, timeZone: string): number =>
  startOfDay(readTypedDay(day), timeZone);

export const endOfTypedDay = (day: string, timeZone: string): number =>
  startOfDay(readTypedDay(day) + 1, timeZone);

function readTypedDay(text: string): number {
  const day = readDay(text);
  if (day === null) throw new CommandFailure(`The date ${text} does not exist. Choose another day.`, 2);
  return day;
}

const JOINERS = '\u200C\u200D';

/** Removes invisible characters, `mailto:` and the name around `<ada@…>` from pasted text. */
export const cleanPastedText = (text: string): string =>
  text
    .replaceAll(/\p{Cf}/gu, (mark) => (JOINERS.includes(mark) ? mark : ''))
    .replaceAll(/\s/g, ' ')
    .replace(/^ *mailto:([^?]*).*/i, '$1')
    .replace(/^[^<]*<([^<> ]+@[^<> ]+)> *$/, '$1');

const nonEmpty = (text: string | undefined): string | undefined => text?.trim() || undefined;
const isFilled = (text: string | undefined): text is string => nonEmpty(text) !== undefined;

export function toPerson(record: ContactRecord): Person {
  const touches = record.attribution === null ? null : readAttribution(record.attribution);
  return {
    id: record.id,
    email: record.email,
    name: record.name,
    company: record.company,
    state: record.state,
    since: isoTime(record.state_since),
    firstReadAt: record.first_read_at === null ? null : isoTime(record.first_read_at),
    source: touches === null ? IMPORTED : sourceOf(touches),
    campaign: touches === null ? null : (campaignOf(touches) ?? null),
    flags: record.flags.split(' ').filter((flag) => flag !== ''),
    variant: record.variant,
    answers: readAnswers(record.answers),
  };
}
