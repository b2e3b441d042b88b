import type { lost as lostCall } from '#desk/endpoints/people.ts';
import { LOOK_MS } from '#desk/server/handlers/people.ts';
import type { Handler } from '#desk/server/handler.ts';
import { firstMomentOf, momentAfter } from '#desk/people/selection.ts';
import { lookForLostLeads } from '#desk/report/lost-leads.ts';
import { createPlatformLookup } from '#server/stats/mail-platforms.ts';

const LOST_AT_ONCE = 50;
/** Time limit for looking up unknown domains; DNS answers are cached. */
const DNS_LIMIT_MS = 1_000;

export const lost: Handler<typeof lostCall> = async (
  { service, note, signal, dnsServers },
  { from, to, after },
) => {
  const { database, clock, config } = service;
  const { timeZone } = config;
  const now = clock();
  const span = { from: firstMomentOf(from, timeZone), to: momentAfter(to, timeZone) };
  const lookup = createPlatformLookup(database, { dnsServers, now, signal, limitMs: DNS_LIMIT_MS });
  const found = await lookForLostLeads(database, span, {
    now,
    from: after ?? null,
    most: LOST_AT_ONCE,
    forMs: LOOK_MS,
    platformsOf: lookup.platformsOf,
  });
  await note('looked', null, `list: lost leads, from ${from}, to ${to}`);
  return found;
};
