// Whether more codes go out than BREAKER_CODES_PER_MINUTE allows, and not because of a few networks.
import type { Db } from '#server/db/engine/connect.ts';
import { codeStatistics, newestCodes } from '#server/db/tables/codes.ts';
import { countBy, type NetworkOfCode } from '#server/limits/unanswered-codes.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import { BREAKER } from '#server/settings/tries-and-rates.ts';

/** Whether too many codes were made in the last minute. A few networks that made most of them reach limits of their own. */
export async function areTooManyAMinute(
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
