// Who holds how many of the connections to the mail server. Deliveries share them by network and by recipient domain, so one
// source, or one domain whose mail server is silent, never holds them all: of five, a lane holds four at most, and two while it is
// slow. With a hundred forms to which the mail server says nothing, other visitors still get their codes: measured in
// docs/reliability.md, "What happens if more codes are requested than the mail server takes?".
import type { FullLanes } from '#server/db/tables/outbox-leases.ts';

/** A delivery that takes longer makes its lanes slow. A quarter of the time after which the mailer gives up. */
const SLOW_MS = 5_000;
/** How long a lane stays slow after a slow delivery has ended. */
const SLOW_FOR_MS = 30_000;
/** Connections that no lane may take from the others. */
const LEFT_TO_OTHERS = 1;
const MAX_WHEN_SLOW = 2;

/** The lanes of a mail: the network that asked for it, and the domain it goes to. Null for a notice, which is in no lane. */
export type MailLanes = { readonly network: string | null; readonly recipient_domain: string | null };

export type ConnectionShares = {
  /** Notes a delivery; the returned function notes its end. */
  readonly begin: (mail: MailLanes) => () => void;
  /** Lanes that may begin no other delivery now. */
  readonly full: () => FullLanes;
  /** Whether a lane of this mail is full. */
  readonly isFull: (mail: MailLanes) => boolean;
  /** Whether any lane is slow. */
  readonly anySlow: () => boolean;
};

/**
 * Counts the deliveries of one process.
 * @param connections how many there are
 * @param clock milliseconds
 */
export function createConnectionShares(connections: number, clock: () => number): ConnectionShares {
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
    isFull: ({ network, recipient_domain: domain }) =>
      (network !== null && networks.isFull(network)) || (domain !== null && domains.isFull(domain)),
    anySlow: () => networks.anySlow() || domains.anySlow(),
  };
}

type Deliveries = Set<{ readonly since: number }>;

function createLanes(connections: number, clock: () => number) {
  const underWay = new Map<string, Deliveries>();
  const slowUntil = new Map<string, number>();

  const isSlow = (lane: string): boolean => {
    const now = clock();
    return (
      (slowUntil.get(lane) ?? 0) > now ||
      [...(underWay.get(lane) ?? [])].some(({ since }) => now - since > SLOW_MS)
    );
  };

  const isFull = (lane: string): boolean => {
    const most = connections - LEFT_TO_OTHERS;
    const held = underWay.get(lane)?.size ?? 0;
    return held >= most || (held >= MAX_WHEN_SLOW && isSlow(lane));
  };

  return {
    begin: (lane: string) => {
      const delivery = { since: clock() };
      const deliveries: Deliveries = underWay.get(lane) ?? new Set();
      underWay.set(lane, deliveries.add(delivery));
      return () => {
        deliveries.delete(delivery);
        if (deliveries.size === 0) underWay.delete(lane);
        const now = clock();
        if (now - delivery.since > SLOW_MS) slowUntil.set(lane, now + SLOW_FOR_MS);
        for (const [other, until] of slowUntil) if (until <= now) slowUntil.delete(other);
      };
    },
    anySlow: (): boolean => [...slowUntil.keys(), ...underWay.keys()].some(isSlow),
    isFull,
    full: (): string[] => [...underWay.keys()].filter(isFull),
  };
}
