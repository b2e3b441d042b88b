import type { suppressions as suppressionsCall } from '#desk/endpoints/figures.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Handler } from '#desk/server/handler.ts';
import { idsOfPeople } from '#server/db/contacts/people.ts';
import type { SuppressionReason } from '#server/db/all-tables.ts';
import { newestSuppressions } from '#server/db/tables/suppressions.ts';
import { isoTime } from '#server/platform/time.ts';

const SUPPRESSIONS_AT_ONCE = 100;

export const suppressions: Handler<typeof suppressionsCall> = async ({ service, note }, { after }) => {
  const rows = await newestSuppressions(service.database.db, {
    after: after === undefined ? null : readPlace(after),
    most: SUPPRESSIONS_AT_ONCE + 1,
  });
  const shown = rows.slice(0, SUPPRESSIONS_AT_ONCE);
  const ids = await idsOfPeople(
    service.database.db,
    shown.flatMap(({ email }) => email ?? []),
  );
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  await note('looked', null, 'list: addresses that get no mail');
  return {
    suppressions: shown.map(({ email, reason, created_at: at, note: words }) => ({
      id: (email !== null && ids.get(email)) || null,
      email,
      reason,
      since: isoTime(at),
      note: words,
    })),
    next: last === undefined ? null : `${last.created_at} ${last.address_key} ${last.reason}`,
  };
};

function readPlace(text: string) {
  const [, at, key, reason] = /^(\d{1,16}) ([\w-]{1,100}) ([a-z-]{1,20})$/.exec(text) ?? [];
  if (at === undefined || key === undefined || reason === undefined)
    throw new CommandFailure(
      'This position in the list does not exist. Reload the page to start at the top.',
      2,
    );
  return { created_at: Number(at), address_key: key, reason: reason as SuppressionReason };
}
