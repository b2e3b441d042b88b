// The link in the mail with the guide: opens it in a new session, on any device.
import type { FastifyInstance } from 'fastify';

import { readGuideToken } from '#server/secrets/mail-links.ts';
import { leadExists } from '#server/db/tables/leads.ts';
import { sendDeadLink, wayHome } from '#server/http/letter-page.ts';
import type { Resource } from '#server/http/send-resource.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';
import { fill } from '#shared/words.ts';

/** Where the page opens the guide at once (web/boot.ts). */
const GUIDE_PLACE = '/#guide';

/** Adds the route of the link. */
export function addGuideLinkRoute(app: FastifyInstance, context: VisitorContext): void {
  const { config, database, secrets, cookies, clock } = context;
  const ended = endedPage(context);
  app.get<{ Querystring: { t?: unknown } }>(API.guide, async (request, reply) => {
    const leadId = readGuideToken(secrets, request.query.t, clock());
    if (leadId === null || !(await leadExists(database.db, leadId)))
      return sendDeadLink(request, reply, ended);
    const isOwn = cookies.readSession(request, clock()) === leadId && !cookies.cameByLink(request);
    cookies.openSession(reply, leadId, clock(), isOwn ? 'code' : 'link');
    return reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(config.basePath + GUIDE_PLACE, 303);
  });
}

/** The page of a link that has had its time. */
function endedPage({ config, campaign, letterPage }: VisitorContext): Resource {
  const words = campaign.interface.guideLink;
  return letterPage({
    tab: fill(words.pageTitle, { title: campaign.site.title }),
    title: words.title,
    text: words.text,
    way: wayHome(words.home, config.basePath),
  });
}
