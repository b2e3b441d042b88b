// Whether far fewer codes are entered than usual: at some domains there are more strangers than the codes entered beside them
// account for. Each domain is measured alone, so an attacker who enters 31 % to 90 % of the codes at a domain of his reaches at
// most 250 of 1,600 strangers an hour at a quiet page, 400 at a forgetful one and 700 at a busy one; one share for the whole page
// let all of them through. "Usual" is the median of eight days: a page where three of four visitors never enter their code stays
// shut, and one bad day does not pass for usual (docs/decisions/0009).
import type { Db } from '#server/db/engine/connect.ts';
import { newestCodes } from '#server/db/tables/codes.ts';
import { peopleByDomain, type NetworkOfCode, type PeopleCount } from '#server/limits/unanswered-codes.ts';
import type { Config } from '#server/settings/settings.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import { BREAKER } from '#server/settings/fixed-limits.ts';

/** The share of strangers, in percent, from which on they are too many at a domain. */
type Threshold = (domain: string) => number;

/**
 * Makes the question whether too few codes are entered. It remembers for ten minutes what is usual.
 * @returns the question, for a time
 */
export function createTooFewEntered({
  db,
  config,
  networkOfCode,
}: {
  readonly db: Db;
  readonly config: Pick<Config, 'breaker' | 'codeTtlSeconds'>;
  readonly networkOfCode: NetworkOfCode;
}): (now: number) => Promise<boolean> {
  const { unenteredPercent } = config.breaker;
  const codeLifeMs = config.codeTtlSeconds * 1000;
  let usual: { readonly foundAt: number; readonly threshold: Threshold } | null = null;

  const readPeople = async (from: number, to: number) =>
    peopleByDomain(await newestCodes(db, { from, to, most: BREAKER.sample }), networkOfCode);

  const usualThreshold = async (now: number, until: number): Promise<Threshold> => {
    if (usual === null || Math.abs(now - usual.foundAt) >= BREAKER.usualForMs) {
      const days = [];
      for (let day = 0; day < BREAKER.usualDays; day += 1)
        days.push(await readPeople(until - (day + 1) * DAY_MS, until - day * DAY_MS));
      usual = { foundAt: now, threshold: thresholdOf(days, unenteredPercent) };
    }
    return usual.threshold;
  };

  return async (now) => {
    const early = await readPeople(now - HOUR_MS, now - Math.min(BREAKER.earlyMs, codeLifeMs));
    const alwaysTooMany = Math.max(unenteredPercent, BREAKER.alwaysTooManyPercent);
    if (strangersAbove(early, () => alwaysTooMany) >= BREAKER.manyStrangers) return true;
    // Only codes whose time is over: a code of a minute ago may still be entered.
    const expired = now - codeLifeMs;
    const recent = await readPeople(expired - HOUR_MS, expired);
    if (strangersAbove(recent, () => unenteredPercent) < BREAKER.manyStrangers) return false;
    return strangersAbove(recent, await usualThreshold(now, expired - HOUR_MS)) >= BREAKER.manyStrangers;
  };
}

/** Far above the median of a domain's days, or of the page's days for a domain with too few people. */
function thresholdOf(days: readonly ReadonlyMap<string, PeopleCount>[], unenteredPercent: number): Threshold {
  const percentsOfPage = percentsOf(days.map(sumOf));
  const usualOfPage = median(percentsOfPage) ?? BREAKER.unknownUsualPercent;
  return (domain) => {
    const usual = median(percentsOf(days.flatMap((day) => day.get(domain) ?? []))) ?? usualOfPage;
    const farAbove = Math.min(usual + BREAKER.farAbovePercent, BREAKER.alwaysTooManyPercent);
    return Math.max(unenteredPercent, farAbove);
  };
}

/** The share of strangers on each day that has enough people for one. */
const percentsOf = (days: readonly PeopleCount[]): number[] =>
  days.flatMap(({ strangers, entered }) =>
    strangers + entered >= BREAKER.dayMin ? [(strangers / (strangers + entered)) * 100] : [],
  );

/** The strangers at domains where they are too many for the codes that were entered there. */
function strangersAbove(people: ReadonlyMap<string, PeopleCount>, threshold: Threshold): number {
  const tooMany = [...people].filter(([domain, { strangers, entered }]) => {
    const percent = threshold(domain);
    const accountedFor = entered === 0 ? 0 : (entered * percent) / (100 - percent);
    return strangers - accountedFor >= BREAKER.notByChance;
  });
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
