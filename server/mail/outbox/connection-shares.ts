// A network or recipient domain holds four of five SMTP connections, or two while slow. So visitors still get codes while a
// hundred forms go to a silent mail server (docs/reliability.md).

/** A quarter of the mailer's timeout. */
const SLOW_MS = 5_000;
const SLOW_FOR_MS = 30_000;
const LEFT_TO_OTHERS = 1;
const MOST_WHEN_SLOW = 2;

/** Null for a notice. */
type LanesOfMail = { readonly network: string | null; readonly recipient_domain: string | null };

export type ConnectionShares = {
  readonly free: () => number;
  readonly full: () => readonly string[];
  readonly begin: (mail: LanesOfMail) => () => void;
};

/** @param clock milliseconds */
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
