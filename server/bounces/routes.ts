// A call must prove its origin, and gets a successful response only after its reports are stored. The same call may arrive twice.
import type { FastifyInstance } from 'fastify';

import type { Config } from '#server/settings/settings.ts';
import type { Http } from '#server/http/http.ts';
import { providersOf, type Provider } from '#server/bounces/providers.ts';
import type { Fetch } from '#server/bounces/sns.ts';
import { acceptReport, acceptReportsOnce } from '#server/bounces/accept-report.ts';
import type { WithdrawalParts } from '#server/consent/withdraw.ts';
import { asciiAddress } from '#shared/lead.ts';

type MailEventParts = WithdrawalParts & {
  readonly config: Config['mailEvents'];
  readonly clock: () => number;
  readonly fetch: Fetch;
  readonly sendError: Http['sendError'];
};

/** Amazon SNS sends JSON as plain text. */
const BODY_TYPES = ['application/json', 'text/plain'];
const RETRY_AFTER_SECONDS = 60;

export async function addMailEventRoutes(
  app: FastifyInstance,
  { config, clock, fetch: httpFetch, sendError, ...parts }: MailEventParts,
): Promise<readonly string[]> {
  const providers = providersOf(config, httpFetch);
  const urlOf = ({ name }: Provider) => `/api/mail-events/${name}`;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(BODY_TYPES, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    for (const provider of providers)
      scope.post(urlOf(provider), { bodyLimit: provider.bodyLimitBytes }, async (request, reply) => {
        const { body, headers } = request;
        if (!Buffer.isBuffer(body)) return sendError(reply, 'malformed-body');
        const now = clock();
        const verdict = await provider.read({ body, headers, now });
        switch (verdict.type) {
          case 'not proven':
            return sendError(reply, 'wrong-signature');
          case 'unreadable':
            return sendError(reply, 'malformed-body');
          case 'later':
            return sendError(reply, 'unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
          case 'reports': {
            const { once } = verdict;
            const reports = verdict.reports.filter(({ email }) => asciiAddress(email.trim()) !== null);
            const unread = (verdict.unread ?? 0) + verdict.reports.length - reports.length;
            // Without a key, one after the other, because one transaction for a batch of thousands would block the database.
            const outcomes =
              once === undefined
                ? await Array.fromAsync(reports, (report) => acceptReport(parts, report, now))
                : await acceptReportsOnce(parts, { reports, once }, now);
            if (outcomes === null) return sendError(reply, 'wrong-signature');
            const suppressed = outcomes.filter((outcome) => outcome === 'suppressed').length;
            const { name } = provider;
            request.log.info(
              { provider: name, reports: reports.length, suppressed },
              'A mail provider reported bounces or complaints.',
            );
            if (unread > 0)
              request.log.warn(
                { provider: name, unread },
                'Bounces or complaints from a mail provider could not be read, because their format differs from the documented one. Check for an update of this software.',
              );
            // Postmark and Mailgun accept only 200 as success.
            return reply.code(200).send();
          }
        }
      });
  });
  return providers.map(urlOf);
}
