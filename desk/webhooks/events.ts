// The events for other programs that wait or were given up, as they are shown.
import type { Db } from '#server/db/engine/connect.ts';
import { countEvents, listEvents, reviveEvents, type ListedEvent } from '#server/db/tables/webhook-events.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';

const MOST_LISTED = 200;

/** An event; times are ISO 8601, in UTC. */
export type ShownEvent = Omit<
  ListedEvent,
  'endpoint' | 'created_at' | 'queued_at' | 'finished_at' | 'due_at'
> & {
  /** The host only: the address is a secret. */
  readonly to: string;
  readonly created_at: string;
  readonly queued_at: string;
  readonly finished_at: string | null;
  /** When it is tried next; null: not by itself. */
  readonly due_at: string | null;
};

/** How many events there are, and the oldest of them, the dead ones first. */
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

/** Has dead events tried again, for another 24 hours. @param ids which; null: all of them @returns how many */
export const tryAgain = (
  db: Db,
  { clock }: Pick<Service, 'clock'>,
  ids: readonly string[] | null,
): Promise<number> => reviveEvents(db, { ids, now: clock() });

const hostOf = ({ webhooks }: Pick<Service, 'webhooks'>, id: string): string =>
  webhooks.endpoints.find((endpoint) => endpoint.id === id)?.host ?? `${id} (not in WEBHOOK_URLS)`;
