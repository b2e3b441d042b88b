// How many mails this process leases beyond those that have a connection. While deliveries are quick, up to 128: then one look
// into the outbox serves many, or none is needed at all. Together with asking for nothing twice this made 397 flows a second of
// 158 (docs/decisions/0018-optimise-statements-only-in-the-drivers.md). While they are slow, none: a mail that is leased early would be sent out of turn.

/** Of a process that is killed, so many mails at most wait until their leases run out. */
const AHEAD_MAX = 128;
/** Deliveries are quick as long as the last mail leased begins within this time. */
const QUICK_MS = 1_000;
/** Weight of the newest delivery in the moving average, from 0 to 1. */
const NEWEST_WEIGHT = 0.2;

export type LookAhead = {
  /** Notes a delivery; the returned function notes its end. */
  readonly begin: () => () => void;
  /** How many mails may be leased beyond the connections. */
  readonly limit: () => number;
};

/** Starts cautiously: until a delivery has ended, deliveries count as slow. @param connections to the mail server */
export function createLookAhead(connections: number): LookAhead {
  const underWay = new Set<{ readonly begunAt: number }>();
  let averageMs = QUICK_MS;
  return {
    begin: () => {
      const delivery = { begunAt: performance.now() };
      underWay.add(delivery);
      return () => {
        underWay.delete(delivery);
        averageMs += (performance.now() - delivery.begunAt - averageMs) * NEWEST_WEIGHT;
      };
    },
    limit: () => {
      const now = performance.now();
      if ([...underWay].some(({ begunAt }) => now - begunAt > QUICK_MS)) return 0;
      const begunInTime = Math.floor((connections * QUICK_MS) / averageMs);
      return Math.min(AHEAD_MAX, Math.max(0, begunInTime - connections));
    },
  };
}
