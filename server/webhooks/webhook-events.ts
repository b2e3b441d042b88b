import { createHash } from 'node:crypto';

import { NIL } from 'uuid';

import { lockLeadRecord } from '#server/db/contacts/people.ts';
import type { Db } from '#server/db/engine/connect.ts';
import type { LeadEventType } from '#server/platform/lead-event-types.ts';
import { addLeadEvent } from '#server/jobs/webhook-jobs.ts';
import { isoTime } from '#server/platform/time.ts';
import { leadAsJson, type LeadAsJson } from '#server/webhooks/lead-as-json.ts';
import type { OwnField } from '#shared/campaign-schema.ts';
import { TOUCH_NAMES } from '#shared/funnel.ts';
import { sampleAnswers } from '#shared/own-fields.ts';

/** Uses the format of Standard Webhooks. In lead.erased, `data.lead` contains only the ID. */
export type LeadEventBody = {
  readonly type: LeadEventType | 'lead.test';
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: { readonly lead: LeadAsJson | Pick<LeadAsJson, 'id'> };
};

type UnsubscribeUrl = (leadId: string) => string;

export type LeadChange = { readonly leadId: string; readonly now: number } & (
  | { readonly type: Exclude<LeadEventType, 'lead.erased'> }
  | {
      readonly type: 'lead.erased';
      /** Until this time, an older event about the lead may be in transit, and must not be overtaken. */
      readonly inTransitUntil: number | null;
    }
);

/** Does nothing for a missing lead. */
export async function queueLeadEvent(
  tx: Db,
  { endpoints, unsubscribeUrl }: { endpoints: readonly Endpoint[]; unsubscribeUrl: UnsubscribeUrl },
  change: LeadChange,
): Promise<void> {
  if (endpoints.length === 0) return;
  const { type, leadId, now } = change;
  const record = type === 'lead.erased' ? null : await lockLeadRecord(tx, leadId);
  if (record === undefined) return;
  const lead = record === null ? { id: leadId } : leadAsJson(record, unsubscribeUrl);
  const body: LeadEventBody = { type, timestamp: isoTime(now), data: { lead } };
  await addLeadEvent(tx, {
    type,
    leadId,
    payload: JSON.stringify(body),
    endpoints: endpoints.map(({ id }) => id),
    notBefore: change.type === 'lead.erased' ? Math.max(now, change.inTransitUntil ?? now) : now,
    now,
  });
}

/** Has every field that programs map, which offer only those of the test event. */
export function testEvent(
  now: number,
  options: {
    unsubscribeUrl: UnsubscribeUrl;
    fields: readonly OwnField[];
    hasNews: boolean;
    variant?: string | undefined;
  },
): LeadEventBody {
  const { unsubscribeUrl, fields, hasNews, variant } = options;
  const at = isoTime(now);
  const lead: LeadAsJson = {
    id: NIL,
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
    attribution: {
      ...Object.fromEntries(TOUCH_NAMES.map((name) => [name, 'test'])),
      utm_source: 'newsletter',
      utm_medium: 'email',
    },
    flags: ['free-mail'],
    ...(variant !== undefined && { variant }),
    unsubscribe_url: unsubscribeUrl(NIL),
  };
  return { type: 'lead.test', timestamp: at, data: { lead } };
}

export type Endpoint = {
  readonly id: string;
  readonly url: URL;
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
      takes: url.hostname === SLACK ? 'messages' : 'events',
    };
  });
