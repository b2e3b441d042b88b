// The gated article. It is in no public file: this answer, to a verified visitor, and the one to the right code
// (server/visitors/leads/routes.ts) are the only ways to its text.
import type { FastifyInstance } from 'fastify';

import type { Cookies } from '#server/http/cookies.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { leadExists } from '#server/db/tables/leads.ts';
import type { SendError } from '#server/http/errors.ts';
import { JSON_TYPE, sendWhole, textResource } from '#server/http/send-resource.ts';
import { queueFirstRead, type WebhookParts } from '#server/webhooks/webhook-events.ts';
import { API, type Article } from '#shared/api.ts';

type ArticleParts = {
  readonly database: OpenDatabase;
  readonly webhooks: WebhookParts;
  readonly cookies: Cookies;
  readonly clock: () => number;
  readonly article: Article;
  readonly sendError: SendError;
};

/** Adds the route of the article feature. */
export function addArticleRoutes(app: FastifyInstance, parts: ArticleParts): void {
  const { database, cookies, clock, article, sendError } = parts;
  const resource = textResource(JSON.stringify(article), {
    type: JSON_TYPE,
    cacheControl: 'private, no-store',
    always: [],
  });
  app.get(API.article, async (request, reply) => {
    const leadId = cookies.readSession(request, clock());
    // An erased lead has no access any more, whatever its cookie says.
    if (leadId === null || !(await leadExists(database.db, leadId))) return sendError(reply, 'no-session');
    await queueFirstRead(parts, leadId, request.log);
    return sendWhole(request, reply, resource);
  });
}
