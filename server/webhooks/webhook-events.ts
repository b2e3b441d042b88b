// The events that other programs receive about a lead. They are queued in the transaction of their cause, with the lead as it was
// then.
import { v7 as uuid } from 'uuid';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { holdLeadRecord, type HeldLead } from '#server/db/across/lead-pages.ts';
import type { LeadEventType } from '#server/db/schema.ts';
import { insertLeadEvent } from '#server/db/tables/webhook-events.ts';
import { splitName } from '#server/platform/split-name.ts';
import { readAttribution, sourceOf, type KeptAttribution } from '#server/attribution/source.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { readAnswers, sampleAnswers, type OwnAnswers } from '#shared/own-answers.ts';
import type { OwnField } from '#shared/campaign-schema.ts';

/** A lead as an event has it. Times are ISO 8601 in UTC. */
type LeadInEvent = Omit<LeadAnswers, 'answers'> & {
  readonly id: string;
  readonly email: string;
  /** The name in two parts, as in exports, for programs that need them. */
  readonly first_name: string;
  readonly last_name: string;
  /** To the questions of the campaign's own, by id; not there without any. */
  readonly answers?: OwnAnswers;
  readonly first_verified_at: string;
  readonly last_verified_at: string;
  /** When the lead was first given the article; null: not yet. */
  readonly first_read_at: string | null;
  /** The newest; null when there is no receipt. */
  readonly consent: {
    readonly given_at: string;
    readonly version: string;
    /** The sentence beside the checkbox. */
    readonly text: string;
  } | null;
  /** Where the lead came from, in one word. */
  readonly source: string;
  readonly attribution: KeptAttribution;
  readonly flags: readonly string[];
  /** Which of several pages had the form; not there where there was one. */
  readonly variant?: string;
  /** For the mail that the receiving program sends to this lead. */
  readonly unsubscribe_url: string;
};

/** The body of an event, in the form of Standard Webhooks. `data.lead` of lead.erased holds the id only. */
export type LeadEventBody = {
  readonly type: LeadEventType | 'lead.test';
  /** When it happened. ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: { readonly lead: LeadInEvent | Pick<LeadInEvent, 'id'> };
};

type EventParts = {
  readonly engine: OpenDatabase['engine'];
  /** Empty: no events are queued. */
  readonly endpoints: readonly Endpoint[];
  /** The link with which a lead withdraws the consent. */
  readonly unsubscribeUrl: (leadId: string) => string;
};

/** Something that happened to a lead that is still there. */
export type LeadChange = {
  readonly type: Exclude<LeadEventType, 'lead.erased'>;
  readonly leadId: string;
  /** Milliseconds since 1970. */
  readonly now: number;
};

export type ErasedLead = {
  readonly leadId: string;
  /**
   * Until when an older event about the lead may still be under way, which this one must not overtake. Milliseconds since 1970, as
   * now.
   */
  readonly inHandUntil: number | null;
  readonly now: number;
};

/** Queues an event about a lead (webhooks.ts says when). */
export async function queueLeadEvent(
  tx: Db,
  { engine, endpoints, unsubscribeUrl }: EventParts,
  { type, leadId, now }: LeadChange,
): Promise<void> {
  if (endpoints.length === 0) return;
  const record = await holdLeadRecord(tx, engine, leadId);
  if (record === undefined) return;
  await queue(tx, endpoints, { type, lead: leadInEvent(record, unsubscribeUrl), notBefore: now, now });
}

/** Queues the event that a lead was erased (webhooks.ts). */
export async function queueLeadErased(
  tx: Db,
  { endpoints }: Pick<EventParts, 'endpoints'>,
  { leadId, inHandUntil, now }: ErasedLead,
): Promise<void> {
  if (endpoints.length === 0) return;
  const notBefore = Math.max(now, inHandUntil ?? now);
  await queue(tx, endpoints, { type: 'lead.erased', lead: { id: leadId }, notBefore, now });
}

async function queue(
  tx: Db,
  endpoints: readonly Endpoint[],
  {
    type,
    lead,
    notBefore,
    now,
  }: {
    type: LeadEventType;
    lead: LeadEventBody['data']['lead'];
    notBefore: number;
    now: number;
  },
): Promise<void> {
  const body: LeadEventBody = { type, timestamp: isoTime(now), data: { lead } };
  await insertLeadEvent(tx, {
    // Housekeeping finds old events by their ids.
    ids: endpoints.map(() => uuid({ msecs: now })),
    type,
    leadId: lead.id,
    payload: JSON.stringify(body),
    endpoints: endpoints.map(({ id }) => id),
    notBefore,
    now,
  });
}

/** Makes the lead of an event from its row. */
function leadInEvent(record: HeldLead, unsubscribeUrl: EventParts['unsubscribeUrl']): LeadInEvent {
  const { id, email, name, company, flags, consent_given_at, consent_version, consent_text } = record;
  const attribution = readAttribution(record.attribution);
  const { first, last } = splitName(name);
  return {
    id,
    email,
    name,
    first_name: first,
    last_name: last,
    company,
    ...(record.answers !== null && { answers: readAnswers(record.answers) }),
    first_verified_at: isoTime(record.first_verified_at),
    last_verified_at: isoTime(record.last_verified_at),
    first_read_at: record.first_read_at === null ? null : isoTime(record.first_read_at),
    consent:
      consent_given_at === null || consent_version === null
        ? null
        : { given_at: isoTime(consent_given_at), version: consent_version, text: consent_text ?? '' },
    source: sourceOf(attribution),
    attribution,
    flags: flags.split(' ').filter((flag) => flag !== ''),
    ...(record.variant !== null && { variant: record.variant }),
    unsubscribe_url: unsubscribeUrl(id),
  };
}

/** The event of `desk webhooks test`: an invented lead with every field that a lead may have, so that fields can be mapped. */
export function testEvent(
  id: string,
  now: number,
  { unsubscribeUrl, fields }: Pick<EventParts, 'unsubscribeUrl'> & { readonly fields: readonly OwnField[] },
): LeadEventBody {
  const at = isoTime(now);
  const lead: LeadInEvent = {
    id,
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    first_name: 'Ada',
    last_name: 'Lovelace',
    company: 'Analytical Engines',
    ...(fields.length > 0 && { answers: sampleAnswers(fields) }),
    first_verified_at: at,
    last_verified_at: at,
    first_read_at: null,
    consent: { given_at: at, version: 'test', text: 'I agree.' },
    source: 'newsletter',
    attribution: { utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'test' },
    flags: ['free-mail'],
    unsubscribe_url: unsubscribeUrl(id),
  };
  return { type: 'lead.test', timestamp: at, data: { lead } };
}
