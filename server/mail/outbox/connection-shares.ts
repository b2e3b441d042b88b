// Shares the connections to the mail server by network and by recipient domain, so one source, or one domain whose mail server is
// silent, never holds them all: of five, a lane holds four at most, and two while it is slow. With a hundred forms to which the mail
// server says nothing, other visitors still get their codes: measured in docs/reliability.md.

/** A delivery that takes longer makes its lanes slow. A quarter of the time after which the mailer gives up. */
const SLOW_MS = 5_000;
/** How long a lane stays slow after a slow delivery has ended. */
const SLOW_FOR_MS = 30_000;
/** Connections that no lane may take from the others. */
const LEFT_TO_OTHERS = 1;
const MOST_WHEN_SLOW = 2;

/** Its network and its domain; null for a notice. */
type LanesOfMail = { readonly network: string | null; readonly recipient_domain: string | null };

export type ConnectionShares = {
  readonly free: () => number;
  /** Networks and domains that may begin no other delivery now. */
  readonly full: () => readonly string[];
  /** Counts a delivery; the returned function counts its end. */
  readonly begin: (mail: LanesOfMail) => () => void;
};

/** Counts the deliveries of one process. @param clock milliseconds */
export function createConnectionShares(connections: number, clock: () => number): ConnectionShares {
  const open = new Set<{ readonly lanes: readonly string[]; readonly since: number }>();
  const slowUntil = new Map<string, number>();

  const isSlow = (since: number): boolean => clock() - since > SLOW_MS;

  const isFull = (lane: string): boolean => {
    const own = [...open].filter(({ lanes }) => lanes.includes(lane));
    const wasSlow = (slowUntil.get(lane) ?? 0) > clock();
    const most =
      wasSlow || own.some(({ since }) => isSlow(since)) ? MOST_WHEN_SLOW : connections - LEFT_TO_OTHERS;
    return own.length >= most;
  };

  return {
    free: () => connections - open.size,
    full: () => [...new Set([...open].flatMap(({ lanes }) => lanes))].filter(isFull),
    begin: ({ network, recipient_domain: domain }) => {
      const delivery = { lanes: [network, domain].filter((lane) => lane !== null), since: clock() };
      open.add(delivery);
      return () => {
        open.delete(delivery);
        const now = clock();
        for (const [lane, until] of slowUntil) if (until <= now) slowUntil.delete(lane);
        if (isSlow(delivery.since)) for (const lane of delivery.lanes) slowUntil.set(lane, now + SLOW_FOR_MS);
      };
    },
  };
}
