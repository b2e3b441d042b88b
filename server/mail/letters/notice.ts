// A notice to the operator: plain words, in both parts.
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import { queueMessage } from '#server/db/tables/outbox.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';
import { letterHtml, paragraph } from '#server/mail/letters/letter.ts';
import { HOUR_MS } from '#server/platform/time.ts';

/** What an operator is told later than this is no news. */
const NEWS_FOR_MS = HOUR_MS;

const Payload = z.object({ subject: z.string(), text: z.string() });

/** Queues a notice to the operator. */
export async function queueNotice(
  db: Db,
  mail: { id: string; recipient: string; subject: string; text: string; now: number },
): Promise<void> {
  const { id, recipient, subject, text, now } = mail;
  await queueMessage(db, { id, recipient, now, kind: 'notice', payload: { subject, text } });
}

export const noticeKind: Kind = {
  mayWaitMs: () => NEWS_FOR_MS,
  respectsSuppression: false,

  compose: async ({ language }, row) => {
    const { subject, text } = Payload.parse(JSON.parse(row.payload));
    return {
      way: 'mail',
      mail: {
        id: row.id,
        to: row.recipient,
        subject,
        text: `${text}\n`,
        html: letterHtml({ title: subject, language, body: [paragraph(text)] }),
      },
    };
  },
};
