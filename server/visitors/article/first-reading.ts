// Records when a lead was first given the article. A lead that is new with the answer that has the article is stored with it
// (server/visitors/leads/verify-code.ts); this is for every other.
import type { FastifyBaseLogger } from 'fastify';

import type { Db } from '#server/db/engine/connect.ts';
import { noteRead } from '#server/db/tables/leads.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';

/**
 * Notes that a lead is given the article, and queues the event of it, if it is the first time. Call it before the article is sent, for
 * a lead of whom that is not known already. A failure is logged and withholds nothing; the next reading is noted.
 */
export async function noteFirstReading(
  { database: { db }, webhooks, clock }: Pick<VisitorContext, 'database' | 'webhooks' | 'clock'>,
  leadId: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const now = clock();
  const note = async (tx: Db) => {
    if (await noteRead(tx, { id: leadId, now })) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  };
  try {
    // Alone, the one statement needs no transaction around it.
    if (webhooks.endpoints.length === 0) return await note(db);
    await db.transaction().execute(note);
    webhooks.wake();
  } catch (error) {
    log.warn({ err: error }, 'That an article was read could not be noted; the next reading is.');
  }
}
