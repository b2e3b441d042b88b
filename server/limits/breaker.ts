// Mailing codes to strangers harms them and our reputation with mail servers, yet each request in a list bomb looks normal.
// A stranger is an e-mail address whose code nobody has entered. With too many codes, or too few entered, every code costs a
// proof of work (decision 0009). Measured by `npm run stress:attacks breaker`.
import { codeStatistics, newestCodes } from '#server/codes/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { countInWindow, readWindow } from '#server/db/tables/limit-windows.ts';
import {
  countBy,
  findPeople,
  customerNetworkOf,
  type MailedCode,
  peopleByDomain,
  type PeopleCount,
} from '#server/limits/strangers.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import { BREAKER, FREE_STRANGERS_OF_NETWORK } from '#server/settings/fixed-limits.ts';

/** The breaker is open while this window has a count. */
const OPEN_KEY = 'breaker is open';

export type BreakerReason = 'too many codes a minute' | 'too few codes entered';

export type Breaker = {
  /**
   * Returns true if a code for this visitor requires a proof of work. The database tells all processes whether the breaker is
   * open. While it is closed, only networks that request codes for many strangers must do the work. Every call that returns
   * false counts as one more stranger of the network until the next check of the database.
   */
  readonly needsProofOfWork: (clientAddress: string) => Promise<boolean>;
};

type BreakerParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds' | 'limits'>;
  readonly clock: () => number;
  /** Called once per opening, in the process that opened the breaker. */
  readonly onOpened: (reason: BreakerReason) => void;
};

