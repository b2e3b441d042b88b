// The link in the mail with the guide: opens it in a new session, on any device.
import type { FastifyInstance } from 'fastify';

import type { Cookies } from '#server/http/cookies.ts';
import { readGuideToken } from '#server/secrets/mail-links.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { leadExists } from '#server/db/tables/leads.ts';
import { sendDeadLink, wayHome, type LetterPage } from '#server/http/letter-page.ts';
import type { Resource } from '#server/http/send-resource.ts';
import { API } from '#shared/api.ts';
import type { Interface } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

/** The page of a link that has had its time. @param title of the product */
export const createGuideLinkEndedPage = (
  page: LetterPage,
  words: Interface['guideLink'],
  title: string,
): Resource =>
  page({
    tab: fill(words.pageTitle, { title }),
    title: words.title,
    text: words.text,
    way: wayHome(words.home),
  });

/** Where the page opens the guide at once (web/boot.ts). */
const GUIDE_PLACE = '/#guide';

/** Adds the route of the link. */
export function addGuideLinkRoute(
  app: FastifyInstance,
  {
    database,
    secrets,
    cookies,
    clock,
    ended,
  }: {
    readonly database: OpenDatabase;
    readonly secrets: Secrets;
    readonly cookies: Cookies;
    readonly clock: () => number;
    readonly ended: Resource;
  },
): void {
  app.get<{ Querystring: { t?: unknown } }>(API.guide, async (request, reply) => {
    const leadId = readGuideToken(secrets, request.query.t, clock());
    if (leadId === null || !(await leadExists(database.db, leadId)))
      return sendDeadLink(request, reply, ended);
    cookies.openSession(reply, leadId, clock());
    return reply
      .header('cache-control', 'no-store')
      .header('referrer-policy', 'no-referrer')
      .redirect(GUIDE_PLACE, 303);
  });
}
