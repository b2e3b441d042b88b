// Mailing codes to strangers harms them and our reputation with mail servers, yet each request in a list bomb looks normal. With
// too many codes, or too few entered, the breaker opens: for ten minutes, every code costs a proof of work (decision 0009). In the
// code, a stranger is an unconfirmed recipient: an e-mail address for which nobody has entered a code. Here, a network is one
// customer's of a provider, so larger than for other limits (recipients.ts). Measured by `npm run stress:attacks breaker`.
import { codeStatistics, newestCodes } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { countInWindow, readWindow } from '#server/db/tables/limit-windows.ts';
import {
  countBy,
  countByDomain,
  customerNetworkOf,
  findRecipients,
  type MailedCode,
  type RecipientCounts,
} from '#server/limits/recipients.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { BREAKER, FREE_ALLOWANCE_OF_NETWORK } from '#server/settings/fixed-limits.ts';

/** The breaker is open while this window has a count. */
const OPEN_KEY = 'breaker is open';

export type BreakerReason = 'too many codes a minute' | 'too few codes entered';

export type Breaker = {
  /**
   * Returns false if a code for this visitor requires a proof of work. The database tells all processes whether the breaker is
   * open. While it is closed, only networks that request codes for many unconfirmed recipients must do the work. Until the next
   * check of the database, every call that returns true counts as one more unconfirmed recipient of its network.
   */
  readonly admitWithoutProof: (clientAddress: string) => Promise<boolean>;
};

type BreakerParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds' | 'limits'>;
  readonly clock: () => number;
  /** Called once per opening, in the process that opened the breaker. */
  readonly onOpened: (reason: BreakerReason) => void;
};

/** BREAKER_CODES_PER_MINUTE and BREAKER_UNENTERED_PERCENT each disable their check if 0. */
export function createBreaker({ db, config, clock, onOpened }: BreakerParts): Breaker {
  const { codesPerMinute, unenteredPercent } = config.breaker;
  const { leadsPerIpPerHour } = config.limits;
  const codeLifeMs = config.codeTtlSeconds * 1000;
  const freeAllowance = Math.max(
    FREE_ALLOWANCE_OF_NETWORK.min,
    Math.ceil(leadsPerIpPerHour * FREE_ALLOWANCE_OF_NETWORK.share),
  );
  // Operators behind a proxy that hides the visitors' IP addresses set the hourly limit to 0. Then each recipient counts as a
  // network, and limitsNetworks is false. Any other limit below the allowance stops a network earlier.
  const limitsNetworks = unenteredPercent > 0 && freeAllowance < leadsPerIpPerHour;
  const networkOfCode = (code: MailedCode): string =>
    leadsPerIpPerHour > 0 ? customerNetworkOf(code.client_address) : code.email;
  const readCodes = (from: number, to: number) => newestCodes(db, { from, to, limit: BREAKER.sample });
  const readCounts = async (from: number, to: number) =>
    countByDomain(await readCodes(from, to), networkOfCode);

  let lastCheckAt = Number.NEGATIVE_INFINITY;
  let runningCheck: Promise<void> | null = null;
  let open = false;
  let unconfirmedOfNetwork = new Map<string, number>();
  let cachedThreshold: { readonly foundAt: number; readonly threshold: Threshold } | null = null;

  /** Requests that arrive during a check wait for its result. After a failure, the next request checks again. */
  async function checkOnce(now: number): Promise<void> {
    runningCheck ??= check(now).finally(() => {
      runningCheck = null;
    });
    await runningCheck;
    lastCheckAt = now;
  }

  async function check(now: number): Promise<void> {
    const state = await readWindow(db, OPEN_KEY, now);
    open = state.count > 0;
    if (open) return;
    if (limitsNetworks)
      unconfirmedOfNetwork = countBy(
        // Includes codes of processes whose clocks are ahead.
        findRecipients(await readCodes(now - HOUR_MS, now + MINUTE_MS), networkOfCode).unconfirmed,
        ({ network }) => network,
      );
    const reason = await findReasonToOpen(now);
    if (reason === null) return;
    // Only the process that counts first reports the opening.
    const count = await countInWindow(db, OPEN_KEY, BREAKER.openMs, now);
    if (count === 1) onOpened(reason);
    open = true;
  }

  async function findReasonToOpen(now: number): Promise<BreakerReason | null> {
    if (codesPerMinute > 0 && (await areTooManyAMinute(now))) return 'too many codes a minute';
    if (unenteredPercent > 0 && (await areTooFewEntered(now))) return 'too few codes entered';
    return null;
  }

  /**
   * Ignores a minute if less than half of its codes remain after each network is capped (minuteShareOfANetwork). Then a few
   * networks requested most of them, which soon reach their own limits.
   */
  async function areTooManyAMinute(now: number): Promise<boolean> {
    const span = { from: now - MINUTE_MS, to: now + MINUTE_MS };
    if ((await codeStatistics(db, { ...span, limit: codesPerMinute })).sent < codesPerMinute) return false;
    const codes = await readCodes(span.from, span.to);
    const maxPerNetwork = Math.max(1, codes.length * BREAKER.minuteShareOfANetwork);
    const counts = countBy(codes, networkOfCode);
    const cappedCount = [...counts.values()].reduce((sum, count) => sum + Math.min(count, maxPerNetwork), 0);
    return cappedCount >= codes.length / 2;
  }

  /**
   * Compares each domain's share of unconfirmed recipients with its usual one, the median of eight days. If the whole page's share
   * were compared, attackers could stay undetected by entering codes at their own domain (decision 0009).
   */
  async function areTooFewEntered(now: number): Promise<boolean> {
    // Some of these codes may still be entered, so only an extreme share is suspicious.
    const recent = await readCounts(now - HOUR_MS, now - Math.min(BREAKER.minCodeAgeMs, codeLifeMs));
    const extremePercent = Math.max(unenteredPercent, BREAKER.extremePercent);
    if (unconfirmedAbove(recent, () => extremePercent) >= BREAKER.opensAtUnconfirmed) return true;
    const expiryCutoff = now - codeLifeMs;
    const expired = await readCounts(expiryCutoff - HOUR_MS, expiryCutoff);
    // Usually returns, which saves reading eight days.
    if (unconfirmedAbove(expired, () => unenteredPercent) < BREAKER.opensAtUnconfirmed) return false;
    const threshold = await readThreshold(now, expiryCutoff - HOUR_MS);
    return unconfirmedAbove(expired, threshold) >= BREAKER.opensAtUnconfirmed;
  }

  /** @param until the beginning of the hour to judge */
  async function readThreshold(now: number, until: number): Promise<Threshold> {
    if (cachedThreshold === null || Math.abs(now - cachedThreshold.foundAt) >= BREAKER.thresholdCacheMs) {
      const days = [];
      for (let day = 0; day < BREAKER.usualDays; day += 1)
        days.push(await readCounts(until - (day + 1) * DAY_MS, until - day * DAY_MS));
      cachedThreshold = { foundAt: now, threshold: thresholdOf(days, unenteredPercent) };
    }
    return cachedThreshold.threshold;
  }

  /**
   * Returns false if this network must solve a proof of work even while the breaker is closed. Without this rule, ten networks
   * with too many unconfirmed recipients could open the breaker for everyone (decision 0009).
   */
  function spendFreeAllowance(clientAddress: string): boolean {
    // Loopback is this machine, or a proxy missing from TRUST_PROXY, so it doesn't count as a network.
    if (!limitsNetworks || isLoopback(clientAddress)) return true;
    const network = customerNetworkOf(clientAddress);
    const used = unconfirmedOfNetwork.get(network) ?? 0;
    if (used >= freeAllowance) return false;
    unconfirmedOfNetwork.set(network, used + 1);
    return true;
  }

  return {
    admitWithoutProof: async (clientAddress) => {
      if (codesPerMinute === 0 && unenteredPercent === 0) return true;
      const now = clock();
      if (Math.abs(now - lastCheckAt) >= BREAKER.checkEveryMs) await checkOnce(now);
      return !open && spendFreeAllowance(clientAddress);
    },
  };
}

