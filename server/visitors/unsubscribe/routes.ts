// Taking the consent back. Opening the link does nothing: mail scanners open all of them. Pressing the button on its page does it,
// and so does the button of a mail program, which posts the same without opening the page (RFC 8058).
import type { FastifyInstance } from 'fastify';

import { readUnsubscribeToken } from '#server/secrets/mail-links.ts';
import { sendDeadLink } from '#server/http/letter-page.ts';
import { sendWhole } from '#server/http/send-resource.ts';
import { dropRequest } from '#server/visitors/drop-request.ts';
import { createUnsubscribePages, FROM_PAGE } from '#server/visitors/unsubscribe/page.ts';
import { withdrawConsent } from '#server/consent/withdraw.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';

const BODY_LIMIT_BYTES = 4_096;
const USER_AGENT_MAX_LENGTH = 500;

/** Adds the routes of an unsubscribe link. No answer shows whose link it is, or whether the lead exists. */
export async function addUnsubscribeRoutes(app: FastifyInstance, context: VisitorContext): Promise<void> {
  const { secrets, clock, visitorAddress } = context;
  const pages = createUnsubscribePages(context);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Any body counts (RFC 8058 asks for one): some programs change it or its type, and the link is signed.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

    scope.get<{ Querystring: { t?: unknown } }>(API.unsubscribe, async (request, reply) => {
      const isOurs = readUnsubscribeToken(secrets, request.query.t) !== null;
      return isOurs ? sendWhole(request, reply, pages.ask) : sendDeadLink(request, reply, pages.unknown);
    });

    scope.post<{ Querystring: { t?: unknown } }>(
      API.unsubscribe,
      { bodyLimit: BODY_LIMIT_BYTES },
      async (request, reply) => {
        const clientAddress = visitorAddress(request);
        if (clientAddress === null) return dropRequest(reply);
        const leadId = readUnsubscribeToken(secrets, request.query.t);
        if (leadId === null) return sendDeadLink(request, reply, pages.unknown);
        const isPage = typeof request.body === 'string' && new URLSearchParams(request.body).has(FROM_PAGE);
        await withdrawConsent(context, {
          leadId,
          way: isPage ? 'page' : 'one-click',
          clientAddress,
          userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
          now: clock(),
        });
        return sendWhole(request, reply, pages.done);
      },
    );
  });
}
