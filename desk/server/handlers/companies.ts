import type { domains as domainsCall } from '#desk/endpoints/people.ts';
import { LOOK_MS } from '#desk/server/handlers/people.ts';
import type { Handler } from '#desk/server/handler.ts';
import { countDomains } from '#server/db/queries/report-figures.ts';

export const domains: Handler<typeof domainsCall> = async ({ service }, { after }) => {
  const { freeMailDomains } = service.campaign;
  const found = await countDomains(service.database.db, { from: after ?? null, forMs: LOOK_MS });
  return {
    domains: [...found.domains]
      .filter(([domain]) => !freeMailDomains.has(domain))
      .map(([domain, people]) => ({ domain, people }))
      .toSorted((a, b) => b.people - a.people || (a.domain < b.domain ? -1 : 1)),
    next: found.next,
  };
};
