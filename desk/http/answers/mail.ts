// Mail that waits or was refused, addresses that get none, and events for other programs.
import type {
  mail as mailCall,
  retryWebhooks as retryWebhooksCall,
  suppressions as suppressionsCall,
  webhooks as webhooksCall,
} from '#desk/calls/figures.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Handler } from '#desk/http/handler.ts';
import { shownEvents, tryAgain } from '#desk/webhooks/events.ts';
import { idsOfPeople } from '#server/db/people/one-person.ts';
import type { SuppressionReason } from '#server/db/schema.ts';
import { refusedMail, waitingMail } from '#server/db/tables/outbox-waiting.ts';
import { newestSuppressions } from '#server/db/tables/suppressions.ts';
import type { createWriteCheck } from '#server/db/whole/database-health.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';

const REFUSED_DAYS = 30;
const MOST_REFUSED = 200;
/** Mail servers put the address and a number of their own into their replies. */
const GROUPS_READ = 5_000;
const ADDRESS = /<?[^\s<>"'(),;:]+@[^\s<>"'(),;:]+>?/g;

/** In place of the domain of a notice to the operator. */
const OPERATOR = 'notices to you';

export const createMail =
  (findWriteFault: ReturnType<typeof createWriteCheck>): Handler<typeof mailCall> =>
  async ({ service }) => {
    const { database, clock } = service;
    const waiting = new Map<string, { count: number; oldestAt: number; putOff: number }>();
    for (const row of await waitingMail(database.db)) {
      const domain = row.domain || OPERATOR;
      const sum = waiting.get(domain) ?? { count: 0, oldestAt: Infinity, putOff: 0 };
      sum.count += row.count;
      sum.putOff += row.putOff;
      sum.oldestAt = Math.min(sum.oldestAt, row.oldestCreatedAt);
      waiting.set(domain, sum);
    }
    const groups = await refusedMail(database.db, {
      since: clock() - REFUSED_DAYS * DAY_MS,
      most: GROUPS_READ,
    });
    const refused = new Map<string, { domain: string; reply: string; count: number; lastAt: number }>();
    for (const { reply: words, ...row } of groups) {
      const domain = row.domain || OPERATOR;
      const reply = words.replaceAll(ADDRESS, '…');
      const key = JSON.stringify([domain, reply]);
      const sum = refused.get(key) ?? { domain, reply, count: 0, lastAt: 0 };
      sum.count += row.count;
      sum.lastAt = Math.max(sum.lastAt, row.lastAt);
      refused.set(key, sum);
    }
    return {
      waiting: [...waiting]
        .toSorted(([, a], [, b]) => a.oldestAt - b.oldestAt)
        .map(([domain, { oldestAt, ...sum }]) => ({ domain, ...sum, oldestAt: isoTime(oldestAt) })),
      refused: [...refused.values()]
        .toSorted((a, b) => b.lastAt - a.lastAt)
        .slice(0, MOST_REFUSED)
        .map(({ lastAt, ...sum }) => ({ ...sum, lastAt: isoTime(lastAt) })),
      isWritable: (await findWriteFault()) === null,
    };
  };

const SUPPRESSIONS_AT_ONCE = 100;

export const suppressions: Handler<typeof suppressionsCall> = async ({ service }, { after }) => {
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
  return {
    suppressions: shown.map(({ email, reason, created_at: at, note }) => ({
      id: (email !== null && ids.get(email)) || null,
      email,
      reason,
      since: isoTime(at),
      note,
    })),
    next: last === undefined ? null : `${last.created_at} ${last.address_key} ${last.reason}`,
  };
};

/** @throws {CommandFailure} when it is no `next` of ours */
function readPlace(text: string) {
  const [, at, key, reason] = /^(\d{1,16}) ([\w-]{1,100}) ([a-z-]{1,20})$/.exec(text) ?? [];
  if (at === undefined || key === undefined || reason === undefined)
    throw new CommandFailure('This part of the list is not known. Begin at its top.', 2);
  return { created_at: Number(at), address_key: key, reason: reason as SuppressionReason };
}

export const webhooks: Handler<typeof webhooksCall> = async ({ service }) => {
  const { events, ...counts } = await shownEvents(service);
  return {
    ...counts,
    events: events.map(({ id, type, state, attempts, created_at, due_at, to, answer }) => ({
      id,
      type,
      state: state === 'dead' ? 'dead' : 'queued',
      attempts,
      madeAt: created_at,
      nextTryAt: due_at,
      to,
      answer,
    })),
  };
};

export const retryWebhooks: Handler<typeof retryWebhooksCall> = async ({ service, note }, { ids }) => {
  const revived = ids?.length === 0 ? 0 : await tryAgain(service, ids);
  if (revived > 0) await note('retried-webhooks', null, revived === 1 ? '1 event' : `${revived} events`);
  return { revived };
};
