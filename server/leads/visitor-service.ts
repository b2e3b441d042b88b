import type { Campaign } from '#server/campaign/campaign.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { FunnelCounter } from '#server/funnel/funnel.ts';
import type { Http } from '#server/http/http.ts';
import type { Limits } from '#server/limits/limits.ts';
import type { OpenMail } from '#server/mail/mail.ts';
import type { Metrics } from '#server/log/metrics.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Webhooks } from '#server/webhooks/webhooks.ts';

export type VisitorService = {
  readonly config: Config;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly funnel: FunnelCounter;
  readonly mail: Pick<OpenMail, 'sender' | 'wake'>;
  readonly webhooks: Pick<Webhooks, 'endpoints' | 'queue' | 'wake'>;
  readonly metrics: Metrics;
  readonly clock: () => number;
};

export type VisitorHttp = Pick<Http, 'cookies' | 'visitorAddress' | 'letterPage' | 'sendError'>;
