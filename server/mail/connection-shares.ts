// A network or recipient domain may use four of five SMTP connections, or two while it is slow. Therefore visitors still get
// codes while a hundred mails go to a silent mail server (docs/reliability.md). For lanes, see mail-jobs.ts.

/** A quarter of the mailer's timeout. */
const SLOW_MS = 5_000;
const SLOW_FOR_MS = 30_000;
const LEFT_TO_OTHERS = 1;
const MAX_WHILE_SLOW = 2;

type LanesOfMail = { readonly network: string | null; readonly recipient_domain: string | null };

export type ConnectionShares = {
  readonly freeConnections: () => number;
  /** Lanes that may not use another connection. */
  readonly fullLanes: () => readonly string[];
  /** @returns a function that releases the connection */
  readonly acquire: (mail: LanesOfMail) => () => void;
};

export function createConnectionShares(connections: number, clock: () => number): ConnectionShares {
  const open = new Set<{ readonly lanes: readonly string[]; readonly since: number }>();
  const slowAt = new Map<string, number>();

  const isSlow = (since: number): boolean => clock() - since > SLOW_MS;
  /** Uses the absolute difference, because the clock may be set back. */
  const wasSlow = (lane: string): boolean =>
    Math.abs(clock() - (slowAt.get(lane) ?? -Infinity)) < SLOW_FOR_MS;

  const isFull = (lane: string): boolean => {
    const own = [...open].filter(({ lanes }) => lanes.includes(lane));
    const max =
      wasSlow(lane) || own.some(({ since }) => isSlow(since)) ? MAX_WHILE_SLOW : connections - LEFT_TO_OTHERS;
    return own.length >= max;
  };

  return {
    freeConnections: () => connections - open.size,
    fullLanes: () => [...new Set([...open].flatMap(({ lanes }) => lanes))].filter(isFull),
    acquire: ({ network, recipient_domain: domain }) => {
      const delivery = { lanes: [network, domain].filter((lane) => lane !== null), since: clock() };
      open.add(delivery);
      return () => {
        open.delete(delivery);
        for (const lane of slowAt.keys()) if (!wasSlow(lane)) slowAt.delete(lane);
        if (isSlow(delivery.since)) for (const lane of delivery.lanes) slowAt.set(lane, clock());
      };
    },
  };
}
