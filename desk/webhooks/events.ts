import type { Db } from '#server/db/engine/connect.ts';
import { countEvents, listEvents, reviveEvents, type ListedEvent } from '#server/db/tables/webhook-events.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

const MOST_LISTED = 200;

export type ShownEvent = Omit<
  ListedEvent,
  'endpoint' | 'created_at' | 'queued_at' | 'finished_at' | 'due_at'
> & {
  /** Omits the path, because the URL is a secret. */
  readonly to: string;
  readonly created_at: string;
  readonly queued_at: string;
  readonly finished_at: string | null;
  /** Null if the event is not retried automatically. */
  readonly due_at: string | null;
};

export async function shownEvents(service: Pick<Service, 'database' | 'webhooks'>): Promise<{
  readonly queued: number;
  readonly dead: number;
  readonly events: readonly ShownEvent[];
}> {
  const { db } = service.database;
  const counts = await countEvents(db);
  const events = await listEvents(db, MOST_LISTED);
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

/**
 * @param ids null for all
 * @returns the number of events
 */
export const tryAgain = (
  db: Db,
  { clock }: Pick<Service, 'clock'>,
  ids: readonly string[] | null,
): Promise<number> => reviveEvents(db, { ids, now: clock() });

const hostOf = ({ webhooks }: Pick<Service, 'webhooks'>, id: string): string =>
  webhooks.endpoints.find((endpoint) => endpoint.id === id)?.url.host ?? `${id} (not in WEBHOOK_URLS)`;
