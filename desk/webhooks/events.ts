import { countEvents, listEvents } from '#server/db/tables/webhook-events.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

const MAX_LISTED = 200;

/** Replaces each endpoint with its host, because the URL is a secret. */
export async function shownEvents(service: Pick<Service, 'database' | 'webhooks'>) {
  const { db } = service.database;
  const counts = await countEvents(db);
  const events = await listEvents(db, MAX_LISTED);
  return {
    ...counts,
    events: events.map(({ endpoint, ...event }) => ({
      ...event,
      to: hostOf(service, endpoint),
      created_at: isoTime(event.created_at),
      queued_at: isoTime(event.queued_at),
      finished_at: event.finished_at === null ? null : isoTime(event.finished_at),
      due_at: event.state === 'queued' ? isoTime(event.due_at) : null,
    })),
  };
}

const hostOf = ({ webhooks }: Pick<Service, 'webhooks'>, id: string): string =>
  webhooks.endpoints.find((endpoint) => endpoint.id === id)?.url.host ?? `${id} (not in WEBHOOK_URLS)`;
