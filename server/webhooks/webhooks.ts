import type { Logger } from 'pino';
import { v7 as uuid } from 'uuid';

import type { Campaign } from '#server/campaign/campaign.ts';
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { JobWorker } from '#server/jobs/worker.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import { derivedWebhookSecrets, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import {
  type Endpoint,
  endpointsOf,
  type LeadChange,
  queueLeadEvent,
  testEvent,
} from '#server/webhooks/webhook-events.ts';
import { createWebhookSender } from '#server/webhooks/webhook-sender.ts';
import { startWebhookWorker, type WebhookOutcome } from '#server/webhooks/webhook-worker.ts';

export type Webhooks = {
  readonly endpoints: readonly Endpoint[];
  readonly secrets: readonly string[];
  /**
   * Call this after the change, in its transaction. Does nothing without WEBHOOK_URLS, for a missing lead, or if WEBHOOK_EVENTS
   * omits the type. The event about an erasure contains only the lead's ID.
   */
  readonly queue: (tx: Db, change: LeadChange) => Promise<void>;
  /** Sends queued events immediately instead of within about a second. */
  readonly wake: () => void;
  readonly sendTest: (signal: AbortSignal) => Promise<readonly TestResult[]>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
};

type TestResult = { readonly to: string; readonly ok: boolean; readonly response: string };

type WebhooksParts = {
  readonly config: Pick<Config, 'webhooks' | 'publicUrl'>;
  readonly campaign: Pick<Campaign, 'form' | 'consent' | 'variants'>;
  readonly secrets: Secrets;
  readonly database: OpenDatabase;
  readonly clock: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  readonly onOutcome: (outcome: WebhookOutcome) => void;
};

export function createWebhooks(parts: WebhooksParts): Webhooks {
  const { config, campaign, clock, logger, onOutcome } = parts;
  const { urls, events: chosenEvents, secrets: ownSecrets, allowPrivate } = config.webhooks;
  const endpoints = endpointsOf(urls);
  const secrets = ownSecrets.length > 0 ? ownSecrets : derivedWebhookSecrets(parts.secrets);
  const unsubscribeUrl = unsubscribeUrlOf(parts);
  let worker: JobWorker | null = null;

  const createSender = () => createWebhookSender({ secrets, allowPrivate });
  const wake = () => worker?.wake();

  return {
    endpoints,
    secrets,
    queue: async (tx, change) => {
      if (chosenEvents.includes(change.type)) await queueLeadEvent(tx, { endpoints, unsubscribeUrl }, change);
    },
    wake,
    sendTest: async (signal) => {
      const send = createSender();
      const { fields } = campaign.form;
      const hasNews = campaign.consent.news !== null;
      const variant = campaign.variants.at(-1)?.name;
      return Promise.all(
        endpoints.map(async (endpoint) => {
          const now = clock();
          const body = JSON.stringify(testEvent(now, { unsubscribeUrl, fields, hasNews, variant }));
          const { type, response } = await send(endpoint, { id: uuid(), body, now }, signal);
          return { to: endpoint.url.host, ok: type === 'sent', response };
        }),
      );
    },
    start: () => {
      if (endpoints.length === 0) return;
      worker = startWebhookWorker({
        ...parts,
        endpoints,
        send: createSender(),
        onOutcome: (outcome) => {
          logOutcome(logger, outcome);
          onOutcome(outcome);
        },
        onError: (error) => logger.error({ err: error }, 'The webhook worker failed and will retry.'),
      });
    },
    stop: async () => worker?.stop(),
  };
}

function logOutcome(logger: Logger, outcome: WebhookOutcome): void {
  if (outcome.type === 'sent') logger.info(outcome, 'A webhook accepted an event.');
  else if (outcome.type === 'dead')
    logger.error(
      outcome,
      'An event could not be sent to a webhook and will not be retried. For the reason, run "desk webhooks list".',
    );
  else logger.warn(outcome, 'An event could not be sent to a webhook and will be retried.');
}
