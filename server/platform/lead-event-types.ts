/** The events of webhooks. The settings and the database name them. */
export const LEAD_EVENT_TYPES = [
  'lead.verified',
  'lead.updated',
  'lead.read',
  'lead.unsubscribed',
  'lead.bounced',
  'lead.erased',
] as const;
export type LeadEventType = (typeof LEAD_EVENT_TYPES)[number];
