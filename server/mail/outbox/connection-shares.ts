// Who holds how many of the connections to the mail server. Deliveries are shared out by network and by recipient domain, so
// that one source, or one domain whose mail server is silent, never holds them all.
import type { FullLanes } from '#server/db/tables/outbox.ts';

/** A delivery that takes longer than this waits for somebody: half of what the mailer waits before it gives up. */
const SLOW_MS = 5_000;
/** A lane that was slow is treated as slow for so long afterwards. */
const SLOW_FOR_MS = 30_000;
/** One connection is always left to others; a slow lane leaves them more. */
const LEFT_TO_OTHERS = 1;
const MOST_WHEN_SLOW = 2;

/** Of a mail: who asked for it, and where it goes. Null for a notice, which is in no lane. */
type Lanes = { readonly network: string | null; readonly recipient_domain: string | null };

export type LaneBook = {
  /** Notes a delivery; the returned function notes its end. */
  readonly begin: (mail: Lanes) => () => void;
  /** Lanes that may begin no other delivery now. */
  readonly full: () => FullLanes;
  /** Whether any lane is treated as slow. */
  readonly anySlow: () => boolean;
};

/**
 * Makes the book of one process.
 * @param connections how many there are
 * @param clock milliseconds
 */
export function createLaneBook(connections: number, clock: () => number): LaneBook {
  const networks = createLanes(connections, clock);
  const domains = createLanes(connections, clock);
  return {
    begin: ({ network, recipient_domain: domain }) => {
      const ends = [
        ...(network === null ? [] : [networks.begin(network)]),
        ...(domain === null ? [] : [domains.begin(domain)]),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    full: () => ({ networks: networks.full(), domains: domains.full() }),
    anySlow: () => networks.anySlow() || domains.anySlow(),
  };
}

function createLanes(connections: number, clock: () => number) {
  const inHand = new Map<string, Set<{ readonly since: number }>>();
  const slowUntil = new Map<string, number>();

  const isSlow = (lane: string, deliveries: Iterable<{ readonly since: number }>): boolean => {
    const now = clock();
    if ((slowUntil.get(lane) ?? 0) > now) return true;
    for (const { since } of deliveries) if (now - since > SLOW_MS) return true;
    return false;
  };

  return {
    begin: (lane: string) => {
      const delivery = { since: clock() };
      const deliveries = inHand.get(lane) ?? new Set();
      inHand.set(lane, deliveries.add(delivery));
      return () => {
        deliveries.delete(delivery);
        if (deliveries.size === 0) inHand.delete(lane);
        const now = clock();
        if (now - delivery.since > SLOW_MS) slowUntil.set(lane, now + SLOW_FOR_MS);
        for (const [other, until] of slowUntil) if (until <= now) slowUntil.delete(other);
      };
    },
    anySlow: (): boolean => {
      const now = clock();
      return (
        [...slowUntil.values()].some((until) => until > now) ||
        [...inHand].some(([lane, deliveries]) => isSlow(lane, deliveries))
      );
    },
    full: (): string[] =>
      [...inHand].flatMap(([lane, deliveries]) => {
        const most = isSlow(lane, deliveries)
          ? Math.min(MOST_WHEN_SLOW, connections - LEFT_TO_OTHERS)
          : connections - LEFT_TO_OTHERS;
        return deliveries.size >= most ? [lane] : [];
      }),
  };
}
