// The workers of a service: one sends the outbox, one sends events to webhooks. Log and metrics take the outcome of each try.
import type { Logger } from 'pino';

import type { Endpoint } from '#server/webhooks/webhook-endpoints.ts';
import {
  startMailWorker,
  type MailEvent,
  type MailWorker,
  type MailWorkerParts,
} from '#server/mail/outbox/mail-worker.ts';
import type { Metrics } from '#server/observability/metrics.ts';
import type { WebhookSender } from '#server/webhooks/webhook-sender.ts';
import {
  startWebhookWorker,
  type WebhookOutcome,
  type WebhookWorker,
} from '#server/webhooks/webhook-worker.ts';

type WorkersParts = {
  /** Fields of both workers (database, clock, random) and of the mail worker. */
  readonly mail: Omit<MailWorkerParts, 'onEvent' | 'onError'>;
  readonly webhooks: {
    readonly endpoints: readonly Endpoint[];
    readonly openSender: () => Promise<WebhookSender>;
  };
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly onMailEvent?: ((event: MailEvent) => void) | undefined;
  readonly onWebhook?: ((outcome: WebhookOutcome) => void) | undefined;
};

export type Workers = {
  /** Starts both, once. */
  readonly start: () => MailWorker;
  /** Ends both after what is in hand. */
  readonly stop: () => Promise<void>;
  readonly wakeMail: () => void;
  readonly wakeWebhooks: () => void;
  readonly reserveDelivery: MailWorker['reserve'];
};

/** Makes both; until they are started, waking them does nothing and no delivery can be reserved. */
export function createWorkers({
  mail,
  webhooks,
  logger,
  metrics,
  onMailEvent,
  onWebhook,
}: WorkersParts): Workers {
  let mailWorker: MailWorker | null = null;
  let webhookWorker: WebhookWorker | null = null;
  const start = () => {
    if (mailWorker !== null) throw new Error('The mail worker of this service was started already.');
    mailWorker = startMailWorker({
      ...mail,
      onEvent: (event) => {
        logMailEvent(logger, event);
        metrics.mail(event);
        onMailEvent?.(event);
      },
      onError: (error) =>
        logger.error({ err: error }, 'The mail worker could not do its work; it will try again.'),
    });
    if (webhooks.endpoints.length > 0) {
      const { database, clock, random } = mail;
      webhookWorker = startWebhookWorker({
        ...webhooks,
        database,
        clock,
        random,
        onOutcome: (outcome) => {
          logWebhook(logger, outcome);
          metrics.webhook(outcome);
          onWebhook?.(outcome);
        },
        onError: (error) =>
          logger.error({ err: error }, 'The webhook worker could not do its work; it will try again.'),
      });
    }
    return mailWorker;
  };
  return {
    start,
    stop: async () => {
      try {
        await webhookWorker?.stop();
      } finally {
        await mailWorker?.stop();
      }
    },
    wakeMail: () => mailWorker?.wake(),
    wakeWebhooks: () => webhookWorker?.wake(),
    reserveDelivery: (lane) => mailWorker?.reserve(lane) ?? null,
  };
}

function logMailEvent(logger: Logger, event: MailEvent): void {
  if (event.type === 'sent') logger.info(event, 'A mail was sent.');
  else if (event.type === 'dropped')
    logger.warn('A mail was dropped: what it was for was over before its turn.');
  else {
    // The reason stays in the outbox: mail servers like to repeat the address in it.
    const { type, errorClass } = event;
    logger.warn({ type, errorClass }, 'A mail could not be delivered. The outbox has the reason.');
  }
}

function logWebhook(logger: Logger, outcome: WebhookOutcome): void {
  if (outcome.type === 'sent') logger.info(outcome, 'A webhook took an event.');
  else if (outcome.type === 'dead')
    logger.error(
      outcome,
      'An event could not be sent to a webhook, and is not sent again: see `desk webhooks list`.',
    );
  else logger.warn(outcome, 'An event could not be sent to a webhook yet; it is tried again.');
}
