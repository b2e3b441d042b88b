// The gated article. It is in no public file: this answer, to a verified visitor, and the one to the right code
// (server/visitors/leads/routes.ts) are the only ways to its text.
import type { FastifyInstance } from 'fastify';

import { findReader } from '#server/db/tables/leads.ts';
import { JSON_TYPE, sendWhole, textResource } from '#server/http/send-resource.ts';
import { noteFirstReading } from '#server/visitors/article/first-reading.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';

/** Adds the route of the article feature. */
export function addArticleRoutes(app: FastifyInstance, context: VisitorContext): void {
  const { campaign, database, cookies, clock, sendError } = context;
  const resource = textResource(JSON.stringify(campaign.article), {
    type: JSON_TYPE,
    cacheControl: 'private, no-store',
    always: [],
  });
  app.get(API.article, async (request, reply) => {
    const leadId = cookies.readSession(request, clock());
    const reader = leadId === null ? undefined : await findReader(database.db, leadId);
    // An erased lead has no access any more, whatever its cookie says.
    if (reader === undefined) return sendError(reply, 'no-session');
    // Security gateways open links in a real browser. The page says with HEAD that such a reader has scrolled.
    const asksAsReader = request.method === (cookies.cameByLink(request) ? 'HEAD' : 'GET');
    if (reader.first_read_at === null && asksAsReader)
      await noteFirstReading(context, reader.id, request.log);
    return sendWhole(request, reply, resource);
  });
}
