// What every call of a visitor works with.
import type { Campaign } from '#server/campaign/campaign.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { Cookies } from '#server/http/cookies.ts';
import type { SendError } from '#server/http/errors.ts';
import type { LetterPage } from '#server/http/letter-page.ts';
import type { VisitorAddress } from '#server/http/visitor-address.ts';
import type { Breaker } from '#server/limits/breaker.ts';
import type { Limits } from '#server/limits/limits.ts';
import type { MailBacklog } from '#server/mail/outbox/backlog.ts';
import type { MailWorker } from '#server/mail/outbox/mail-worker.ts';
import type { Metrics } from '#server/observability/metrics.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { FunnelCounter } from '#server/visitors/funnel/counter.ts';
import type { WebhookParts } from '#server/webhooks/webhook-events.ts';

/** The slice of the service (server/run/service.ts, which explains each field) that visitors' calls need. */
export type VisitorService = {
  readonly config: Config;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly breaker: Breaker;
  readonly funnel: FunnelCounter;
  readonly webhooks: WebhookParts;
  readonly metrics: Metrics;
  readonly clock: () => number;
  readonly wakeWorker: () => void;
  readonly reserveDelivery: MailWorker['reserve'];
};

/** That slice, and what server/run/app.ts makes once for all routes. */
export type VisitorContext = VisitorService & {
  readonly mailBacklog: MailBacklog;
  readonly cookies: Cookies;
  readonly visitorAddress: VisitorAddress;
  readonly letterPage: LetterPage;
  readonly sendError: SendError;
};