/** A limit of 0 disables the check. */
export function createBreaker({ db, config, clock, onOpened }: BreakerParts): Breaker {
  const { codesPerMinute, unenteredPercent } = config.breaker;
  const { leadsPerIpPerHour } = config.limits;
  const codeLifeMs = config.codeTtlSeconds * 1000;
  const freeStrangers = Math.max(
    FREE_STRANGERS_OF_NETWORK.least,
    Math.ceil(leadsPerIpPerHour * FREE_STRANGERS_OF_NETWORK.share),
  );
  const chargesNetworks = unenteredPercent > 0 && freeStrangers < leadsPerIpPerHour;
  // Operators behind a proxy that hides the visitors' IP addresses set this limit to 0. Each code then counts as a network.
  const networkOfCode = (code: MailedCode): string =>
    leadsPerIpPerHour > 0 ? customerNetworkOf(code.client_address) : code.email;
  const readCodes = (from: number, to: number) => newestCodes(db, { from, to, limit: BREAKER.sample });
  /** Returns weighted numbers, so a network with many strangers counts as a few (strangers.ts). */
  const readPeople = async (from: number, to: number) =>
    peopleByDomain(await readCodes(from, to), networkOfCode);

  let lastCheckAt = Number.NEGATIVE_INFINITY;
  let runningCheck: Promise<void> | null = null;
  let open = false;
  let strangersOf = new Map<string, number>();
  let usual: { readonly foundAt: number; readonly threshold: Threshold } | null = null;

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
    if (chargesNetworks)
      strangersOf = countBy(
        // Includes codes of processes whose clocks are ahead.
        findPeople(await readCodes(now - HOUR_MS, now + MINUTE_MS), networkOfCode).strangers,
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

  /** Ignores a minute if a few networks requested most of its codes, because they reach their own limits. */
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
   * Compares each domain's share of strangers with its usual one, the median of eight days. If the whole page's share were
   * compared, attackers could stay undetected by entering codes at their own domain (decision 0009).
   */
  async function areTooFewEntered(now: number): Promise<boolean> {
    // Soon after a code is mailed, only an extreme share is suspicious.
    const early = await readPeople(now - HOUR_MS, now - Math.min(BREAKER.earlyMs, codeLifeMs));
    const alwaysTooMany = Math.max(unenteredPercent, BREAKER.alwaysTooManyPercent);
    if (strangersAbove(early, () => alwaysTooMany) >= BREAKER.manyStrangers) return true;
    // A recent code may still be entered, so only expired ones count.
    const expired = now - codeLifeMs;
    const recent = await readPeople(expired - HOUR_MS, expired);
    // Usually returns, which saves reading eight days.
    if (strangersAbove(recent, () => unenteredPercent) < BREAKER.manyStrangers) return false;
    return strangersAbove(recent, await usualThreshold(now, expired - HOUR_MS)) >= BREAKER.manyStrangers;
  }

  async function usualThreshold(now: number, until: number): Promise<Threshold> {
    if (usual === null || Math.abs(now - usual.foundAt) >= BREAKER.usualForMs) {
      const days = [];
      for (let day = 0; day < BREAKER.usualDays; day += 1)
        days.push(await readPeople(until - (day + 1) * DAY_MS, until - day * DAY_MS));
      usual = { foundAt: now, threshold: thresholdOf(days, unenteredPercent) };
    }
    return usual.threshold;
  }

  /**
   * Returns true if this network must solve a proof of work even while the breaker is closed. Without this rule, ten networks
   * with too many strangers could open the breaker for everyone (decision 0009).
   */
  function chargeNetwork(clientAddress: string): boolean {
    // Loopback is this machine, or a proxy missing from TRUST_PROXY, so it doesn't count as a network.
    if (!chargesNetworks || isLoopback(clientAddress)) return false;
    const network = customerNetworkOf(clientAddress);
    const strangers = strangersOf.get(network) ?? 0;
    if (strangers >= freeStrangers) return true;
    strangersOf.set(network, strangers + 1);
    return false;
  }

  return {
    needsProofOfWork: async (clientAddress) => {
      if (codesPerMinute === 0 && unenteredPercent === 0) return false;
      const now = clock();
      if (Math.abs(now - lastCheckAt) >= BREAKER.checkEveryMs) await checkOnce(now);
      return open || chargeNetwork(clientAddress);
    },
  };
}

/** Returns the highest acceptable percentage of strangers. */
type Threshold = (domain: string) => number;

/** For domains with too few people, the page's median is used. */
function thresholdOf(days: readonly ReadonlyMap<string, PeopleCount>[], unenteredPercent: number): Threshold {
  const percentsOfPage = percentsOf(days.map(sumOf));
  const usualOfPage = median(percentsOfPage) ?? BREAKER.unknownUsualPercent;
  return (domain) => {
    const usual = median(percentsOf(days.flatMap((day) => day.get(domain) ?? []))) ?? usualOfPage;
    const farAbove = Math.min(usual + BREAKER.farAbovePercent, BREAKER.alwaysTooManyPercent);
    return Math.max(unenteredPercent, farAbove);
  };
}

const percentsOf = (days: readonly PeopleCount[]): number[] =>
  days.flatMap(({ strangers, entered }) =>
    strangers + entered >= BREAKER.dayMin ? [(strangers / (strangers + entered)) * 100] : [],
  );

/** Counts the strangers at domains that have more than their entered codes explain. */
function strangersAbove(people: ReadonlyMap<string, PeopleCount>, threshold: Threshold): number {
  const tooMany = [...people].filter(([domain, { strangers, entered }]) => {
    const percent = threshold(domain);
    // The number of strangers that the threshold allows for this many entered codes.
    const expected = entered === 0 ? 0 : (entered * percent) / (100 - percent);
    return strangers - expected >= BREAKER.notByChance;
  });
  // A sum of weights such as 5/6 can fall just short of the whole number.
  return Math.round(sumOf(new Map(tooMany)).strangers);
}

function sumOf(people: ReadonlyMap<string, PeopleCount>): PeopleCount {
  const all = [...people.values()];
  return {
    strangers: all.reduce((sum, { strangers }) => sum + strangers, 0),
    entered: all.reduce((sum, { entered }) => sum + entered, 0),
  };
}

const median = (numbers: readonly number[]): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