/** Returns the highest acceptable percentage of unconfirmed recipients. */
type Threshold = (domain: string) => number;

/** For domains with too few recipients, the page's median is used. */
function thresholdOf(
  days: readonly ReadonlyMap<string, RecipientCounts>[],
  unenteredPercent: number,
): Threshold {
  const percentsOfPage = percentsOf(days.map(sumOf));
  const usualOfPage = median(percentsOfPage) ?? BREAKER.unknownUsualPercent;
  return (domain) => {
    const usual = median(percentsOf(days.flatMap((day) => day.get(domain) ?? []))) ?? usualOfPage;
    const farAbove = Math.min(usual + BREAKER.farAbovePercent, BREAKER.extremePercent);
    return Math.max(unenteredPercent, farAbove);
  };
}

const percentsOf = (days: readonly RecipientCounts[]): number[] =>
  days.flatMap(({ unconfirmed, confirmed }) => {
    const all = unconfirmed + confirmed;
    return all >= BREAKER.minRecipientsPerDay ? [(unconfirmed / all) * 100] : [];
  });

/** Counts the unconfirmed recipients at domains that have far more than their confirmed ones explain. */
function unconfirmedAbove(domains: ReadonlyMap<string, RecipientCounts>, threshold: Threshold): number {
  const tooMany = [...domains].filter(([domain, { unconfirmed, confirmed }]) => {
    const percent = threshold(domain);
    // The number of unconfirmed recipients that the threshold allows for this many confirmed ones.
    const expected = percent === 100 ? Infinity : (confirmed * percent) / (100 - percent);
    return unconfirmed - expected >= BREAKER.minSurplus;
  });
  // Each recipient has a weight (recipients.ts), and a sum of weights such as 5/6 can fall just short of the whole number.
  return Math.round(sumOf(new Map(tooMany)).unconfirmed);
}

function sumOf(domains: ReadonlyMap<string, RecipientCounts>): RecipientCounts {
  const all = [...domains.values()];
  return {
    unconfirmed: all.reduce((sum, { unconfirmed }) => sum + unconfirmed, 0),
    confirmed: all.reduce((sum, { confirmed }) => sum + confirmed, 0),
  };
}

const median = (numbers: readonly number[]): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
