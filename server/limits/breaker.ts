// The list-bomb breaker. Somebody who makes us mail codes to thousands of strangers harms them and our own standing with
// mail servers, and each single request looks like a visitor's. What shows is the whole: far more codes than usual, or
// strangers whom nobody answers for (unanswered-codes.ts). Then the breaker opens, and for a while every code must be paid for
// with a proof of work. A single network that asks for strangers pays alone, and opens it for nobody else.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#server/platform/time.ts';
import { isLoopback } from '#server/settings/addresses-in-settings.ts';
import type { Config } from '#server/settings/settings.ts';
import { codeStatistics, newestCodes } from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { countInWindow, readWindow } from '#server/db/tables/limit-windows.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { BREAKER, FREE_STRANGERS_OF_NETWORK } from '#server/settings/tries-and-rates.ts';
import {
  strangersByNetwork,
  tallyByDomain,
  type MailedCode,
  type Tally,
} from '#server/limits/unanswered-codes.ts';

const OPEN_KEY = 'breaker is open';

export type BreakerReason = 'too many codes a minute' | 'too few codes entered';

export type Breaker = {
  /**
   * Whether a new code must be paid for. All processes agree on what concerns everybody: the state is in the database.
   * @param clientAddress who asks: a network that asks for many strangers must pay while nobody else has to
   */
  readonly isOpen: (clientAddress: string) => Promise<boolean>;
};

type BreakerParts = {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds' | 'limits'>;
  readonly clock: () => number;
  /** Told once each time it opens, by the process that opened it. */
  readonly onOpened: (reason: BreakerReason) => void;
};

/** From which share on the people of a domain are too many strangers, in percent. */
type Bar = (domain: string) => number;

