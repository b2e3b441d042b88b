import { createHash } from 'node:crypto';

import { lockLeadRecord } from '#server/db/contacts/people.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { LeadEventType } from '#server/platform/lead-event-types.ts';
import { addLeadEvent } from '#server/jobs/webhook-jobs.ts';
import { isoTime } from '#server/platform/time.ts';
import { leadAsJson, type LeadAsJson } from '#server/webhooks/lead-as-json.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { sampleAnswers } from '#shared/own-fields.ts';

/** Uses the format of Standard Webhooks. In lead.erased, `data.lead` contains only the ID. */
export type LeadEventBody = {
  readonly type: LeadEventType | 'lead.test';
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: { readonly lead: LeadAsJson | Pick<LeadAsJson, 'id'> };
};

type EventParts = {
  readonly endpoints: readonly Endpoint[];
  readonly unsubscribeUrl: (leadId: string) => string;
};

export type LeadChange = {
  readonly type: Exclude<LeadEventType, 'lead.erased'>;
  readonly leadId: string;
  readonly now: number;
};

export type ErasedLead = {
  readonly leadId: string;
  /** Until then, an older event about the lead may be in transit, and must not be overtaken. */
  readonly inHandUntil: number | null;
  readonly now: number;
};

export async function queueLeadEvent(
  tx: Db,
  { endpoints, unsubscribeUrl }: EventParts,
  { type, leadId, now }: LeadChange,
): Promise<void> {
  if (endpoints.length === 0) return;
  const record = await lockLeadRecord(tx, leadId);
  if (record === undefined) return;
  await queue(tx, endpoints, { type, lead: leadAsJson(record, unsubscribeUrl), notBefore: now, now });
}

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
  event: {
    type: LeadEventType;
    lead: LeadEventBody['data']['lead'];
    notBefore: number;
    now: number;
  },
): Promise<void> {
  const { type, lead, notBefore, now } = event;
  const body: LeadEventBody = { type, timestamp: isoTime(now), data: { lead } };
  await addLeadEvent(tx, {
    type,
    leadId: lead.id,
    payload: JSON.stringify(body),
    endpoints: endpoints.map(({ id }) => id),
    notBefore,
    now,
  });
}

/** Has every possible field, so receivers can map them. */
export function testEvent(
  id: string,
  now: number,
  {
    unsubscribeUrl,
    fields,
    hasNews,
  }: Pick<EventParts, 'unsubscribeUrl'> & { readonly fields: readonly OwnField[]; readonly hasNews: boolean },
): LeadEventBody {
  const at = isoTime(now);
  const lead: LeadAsJson = {
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
    ...(hasNews && { news_consent: { given_at: at, version: 'test', text: 'I agree.' } }),
    source: 'newsletter',
    attribution: { utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'test' },
    flags: ['free-mail'],
    unsubscribe_url: unsubscribeUrl(id),
  };
  return { type: 'lead.test', timestamp: at, data: { lead } };
}

export type Endpoint = {
  readonly id: string;
  readonly url: URL;
  readonly host: string;
  readonly takes: 'events' | 'messages';
};

const ID_LENGTH = 16;
const SLACK = 'hooks.slack.com';

export const endpointsOf = (urls: readonly string[]): readonly Endpoint[] =>
  urls.map((text) => {
    const url = new URL(text);
    return {
      id: createHash('sha256').update(url.href).digest('hex').slice(0, ID_LENGTH),
      url,
      host: url.host,
      takes: url.hostname === SLACK ? 'messages' : 'events',
    };
  });
