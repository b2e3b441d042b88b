// Taking the consent back. Opening the link does nothing: mail scanners open all of them. Pressing the button on its page does it,
// and so does the button of a mail program, which posts the same without opening the page (RFC 8058).
import type { FastifyInstance } from 'fastify';

import { readUnsubscribeToken } from '#server/secrets/mail-links.ts';
import { sendDeadLink } from '#server/http/letter-page.ts';
import { sendWhole } from '#server/http/send-resource.ts';
import { dropRequest } from '#server/visitors/drop-request.ts';
import { createUnsubscribePages, FROM_PAGE, ONE_CLICK } from '#server/visitors/unsubscribe/page.ts';
import { withdrawConsent } from '#server/visitors/unsubscribe/withdraw.ts';
import type { VisitorContext } from '#server/visitors/visitor-context.ts';
import { API } from '#shared/api.ts';

/** What a form may send it as (RFC 8058, section 3.2). */
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];
const BODY_LIMIT_BYTES = 4_096;
const USER_AGENT_MAX_LENGTH = 500;

/** Adds the routes of an unsubscribe link. No answer shows whose link it is, or whether the lead exists. */
export async function addUnsubscribeRoutes(app: FastifyInstance, context: VisitorContext): Promise<void> {
  const { secrets, clock, visitorAddress, sendError } = context;
  const pages = createUnsubscribePages(context);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FORM_TYPES, { parseAs: 'string' }, (_request, body, done) => done(null, body));

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
        const form = readForm(request.headers['content-type'], request.body);
        if (!form.isOneClick) return sendError(reply, 'invalid-input');
        await withdrawConsent(context, {
          leadId,
          way: form.isPage ? 'page' : 'one-click',
          clientAddress,
          userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX_LENGTH) ?? null,
          now: clock(),
        });
        return sendWhole(request, reply, pages.done);
      },
    );
  });
}

/** The two fields that such a form can have. */
type Form = { readonly isOneClick: boolean; readonly isPage: boolean };

/** In a multipart body: the one field, with its value. */
const IN_PARTS = new RegExp(
  `name="?${ONE_CLICK.name}"?[^\\n]*\\r?\\n(?:[^\\r\\n]+\\r?\\n)*\\r?\\n${ONE_CLICK.value}\\r?\\n`,
  'i',
);

/** Reads a form in either of the two ways to send it. Node's own reader of multipart would cost the server 20 MB. */
function readForm(type: string | undefined, body: unknown): Form {
  if (typeof body !== 'string') return { isOneClick: false, isPage: false };
  if (type?.toLowerCase().startsWith('multipart/')) return { isOneClick: IN_PARTS.test(body), isPage: false };
  const fields = new URLSearchParams(body);
  return { isOneClick: fields.get(ONE_CLICK.name) === ONE_CLICK.value, isPage: fields.has(FROM_PAGE) };
}
