import type { mail as mailCall } from '#desk/endpoints/figures.ts';
import type { Handler } from '#desk/server/handler.ts';
import { refusedMail, waitingMail } from '#server/db/tables/outbox.ts';
import type { createWriteCheck } from '#server/db/health.ts';
import { DAY_MS, isoTime } from '#server/platform/time.ts';

const REFUSED_DAYS = 30;
const MOST_REFUSED = 200;
/** Replies differ by e-mail address and ID, so more groups are read than shown. */
const GROUPS_READ = 5_000;
const REPLY_LENGTH = 500;
const WORD = /<?[^\s<>"'(),;:]+>?/g;
/** Removes e-mail addresses in one pass, because a regular expression around the @ would backtrack on long words. */
const withoutAddresses = (words: string): string =>
  words.replaceAll(WORD, (word) => (/[^<]@[^>]/.test(word) ? '…' : word));

const OPERATOR = 'notices to you';

export const createMail =
  (findWriteFault: ReturnType<typeof createWriteCheck>): Handler<typeof mailCall> =>
  async ({ service }) => {
    const { database, clock } = service;
    const waiting = await waitingMail(database.db);
    const groups = await refusedMail(database.db, {
      since: clock() - REFUSED_DAYS * DAY_MS,
      most: GROUPS_READ,
    });
    const refused = new Map<string, { domain: string; reply: string; count: number; lastAt: number }>();
    for (const { reply: words, ...row } of groups) {
      const domain = row.domain || OPERATOR;
      const reply = withoutAddresses(words.slice(0, REPLY_LENGTH));
      const key = JSON.stringify([domain, reply]);
      const sum = refused.get(key) ?? { domain, reply, count: 0, lastAt: 0 };
      sum.count += row.count;
      sum.lastAt = Math.max(sum.lastAt, row.lastAt);
      refused.set(key, sum);
    }
    return {
      waiting: waiting.map(({ domain, count, putOff, oldestCreatedAt }) => ({
        domain: domain || OPERATOR,
        count,
        putOff,
        oldestAt: isoTime(oldestCreatedAt),
      })),
      refused: [...refused.values()]
        .toSorted((a, b) => b.lastAt - a.lastAt)
        .slice(0, MOST_REFUSED)
        .map(({ lastAt, ...sum }) => ({ ...sum, lastAt: isoTime(lastAt) })),
      isWritable: (await findWriteFault()) === null,
    };
  };
