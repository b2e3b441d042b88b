import type { choices as choicesCall } from '#desk/endpoints/people.ts';
import { FORMAT_NAMES, FORMATS, FORMATS_WITH_STATE } from '#desk/export/export-columns.ts';
import type { Answer } from '#desk/endpoints/endpoint.ts';
import { createCache } from '#desk/server/handlers/cache.ts';
import { LOOK_MS } from '#desk/server/handlers/people.ts';
import type { Handler } from '#desk/server/handler.ts';
import { campaignOf, readAttribution, shownSource, sourceOf } from '#server/attribution/attribution.ts';
import { newestAttributions } from '#server/db/queries/report-figures.ts';
import { MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { DOMAIN_FLAGS } from '#server/leads/email-domain.ts';

const MOST_NAMES = 100;

type Origins = { readonly sources: readonly string[]; readonly campaigns: readonly string[] };
export type FindOrigins = (service: Pick<Service, 'database'>) => Promise<Origins>;

export function createFindOrigins({ clock }: Pick<Service, 'clock'>): FindOrigins {
  const cache = createCache<Origins>({ maxAgeMs: MINUTE_MS, most: 1, clock });
  return ({ database }) =>
    cache.get('', async () => {
      const sources = new Map<string, number>();
      const campaigns = new Map<string, number>();
      for await (const groups of newestAttributions(database.db, LOOK_MS / 2))
        for (const { attribution, people } of groups) {
          const touches = readAttribution(attribution);
          addName(sources, sourceOf(touches), people);
          addName(campaigns, campaignOf(touches), people);
        }
      return { sources: largest(sources), campaigns: largest(campaigns) };
    });
}

/** Adds only names that the report shows, because links can contain e-mail addresses and others may see the screen. */
function addName(counts: Map<string, number>, name: string | undefined, people: number): void {
  if (name !== undefined && shownSource(name) === name) counts.set(name, (counts.get(name) ?? 0) + people);
}

const largest = (counts: ReadonlyMap<string, number>): readonly string[] =>
  [...counts]
    .toSorted(([a, first], [b, second]) => second - first || (a < b ? -1 : 1))
    .slice(0, MOST_NAMES)
    .map(([name]) => name);

const FORMAT_CHOICES: Answer<typeof choicesCall>['formats'] = FORMAT_NAMES.map((name) => ({
  name,
  title: FORMATS[name].title,
  about: FORMATS[name].about,
  takesEveryState: FORMATS_WITH_STATE.includes(name),
}));

export const createChoices =
  (findOrigins: FindOrigins): Handler<typeof choicesCall> =>
  async ({ service }) => ({
    ...(await findOrigins(service)),
    flags: DOMAIN_FLAGS,
    formats: FORMAT_CHOICES,
  });
