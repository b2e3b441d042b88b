import type { leadCount as leadCountCall, people as peopleCall } from '#desk/endpoints/people.ts';
import type { Handler } from '#desk/server/handler.ts';
import { originFilter } from '#desk/export/write-leads.ts';
import { describeFilter, selectionOf, shownPerson } from '#desk/people/selection.ts';
import { countAtMost, countVerified, lookForPeople } from '#server/db/contacts/people.ts';
import { isoTime } from '#server/platform/time.ts';

/** Time limit of a search; its last slice may exceed it slightly. */
export const LOOK_MS = 150;
const PEOPLE_AT_ONCE = 50;

export const people: Handler<typeof peopleCall> = async ({ service, note }, { after, ...filter }) => {
  const { state, source, campaign, ...selection } = selectionOf(filter, service.config);
  const { attributionHolds, isFromThere } = originFilter({ state, source, campaign });
  const {
    people: found,
    next,
    lookedBackTo,
  } = await lookForPeople(
    service.database.db,
    state,
    { ...selection, attributionHolds },
    {
      from: after ?? null,
      isWanted: isFromThere,
      most: PEOPLE_AT_ONCE,
      forMs: LOOK_MS,
    },
  );
  await note('looked', null, `list: ${describeFilter(filter)}`);
  return {
    people: found.map(shownPerson),
    next,
    lookedBackTo: lookedBackTo === null ? null : isoTime(lookedBackTo),
  };
};

export const leadCount: Handler<typeof leadCountCall> = async ({ service }, period) => {
  const { state, ...selection } = selectionOf({ state: 'verified', ...period }, service.config);
  const { db } = service.database;
  return { atMost: await countAtMost(db, state, selection), verified: await countVerified(db, selection) };
};
