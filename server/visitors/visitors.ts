// Every call that a visitor can make.
import type { FastifyInstance } from 'fastify';

import { addGuideLinkRoute } from '#server/visitors/article/guide-link.ts';
import { addGuideFileRoute } from '#server/visitors/article/guide-file.ts';
import { addArticleRoutes } from '#server/visitors/article/routes.ts';
import { addFunnelRoute } from '#server/visitors/funnel/routes.ts';
import { addLeadRoutes } from '#server/visitors/leads/routes.ts';
import { addUnsubscribeRoutes } from '#server/visitors/unsubscribe/routes.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';

/** Adds the routes of visitors. */
export async function addVisitorRoutes(app: FastifyInstance, context: VisitorContext): Promise<void> {
  addLeadRoutes(app, context);
  addArticleRoutes(app, context);
  addGuideLinkRoute(app, context);
  addGuideFileRoute(app, context);
  await addUnsubscribeRoutes(app, context);
  addFunnelRoute(app, context);
}
