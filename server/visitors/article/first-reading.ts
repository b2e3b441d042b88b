// Records when a lead was first given the article. A lead that is new with the answer that has the article is stored with it
// (server/visitors/leads/verify-code.ts); this is for every other.
import { setTimeout } from 'node:timers/promises';

import type { FastifyBaseLogger } from 'fastify';

import type { Db } from '#server/db/engine/connect.ts';
import { noteRead } from '#server/db/tables/leads.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';

/** The article waits no longer for the note: a database that another process has locked is still read. Milliseconds. */
const NOTED_WITHIN_MS = 100;

/**
 * Notes that a lead is given the article, and queues the event of it, if it is the first time. Call it before the article is sent, for
 * a lead of whom that is not known already. A failure is logged and withholds nothing; the next reading is noted.
 * @returns when it is noted, or takes too long and goes on behind the answer
 */
export async function noteFirstReading(...[context, leadId, log]: Parameters<typeof note>): Promise<void> {
  await Promise.race([note(context, leadId, log), setTimeout(NOTED_WITHIN_MS, undefined, { ref: false })]);
}

async function note(
  { database: { db }, webhooks, clock }: Pick<VisitorContext, 'database' | 'webhooks' | 'clock'>,
  leadId: string,
  log: Pick<FastifyBaseLogger, 'warn'>,
): Promise<void> {
  const now = clock();
  const noteIn = async (tx: Db) => {
    if (await noteRead(tx, { id: leadId, now })) await webhooks.queue(tx, { type: 'lead.read', leadId, now });
  };
  try {
    // Alone, the one statement needs no transaction around it.
    if (webhooks.endpoints.length === 0) return await noteIn(db);
    await db.transaction().execute(noteIn);
    webhooks.wake();
  } catch (error) {
    log.warn({ err: error }, 'That an article was read could not be noted; the next reading is.');
  }
}
