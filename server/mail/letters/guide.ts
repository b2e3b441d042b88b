// The mail that brings the guide after the code: a link that opens it on any device, or the guide itself as a file. It is the
// first mail that somebody agreed to receive, so it carries the way out.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import * as z from 'zod/mini';

import { DAY_MS } from '#server/platform/time.ts';
import { GUIDE_LINK_DAYS, guideUrl, unsubscribeUrl } from '#server/secrets/mail-links.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { leadExists } from '#server/db/tables/leads.ts';
import { laneOf, queueMessage } from '#server/db/tables/outbox.ts';
import { composeGuideEmail } from '#server/mail/letters/guide-email.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';

/** A guide that comes days later would be a surprise. */
const WELCOME_FOR_MS = DAY_MS;

/** Codes that are asked for within this time go first: somebody waits for each of them. */
const GIVES_WAY_MS = 10 * 60_000;

const Payload = z.object({ leadId: z.string() });

/** Queues the guide for somebody who entered their code a moment ago. */
export async function queueGuideMail(
  tx: Db,
  { id, leadId, recipient, now }: { id: string; leadId: string; recipient: string; now: number },
): Promise<void> {
  // All of them are one lane, whoever asked: they hold up each other, and nobody's code.
  const place = { ...laneOf('', recipient), turnAt: now + GIVES_WAY_MS };
  await queueMessage(tx, { id, recipient, place, now, kind: 'guide', payload: { leadId } });
}

export const guideKind: Kind = {
  mayWaitMs: () => WELCOME_FOR_MS,
  respectsSuppression: true,

  compose: async ({ db, secrets, publicUrl, guide, title, language }, row, now) => {
    const { leadId } = Payload.parse(JSON.parse(row.payload));
    // The operator may have turned it off meanwhile.
    if (guide === null || !(await leadExists(db, leadId))) return null;
    const { words, attachment } = guide;
    const unsubscribe = unsubscribeUrl(secrets, publicUrl, leadId);
    const link = attachment === null ? guideUrl(secrets, publicUrl, leadId, now) : null;
    const host = new URL(publicUrl).hostname;
    return {
      way: 'mail',
      mail: {
        id: row.id,
        to: row.recipient,
        ...composeGuideEmail(words, { title, language, host, link, days: GUIDE_LINK_DAYS, unsubscribe }),
        list: { name: title, host, unsubscribe },
        ...(attachment !== null && {
          attachment: { filename: path.basename(attachment), content: await readFile(attachment) },
        }),
      },
    };
  },
};
