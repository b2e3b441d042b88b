import { changeAndLog } from '#desk/audit-log/audit-log.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type * as endpoints from '#desk/endpoints/figures.ts';
import { counted } from '#desk/printable.ts';
import type { Handler } from '#desk/server/handler.ts';
import { shownEvents } from '#desk/webhooks/events.ts';
import type { SuppressionReason } from '#server/db/all-tables.ts';
import { idsOfContacts } from '#server/db/contacts/people.ts';
import type { createWriteCheck } from '#server/db/health.ts';
import { refusedMail, waitingMail } from '#server/db/tables/outbox.ts';
import { newestSuppressions } from '#server/db/tables/suppressions.ts';
import { reviveEvents } from '#server/db/tables/webhook-events.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';

const REFUSED_DAYS = 30;
const MAX_REFUSED = 200;
/** Replies differ by e-mail address and ID, so more groups are read than shown. */
const GROUPS_READ = 5_000;
const REPLY_LENGTH = 500;
const WORD = /<?[^\s<>"'(),;:]+>?/g;
/** Removes e-mail addresses in one pass, because a regular expression around the @ would backtrack on long words. */
const withoutAddresses = (text: string): string =>
  text.replaceAll(WORD, (word) => (/[^<]@[^>]/.test(word) ? '…' : word));

const OPERATOR = 'notices to you';

export const createMail =
  (findWriteFault: ReturnType<typeof createWriteCheck>): Handler<typeof endpoints.mail> =>
  async ({ service }) => {
    const { database, clock } = service;
    const waiting = await waitingMail(database.db);
    const groups = await refusedMail(database.db, {
      since: clock() - REFUSED_DAYS * DAY_MS,
      limit: GROUPS_READ,
    });
    const refused = new Map<string, { domain: string; reply: string; count: number; lastAt: number }>();
    for (const row of groups) {
      const domain = row.recipient_domain || OPERATOR;
      const reply = withoutAddresses((row.reply ?? '').slice(0, REPLY_LENGTH));
      const key = JSON.stringify([domain, reply]);
      const sum = refused.get(key) ?? { domain, reply, count: 0, lastAt: 0 };
      sum.count += row.count;
      sum.lastAt = Math.max(sum.lastAt, row.last_at);
      refused.set(key, sum);
    }
    return {
      waiting: waiting.map((row) => ({
        domain: row.recipient_domain || OPERATOR,
        count: row.count,
        putOff: row.put_off,
        oldestAt: isoTime(row.oldest),
      })),
      refused: [...refused.values()]
        .toSorted((a, b) => b.lastAt - a.lastAt)
        .slice(0, MAX_REFUSED)
        .map(({ lastAt, ...sum }) => ({ ...sum, lastAt: isoTime(lastAt) })),
      isWritable: (await findWriteFault()) === null,
    };
  };

const SUPPRESSIONS_AT_ONCE = 100;

export const suppressions: Handler<typeof endpoints.suppressions> = async ({ service, log }, { after }) => {
  const rows = await newestSuppressions(service.database.db, {
    after: after === undefined ? null : readCursor(after),
    limit: SUPPRESSIONS_AT_ONCE + 1,
  });
  const shown = rows.slice(0, SUPPRESSIONS_AT_ONCE);
  const ids = await idsOfContacts(
    service.database.db,
    shown.flatMap(({ email }) => email ?? []),
  );
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  await log('viewed', null, 'list: addresses that get no mail');
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

function readCursor(text: string) {
  const [, at, key, reason] = /^(\d{1,16}) ([\w-]{1,100}) ([a-z-]{1,20})$/.exec(text) ?? [];
  if (at === undefined || key === undefined || reason === undefined)
    throw new CommandFailure(
      'This position in the list does not exist. Reload the page to start at the top.',
      2,
    );
  return { created_at: Number(at), address_key: key, reason: reason as SuppressionReason };
}

export const webhooks: Handler<typeof endpoints.webhooks> = ({ service }) => shownEvents(service);

export const retryWebhooks: Handler<typeof endpoints.retryWebhooks> = ({ service, actor }, { ids }) =>
  changeAndLog(service, actor, async (tx, log) => {
    const { endpoints } = service.webhooks;
    const revived = ids?.length === 0 ? 0 : await reviveEvents(tx, { ids, endpoints, now: service.clock() });
    if (revived > 0) await log('retried-webhooks', null, counted(revived, 'event'));
    return { revived };
  });