/** Makes the breaker out of its ceilings; 0 lifts a ceiling, and with both lifted it never opens. */
export function createBreaker({ db, config, clock, onOpened }: BreakerParts): Breaker {
  const { codesPerMinute, unenteredPercent } = config.breaker;
  const { leadsPerIpPerHour } = config.limits;
  const decidedAfterMs = config.codeTtlSeconds * 1000;
  // Whoever lifts the limit on networks says that addresses tell nothing here, as behind a proxy that hides them.
  const addressesTell = leadsPerIpPerHour > 0;
  const freeForANetwork = Math.max(
    FREE_STRANGERS_OF_NETWORK.least,
    Math.ceil(leadsPerIpPerHour * FREE_STRANGERS_OF_NETWORK.share),
  );
  // A limit that is lower anyway refuses first, and says for how long.
  const networksPayAlone = addressesTell && unenteredPercent > 0 && freeForANetwork < leadsPerIpPerHour;

  let lastLook = Number.NEGATIVE_INFINITY;
  let open = false;
  /** Addresses without an entered code by network, and what was let through since the last look. */
  let strangersOf = new Map<string, number>();
  let usual: { readonly foundAt: number; readonly bar: Bar } | null = null;

  const networkOfCode = (code: MailedCode): string =>
    addressesTell ? siteOf(code.client_address) : code.email;
  const readTallies = async (from: number, to: number) =>
    tallyByDomain(await newestCodes(db, { from, to, most: BREAKER.sample }), networkOfCode);

  /** The medians of the last eight days, so that one bad day does not pass for usual. */
  const findUsualBar = async (until: number): Promise<Bar> => {
    const shares = new Map<string, number[]>();
    const ofPage: number[] = [];
    for (let day = 0; day < BREAKER.usualDays; day += 1) {
      const to = until - day * DAY_MS;
      const tallies = await readTallies(to - DAY_MS, to);
      for (const [domain, tally] of tallies) {
        if (sizeOf(tally) >= BREAKER.dayMin)
          shares.set(domain, [...(shares.get(domain) ?? []), percentStrangers(tally)]);
      }
      const page = sumOf(tallies);
      if (sizeOf(page) >= BREAKER.dayMin) ofPage.push(percentStrangers(page));
    }
    const usualOfPage = median(ofPage) ?? BREAKER.unknownUsualPercent;
    return (domain) => {
      const percent = (median(shares.get(domain) ?? []) ?? usualOfPage) + BREAKER.farAbovePercent;
      return Math.max(unenteredPercent, Math.min(percent, BREAKER.alwaysTooManyPercent));
    };
  };

  const usualBar = async (now: number, until: number): Promise<Bar> => {
    if (usual === null || Math.abs(now - usual.foundAt) >= BREAKER.usualForMs)
      usual = { foundAt: now, bar: await findUsualBar(until) };
    return usual.bar;
  };

  const areTooFewEntered = async (now: number): Promise<boolean> => {
    const early = await readTallies(now - HOUR_MS, now - Math.min(BREAKER.earlyMs, decidedAfterMs));
    const gross = Math.max(unenteredPercent, BREAKER.alwaysTooManyPercent);
    if (strangersAbove(early, () => gross) >= BREAKER.manyStrangers) return true;
    // Only codes whose time is over: a code of a minute ago may still be entered.
    const decided = now - decidedAfterMs;
    const recent = await readTallies(decided - HOUR_MS, decided);
    if (strangersAbove(recent, () => unenteredPercent) < BREAKER.manyStrangers) return false;
    return strangersAbove(recent, await usualBar(now, decided - HOUR_MS)) >= BREAKER.manyStrangers;
  };

  const areTooManyAMinute = async (now: number): Promise<boolean> => {
    const span = { from: now - MINUTE_MS, to: now + MINUTE_MS };
    if ((await codeStatistics(db, { ...span, most: codesPerMinute })).sent < codesPerMinute) return false;
    // Not for everybody if a few networks made most of them: those pay alone, and reach their limits.
    const codes = await newestCodes(db, { ...span, most: BREAKER.sample });
    const most = Math.max(1, codes.length * BREAKER.minuteShareOfANetwork);
    const counts = new Map<string, number>();
    for (const code of codes) {
      const network = networkOfCode(code);
      counts.set(network, (counts.get(network) ?? 0) + 1);
    }
    const spread = [...counts.values()].reduce((sum, count) => sum + Math.min(count, most), 0);
    return spread >= codes.length / 2;
  };

  const findReason = async (now: number): Promise<BreakerReason | null> => {
    if (codesPerMinute > 0 && (await areTooManyAMinute(now))) return 'too many codes a minute';
    if (unenteredPercent > 0 && (await areTooFewEntered(now))) return 'too few codes entered';
    return null;
  };

  const look = async (now: number): Promise<void> => {
    const state = await readWindow(db, OPEN_KEY, now);
    // An end further away than that was written before the clock was set back.
    open = state.count > 0 && state.endsAt - now <= BREAKER.openMs;
    if (open) return;
    if (networksPayAlone) {
      const codes = await newestCodes(db, { from: now - HOUR_MS, to: now + MINUTE_MS, most: BREAKER.sample });
      strangersOf = strangersByNetwork(codes, networkOfCode);
    }
    const reason = await findReason(now);
    if (reason === null) return;
    // Several processes may see it at once; the one that counts first tells.
    const { count } = await countInWindow(db, OPEN_KEY, BREAKER.openMs, now);
    if (count === 1) onOpened(reason);
    open = true;
  };

  const mustPayAlone = (network: string): boolean => {
    if (!networksPayAlone) return false;
    const strangers = strangersOf.get(network) ?? 0;
    if (strangers >= freeForANetwork) return true;
    strangersOf.set(network, strangers + 1);
    return false;
  };

  return {
    isOpen: async (clientAddress) => {
      if (codesPerMinute === 0 && unenteredPercent === 0) return false;
      const now = clock();
      if (Math.abs(now - lastLook) >= BREAKER.lookEveryMs) {
        lastLook = now;
        await look(now);
      }
      // Loopback is this machine, or a proxy that TRUST_PROXY does not name: no network of anybody's.
      return open || (!isLoopback(clientAddress) && mustPayAlone(siteOf(clientAddress)));
    },
  };
}

/**
 * The network an address is weighed under. As for the limits, but IPv6 by its /48, which is what a site is given (RFC 6177):
 * one customer line must not look like 65,536 networks.
 */
const siteOf = (clientAddress: string): string =>
  networkOf(clientAddress).replace(/^((?:[\da-f]+:){3}).*\/64$/, '$1:/48');

/** The strangers at domains where they are too many for the codes that were entered there. */
const strangersAbove = (tallies: ReadonlyMap<string, Tally>, bar: Bar): number => {
  const tooMany = [...tallies].filter(([domain, { strangers, entered }]) => {
    const percent = bar(domain);
    const answeredFor = entered === 0 ? 0 : (entered * percent) / (100 - percent);
    return strangers - answeredFor >= BREAKER.notByChance;
  });
  return Math.round(sumOf(new Map(tooMany)).strangers);
};

const sizeOf = ({ strangers, entered }: Tally): number => strangers + entered;

const percentStrangers = (tally: Tally): number => (tally.strangers / sizeOf(tally)) * 100;

const sumOf = (tallies: ReadonlyMap<string, Tally>): Tally => {
  const all = [...tallies.values()];
  return {
    strangers: all.reduce((sum, { strangers }) => sum + strangers, 0),
    entered: all.reduce((sum, { entered }) => sum + entered, 0),
  };
};

const median = (numbers: readonly number[]): number | undefined =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
