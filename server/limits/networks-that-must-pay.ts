// Which networks pay for a code with a proof of work while no other network has to: those that had too many strangers mailed
// within the hour. Without it, ten networks that enter nothing would open the breaker for everyone (docs/decisions/0009).
import type { Db } from '#server/db/engine/connect.ts';
import { newestCodes } from '#server/db/tables/codes.ts';
import { siteOf, strangersByNetwork, type NetworkOfCode } from '#server/limits/unanswered-codes.ts';
import { isLoopback } from '#server/platform/loopback.ts';
import type { Config } from '#server/settings/settings.ts';
import { HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import { BREAKER, FREE_STRANGERS_OF_NETWORK } from '#server/settings/fixed-limits.ts';

type PayingNetworks = {
  /** Reads the codes of the last hour. */
  readonly look: (now: number) => Promise<void>;
  /** Whether a network must pay. One that need not has one more stranger from now on, until the next look. */
  readonly mustPay: (clientAddress: string) => boolean;
};

/** Makes the count of each network's strangers. */
export function createPayingNetworks({
  db,
  config,
  networkOfCode,
}: {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'limits'>;
  readonly networkOfCode: NetworkOfCode;
}): PayingNetworks {
  const { leadsPerIpPerHour } = config.limits;
  const freeStrangers = Math.max(
    FREE_STRANGERS_OF_NETWORK.least,
    Math.ceil(leadsPerIpPerHour * FREE_STRANGERS_OF_NETWORK.share),
  );
  // A limit that is lower anyway refuses first, and says for how long.
  if (config.breaker.unenteredPercent === 0 || freeStrangers >= leadsPerIpPerHour)
    return { look: async () => undefined, mustPay: () => false };

  let strangersOf = new Map<string, number>();
  return {
    look: async (now) => {
      const codes = await newestCodes(db, { from: now - HOUR_MS, to: now + MINUTE_MS, most: BREAKER.sample });
      strangersOf = strangersByNetwork(codes, networkOfCode);
    },
    mustPay: (clientAddress) => {
      // Loopback is this machine, or a proxy that TRUST_PROXY does not name: it stands for no network.
      if (isLoopback(clientAddress)) return false;
      const network = siteOf(clientAddress);
      const strangers = strangersOf.get(network) ?? 0;
      if (strangers >= freeStrangers) return true;
      strangersOf.set(network, strangers + 1);
      return false;
    },
  };
}
