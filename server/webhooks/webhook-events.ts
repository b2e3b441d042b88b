// What is told about a lead, and its way into the database: in the transaction of its cause, as it was then.
import { v7 as uuid } from 'uuid';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { holdLeadRecord, type HeldLead } from '#server/db/across/lead-pages.ts';
import { isUnread, noteRead } from '#server/db/tables/leads.ts';
import type { LeadEventType } from '#server/db/schema.ts';
import { insertLeadEvent } from '#server/db/tables/webhook-events.ts';
import { splitName } from '#server/platform/split-name.ts';
import { readAttribution, sourceOf, type KeptAttribution } from '#server/attribution/source.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import type { LeadAnswers } from '#shared/lead.ts';

/** A lead as it is told. Times are ISO 8601 in UTC. */
type ToldLead = LeadAnswers & {
  readonly id: string;
  readonly email: string;
  /** The name in two, as exports have it, for programs that want so. */
  readonly first_name: string;
  readonly last_name: string;
  readonly first_verified_at: string;
  readonly last_verified_at: string;
  /** The newest; null when the receipt is not there. */
  readonly consent: {
    readonly given_at: string;
    readonly version: string;
    /** What stood beside the checkbox. */
    readonly text: string;
  } | null;
  /** In one word. */
  readonly source: string;
  readonly attribution: KeptAttribution;
  readonly flags: readonly string[];
  /** For what the program that is told sends to this lead. */
  readonly unsubscribe_url: string;
};

/** What is sent, in the form of Standard Webhooks. `data.lead` of lead.erased has nothing but the id. */
export type LeadEventBody = {
  readonly type: LeadEventType | 'lead.test';
  /** When it happened. ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: { readonly lead: ToldLead | Pick<ToldLead, 'id'> };
};

export type WebhookParts = {
  readonly engine: OpenDatabase['engine'];
  /** None: nothing is told. */
  readonly endpoints: readonly Endpoint[];
  /** Something was queued and committed: it is sent at once. Without this call it is soon. */
  readonly wake: () => void;
  /** The link with which a lead takes the consent back. */
  readonly unsubscribeUrl: (leadId: string) => string;
};

/** Something happened to a lead. now: milliseconds since 1970. */
export type LeadEvent = { readonly type: LeadEventType; readonly leadId: string; readonly now: number };

/**
 * Queues an event about a lead, in the transaction of its cause; call it after the change. Does nothing without WEBHOOK_URLS, or
 * when the lead is gone. That a lead was erased, {@link queueLeadErased} tells.
 */
export async function queueLeadEvent(
  tx: Db,
  { engine, endpoints, unsubscribeUrl }: Omit<WebhookParts, 'wake'>,
  { type, leadId, now }: LeadEvent & { readonly type: Exclude<LeadEventType, 'lead.erased'> },
): Promise<void> {
  if (endpoints.length === 0) return;
  const record = await holdLeadRecord(tx, engine, leadId);
  if (record === undefined) return;
  await queue(tx, endpoints, { type, lead: toldLead(record, unsubscribeUrl), notBefore: now, now });
}

/**
 * Queues that a lead was erased, in the transaction that did it. Its id is all that is told.
 * @param erased inHandUntil: until when something older about that lead may be on its way, which this must not overtake
 */
export async function queueLeadErased(
  tx: Db,
  { endpoints }: Pick<WebhookParts, 'endpoints'>,
  { leadId, inHandUntil, now }: { leadId: string; inHandUntil: number | null; now: number },
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
    // Housekeeping finds the old ones by their ids.
    ids: endpoints.map(() => uuid({ msecs: now })),
    type,
    leadId: lead.id,
    payload: JSON.stringify(body),
    endpoints: endpoints.map(({ id }) => id),
    notBefore,
    now,
  });
}

/**
 * To be called before a lead is given the article: tells of the first time. Asks nothing without WEBHOOK_URLS, and keeps the
 * article from nobody: what could not be stored now is with the next reading.
 */
export async function tellFirstRead(
  {
    database: { db },
    webhooks,
    clock,
  }: { database: Pick<OpenDatabase, 'db'>; webhooks: WebhookParts; clock: () => number },
  leadId: string,
  log: { readonly warn: (details: { err: unknown }, message: string) => void },
): Promise<void> {
  if (webhooks.endpoints.length === 0) return;
  try {
    if (!(await isUnread(db, leadId))) return;
    const now = clock();
    await db.transaction().execute(async (tx) => {
      if (!(await noteRead(tx, { id: leadId, now }))) return;
      await queueLeadEvent(tx, webhooks, { type: 'lead.read', leadId, now });
    });
    webhooks.wake();
  } catch (error) {
    log.warn({ err: error }, 'That an article was read could not be noted; the next reading is.');
  }
}

/** Makes of a row what is told. */
function toldLead(record: HeldLead, unsubscribeUrl: WebhookParts['unsubscribeUrl']): ToldLead {
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
    first_verified_at: isoTime(record.first_verified_at),
    last_verified_at: isoTime(record.last_verified_at),
    consent:
      consent_given_at === null || consent_version === null
        ? null
        : { given_at: isoTime(consent_given_at), version: consent_version, text: consent_text ?? '' },
    source: sourceOf(attribution),
    attribution,
    flags: flags.split(' ').filter((flag) => flag !== ''),
    unsubscribe_url: unsubscribeUrl(id),
  };
}

/** What `desk webhooks test` sends: a lead that nobody is, with everything that a lead may have, so that fields can be mapped. */
export function testEvent(
  id: string,
  now: number,
  unsubscribeUrl: WebhookParts['unsubscribeUrl'],
): LeadEventBody {
  const at = isoTime(now);
  const lead: ToldLead = {
    id,
    email: 'ada@example.com',
    name: 'Ada Lovelace',
    first_name: 'Ada',
    last_name: 'Lovelace',
    company: 'Analytical Engines',
    first_verified_at: at,
    last_verified_at: at,
    consent: { given_at: at, version: 'test', text: 'I agree.' },
    source: 'newsletter',
    attribution: { utm_source: 'newsletter', utm_medium: 'email', utm_campaign: 'test' },
    flags: ['free-mail'],
    unsubscribe_url: unsubscribeUrl(id),
  };
  return { type: 'lead.test', timestamp: at, data: { lead } };
}
