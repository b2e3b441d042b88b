// Opening the link changes nothing, because mail scanners open all links. Only the button on the page or in a mail program (RFC
// 8058) unsubscribes.
import type { FastifyInstance } from 'fastify';

import { withdrawConsent } from '#server/consent/withdraw.ts';
import { sendInvalidLinkPage, homeLink } from '#server/http/letter-page.ts';
import { sendWhole } from '#server/http/send-resource.ts';
import { dropRequest } from '#server/http/visitor-address.ts';
import type { VisitorHttp, VisitorService } from '#server/leads/visitor-service.ts';
import { escapeHtml } from '#server/platform/text.ts';
import { readUnsubscribeToken } from '#server/secrets/mail-links.ts';
import { API } from '#shared/api.ts';
import { fill } from '#shared/words.ts';

const BODY_LIMIT_BYTES = 4_096;
const USER_AGENT_MAX_LENGTH = 500;

/** RFC 8058, section 3.1. */
const ONE_CLICK = { name: 'List-Unsubscribe', value: 'One-Click' } as const;

/** Sent by the button on our page. */
const PAGE_FIELD = 'page';

export async function addUnsubscribeRoutes(
  app: FastifyInstance,
  service: VisitorService,
  { letterPage, visitorAddress }: VisitorHttp,
): Promise<void> {
  const { config, campaign, secrets, clock } = service;
  const words = campaign.interface.unsubscribe;
  const documentTitle = fill(words.pageTitle, { title: campaign.site.title });
  const home = homeLink(words.home, config.basePath);
  const form = `<form method="post"><input type="hidden" name="${ONE_CLICK.name}" value="${ONE_CLICK.value}"><input type="hidden" name="${PAGE_FIELD}" value="1"><button>${escapeHtml(words.button)}</button></form>`;
  const confirmPage = letterPage({ documentTitle, title: words.title, text: words.text, action: form });
  const donePage = letterPage({
    documentTitle,
    title: words.doneTitle,
    text: words.doneText,
    action: home,
    closed: true,
  });
  const unknownPage = letterPage({
    documentTitle,
    title: words.unknownTitle,
    text: words.unknownText,
    action: home,
  });

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // Some programs change the body or type that RFC 8058 prescribes. The signed link is enough.
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
    // Fastify would refuse a malformed type.
    scope.addHook('onRequest', async ({ raw }) => {
      delete raw.headers['content-type'];
    });

    scope.get<{ Querystring: { t?: unknown } }>(API.unsubscribe, async (request, reply) => {
      const isValid = readUnsubscribeToken(secrets, request.query.t) !== null;
      return isValid
        ? sendWhole(request, reply, confirmPage)
        : sendInvalidLinkPage(request, reply, unknownPage);
    });

    scope.post<{ Querystring: { t?: unknown } }>(
      API.unsubscribe,
      { bodyLimit: BODY_LIMIT_BYTES },
      async (request, reply) => {
        const clientAddress = visitorAddress(request);
        if (clientAddress === null) return dropRequest(reply);
        const leadId = readUnsubscribeToken(secrets, request.query.t);
        if (leadId === null) return sendInvalidLinkPage(request, reply, unknownPage);
        const isFromPage =
          typeof request.body === 'string' && new URLSearchParams(request.body).has(PAGE_FIELD);
        await withdrawConsent(service, {
          leadId,
          way: isFromPage ? 'page' : 'one-click',
          clientAddress,
          userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
          now: clock(),
        });
        return sendWhole(request, reply, donePage);
      },
    );
  });
}
