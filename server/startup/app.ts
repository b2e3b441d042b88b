import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import { createHttp, type HttpOptions } from '#server/http/http.ts';
import { addMailEventRoutes } from '#server/bounces/routes.ts';
import { addVisitorRoutes } from '#server/leads/routes.ts';
import type { VisitorService } from '#server/leads/visitor-service.ts';

export type AppOptions = HttpOptions & {
  /** Replaces requests to Amazon SNS in tests. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
};

export async function buildApp(
  service: VisitorService & { readonly logger: Logger },
  options: AppOptions,
): Promise<FastifyInstance> {
  const { app, complete, ...http } = await createHttp(service, options);
  const { article } = service.campaign;
  const html = article.html.replaceAll('="/media/', `="${service.config.basePath}/media/`);
  const campaign = { ...service.campaign, article: { ...article, html } };
  await addVisitorRoutes(app, { ...service, campaign }, http);
  const mailEventUrls = await addMailEventRoutes(app, {
    ...service,
    ...http,
    config: service.config.mailEvents,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  });
  complete(mailEventUrls);
  return app;
}
