// The list-bomb breaker. An attacker who makes us mail codes to thousands of strangers harms them and our standing with mail
// servers, and each single request looks like a visitor's. The whole gives the attack away: too many codes
// (below), or too few that are entered (too-few-entered.ts). Then the breaker opens for everyone, and for a while
// each code costs a proof of work. A single network that asks for strangers pays alone (networks-that-must-pay.ts).
// What it stops: docs/decisions/0009 and `npm run prove:breaker`.
import type { Db } from '#server/db/engine/connect.ts';
import { codeStatistics, newestCodes } from '#server/db/tables/codes.ts';
import { countInWindow, readWindow } from '#server/db/tables/limit-windows.ts';
import { createPayingNetworks } from '#server/limits/networks-that-must-pay.ts';
import { createTooFewEntered } from '#server/limits/too-few-entered.ts';
import { siteOf, type MailedCode, countBy, type NetworkOfCode } from '#server/limits/unanswered-codes.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { BREAKER } from '#server/settings/fixed-limits.ts';

const OPEN_KEY = 'breaker is open';

export type BreakerReason = 'too many codes a minute' | 'too few codes entered';

export type Breaker = {
  /**
   * Whether a new code costs a proof of work. The state that concerns everyone is in the database, so all processes agree.
   * @param clientAddress where the request comes from: a network that asks for many strangers pays alone
   */
  readonly isOpen: (clientAddress: string) => Promise<boolean>;
};

type BreakerParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds' | 'limits'>;
  readonly clock: () => number;
  /** Called once each time it opens, in the process that opened it. */
  readonly onOpened: (reason: BreakerReason) => void;
};

/** Makes the breaker out of its ceilings; 0 lifts a ceiling, and with both lifted it never opens. */
export function createBreaker({ db, config, clock, onOpened }: BreakerParts): Breaker {
  const { codesPerMinute, unenteredPercent } = config.breaker;
  const { leadsPerIpPerHour } = config.limits;
  // An operator who lifts the limit on networks says that addresses mean nothing, as behind a proxy that hides them. Then
  // each code counts as a network.
  const networkOfCode = (code: MailedCode): string =>
    leadsPerIpPerHour > 0 ? siteOf(code.client_address) : code.email;
  const networks = createPayingNetworks({ db, config, networkOfCode });
  const areTooFewEntered = createTooFewEntered({ db, config, networkOfCode });

  let lastLook = Number.NEGATIVE_INFINITY;
  let open = false;

  const findReason = async (now: number): Promise<BreakerReason | null> => {
    if (codesPerMinute > 0 && (await areTooManyAMinute(db, { codesPerMinute, networkOfCode }, now)))
      return 'too many codes a minute';
    if (unenteredPercent > 0 && (await areTooFewEntered(now))) return 'too few codes entered';
    return null;
  };

  const look = async (now: number): Promise<void> => {
    const state = await readWindow(db, OPEN_KEY, now);
    // An end further away than that was written before the clock was set back.
    open = state.count > 0 && state.endsAt - now <= BREAKER.openMs;
    if (open) return;
    await networks.look(now);
    const reason = await findReason(now);
    if (reason === null) return;
    // Several processes may see it at once; only the first to count reports it.
    const { count } = await countInWindow(db, OPEN_KEY, BREAKER.openMs, now);
    if (count === 1) onOpened(reason);
    open = true;
  };

  return {
    isOpen: async (clientAddress) => {
      if (codesPerMinute === 0 && unenteredPercent === 0) return false;
      const now = clock();
      if (Math.abs(now - lastLook) >= BREAKER.lookEveryMs) {
        lastLook = now;
        await look(now);
      }
      return open || networks.mustPay(clientAddress);
    },
  };
}

/** Whether too many codes were made in the last minute. A few networks that made most of them reach limits of their own. */
async function areTooManyAMinute(
  db: Db,
  {
    codesPerMinute,
    networkOfCode,
  }: { readonly codesPerMinute: number; readonly networkOfCode: NetworkOfCode },
  now: number,
): Promise<boolean> {
  const span = { from: now - MINUTE_MS, to: now + MINUTE_MS };
  if ((await codeStatistics(db, { ...span, most: codesPerMinute })).sent < codesPerMinute) return false;
  const codes = await newestCodes(db, { ...span, most: BREAKER.sample });
  const mostOfANetwork = Math.max(1, codes.length * BREAKER.minuteShareOfANetwork);
  const counts = countBy(codes, networkOfCode);
  const spread = [...counts.values()].reduce((sum, count) => sum + Math.min(count, mostOfANetwork), 0);
  return spread >= codes.length / 2;
}
