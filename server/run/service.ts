// The one place where the parts are put together: words, database, secrets, limits, breaker, outbox, mail, metrics, clock and
// log. main.ts, the tests, the proofs and every command that works beside a live server open a service. It starts nothing and
// serves nothing: no port, no timer, no mail before it is told to, and it needs no built site. Whoever opened it closes it.
import { randomUUIDv7 } from 'node:crypto';
import path from 'node:path';

import type { Logger } from 'pino';

import { bounceAddress } from '#server/secrets/bounce-address.ts';
import { unsubscribeUrlOf } from '#server/secrets/mail-links.ts';
import {
  chainSignerOf,
  derivedWebhookSecrets,
  deriveSecrets,
  makeSecretFile,
  readSecretFile,
  type Secrets,
} from '#server/secrets/secrets.ts';
import { readCampaign, type Campaign } from '#server/campaign/campaign.ts';
import type { Config } from '#server/settings/settings.ts';
import { openDatabase, type Db, type OpenDatabase } from '#server/db/engine/connect.ts';
import { keepChainSigned } from '#server/db/tables/consent-chain.ts';
import { knownSecretIds, rememberSecretIds } from '#server/db/tables/known-secrets.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { keepConsentWording } from '#server/db/tables/submissions.ts';
import { createFunnelCounter, type FunnelCounter } from '#server/visitors/funnel/counter.ts';
import { createBreaker, type Breaker, type BreakerReason } from '#server/limits/breaker.ts';
import { createLimits, type Limits } from '#server/limits/limits.ts';
import { composeBreakerNotice } from '#server/mail/letters/breaker-notice.ts';
import { dkimComplaint } from '#server/mail/dkim-key.ts';
import { createMailer, type Mailer } from '#server/mail/mailer.ts';
import type { GuideMail } from '#server/mail/letters/letter-kind.ts';
import { queueNotice } from '#server/mail/letters/breaker-notice.ts';
import { startMailWorker, type MailEvent, type MailWorker } from '#server/mail/outbox/mail-worker.ts';
import type { Say } from '#server/observability/logger.ts';
import { createMetrics, type Metrics } from '#server/observability/metrics.ts';
import { makePrivate, openToOthers, sayOpenToOthers } from '#server/platform/private-files.ts';
import { readCampaignFolder, readSettings, type Settings } from '#server/settings/env-file.ts';
import {
  explainDatabaseFailure,
  explainFailure,
  explainFileFailure,
  NEWER_DATABASE,
  saySecretUnfit,
  STRANGE_SECRET,
} from '#server/run/why-the-start-failed.ts';
import type { ResolveName } from '#server/platform/public-addresses.ts';
import { endpointsOf } from '#server/webhooks/webhook-endpoints.ts';
import type { WebhookParts } from '#server/webhooks/webhook-events.ts';
import type { WebhookSender } from '#server/webhooks/webhook-sender.ts';
import {
  startWebhookWorker,
  type WebhookOutcome,
  type WebhookWorker,
} from '#server/webhooks/webhook-worker.ts';

/** What an operator decided: settings and words. */
export type Instance = Settings & { readonly campaign: Campaign };

export type Service = {
  readonly config: Config;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly breaker: Breaker;
  /** Counts how often the page was seen, the form opened and the article read. Whoever serves writes what it counted. */
  readonly funnel: FunnelCounter;
  readonly mailer: Mailer;
  /** Where mail is written to while there is no mail account; what was written stays when there is one. */
  readonly mailFolder: string;
  readonly webhooks: WebhookParts & {
    /** What events are signed with, newest first. */
    readonly secrets: readonly string[];
    /** One for the opener to close. */
    readonly openSender: () => Promise<WebhookSender>;
  };
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly logger: Logger;
  /** What the operator should know, one sentence each: of the settings, the secret, and files that others can read. */
  readonly warnings: readonly string[];
  /** Begins to send what is in the outbox, and what is told to webhooks. To be called once; {@link close} ends it. */
  readonly startWorker: () => MailWorker;
  /** Tells the mail worker that something was queued. Without one, it waits for the worker of another process. */
  readonly wakeWorker: () => void;
  /** Asks the mail worker to send what is about to be queued; null when it has no hand free, or there is none. */
  readonly reserveDelivery: MailWorker['reserve'];
  /** Ends the worker after the mail in hand, then closes mail and database. Does nothing the second time. */
  readonly close: () => Promise<void>;
};

/** Where a service tells what happens; and what is as in production if it is not given. */
export type ServiceReplacements = {
  readonly logger: Logger;
  /** Says something to the person who started it. */
  readonly say: Say;
  /** How many lines of the log could not be written so far. */
  readonly logLinesLost?: () => number;
  readonly clock?: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** One that is open already. It is brought up to date, and stays open after the service: it is the giver's to close. */
  readonly database?: OpenDatabase | undefined;
  /** Whether a database that a newer version has used will do: it serves, but cannot erase or move what it does not know. */
  readonly mayBeNewer?: boolean;
  /** Told what became of each mail, after log and metrics were. */
  readonly onMailEvent?: (event: MailEvent) => void;
  /** Told what became of each try to tell a webhook, after log and metrics were. */
  readonly onWebhook?: (outcome: WebhookOutcome) => void;
  /** Which addresses the names of webhooks have. */
  readonly resolveName?: ResolveName;
  /** Told each time the breaker opens, after log and metrics were. */
  readonly onBreakerOpened?: (reason: BreakerReason) => void;
};

type Refusal = { readonly type: 'complaints'; readonly complaints: readonly string[] };

/**
 * Reads settings and words, and touches nothing.
 * @returns both, or one sentence for each complaint about either
 */
export function readInstance(): ({ readonly type: 'instance' } & Instance) | Refusal {
  const settings = readSettings();
  const words = readCampaign(readCampaignFolder());
  const complaints = [
    ...(settings.type === 'complaints' ? settings.complaints : []),
    ...(words.type === 'complaints' ? words.complaints : []),
  ];
  if (settings.type !== 'settings' || words.type !== 'campaign') return { type: 'complaints', complaints };
  const { config, folder, warnings } = settings;
  const { campaign } = words;
  if (config.guideEmail === 'attachment' && campaign.guideFile === null) {
    complaints.push(
      'GUIDE_EMAIL is attachment, and emails/guide.yaml names none: put the file into article/ of the campaign, and its name there as "attachment: guide.pdf".',
    );
    return { type: 'complaints', complaints };
  }
  return { type: 'instance', config, folder, warnings, campaign };
}

/**
 * Opens the service of an instance: its database is brought up to date, its secret and the wording of its consent are kept.
 * @returns the service, or a sentence about what has to be mended first; then nothing is left open. A fault of ours is thrown, and
 * nothing is left open either
 */
export async function openService(
  instance: Instance,
  replacements: ServiceReplacements,
): Promise<{ readonly type: 'service'; readonly service: Service } | Refusal> {
  await using opened = new AsyncDisposableStack();
  try {
    const parts = await openParts(instance, replacements, opened);
    // From here on they are closed with the service, in the opposite order.
    const closing = opened.move();
    return { type: 'service', service: { ...parts, close: () => closing.disposeAsync() } };
  } catch (error) {
    const sentence =
      error instanceof CannotOpen ? error.message : explainFailure(error, instance.config.database);
    if (sentence === null) throw error;
    return { type: 'complaints', complaints: [sentence] };
  }
}

/** The message is a sentence for the operator. Never leaves this file. */
class CannotOpen extends Error {}

async function openParts(
  { config, campaign, folder, warnings }: Instance,
  replacements: ServiceReplacements,
  opened: AsyncDisposableStack,
): Promise<Omit<Service, 'close'>> {
  const {
    mayBeNewer = false,
    clock = () => Date.now(),
    random = () => Math.random(),
    logger,
    say,
    logLinesLost = () => 0,
    onMailEvent,
    onWebhook,
    resolveName,
    onBreakerOpened,
  } = replacements;
  const { title } = campaign.site;
  await refuseUnsignedMail(config.mail);

  const dataFolder = path.join(folder, 'data');
  // Ours, whoever made it; a folder that DATABASE_URL names elsewhere is the operator's.
  makePrivate(dataFolder);
  const { database, newer } = await openMigrated(config.database, {
    given: replacements.database,
    mayBeNewer,
    clock,
    logger,
    opened,
  });
  const { db } = database;
  await keepConsentWording(db, { ...campaign.consent, now: clock() });

  const secretFolder = secretFolderOf(config.database, dataFolder);
  const { secrets, warning } = await openSecrets(db, { config, folder: secretFolder, now: clock() });
  await keepChainSigned(database, chainSignerOf(secrets), clock());

  const mailFolder = path.join(dataFolder, 'mail');
  const { bounceDomain } = config;
  const mailer = await orRefuse(
    () =>
      createMailer(config, {
        title,
        folder: mailFolder,
        announce: (mail, file) => say(`Mail: ${mail.subject} (written to ${asSeenFromHere(file)})`),
        returnPathOf: bounceDomain === null ? undefined : (id) => bounceAddress(secrets, id, bounceDomain),
      }),
    (error) => explainFileFailure(error, mailFolder, 'Give this user the right to, or set SMTP_URL.'),
  );
  opened.defer(() => mailer.close());
  const metrics = createMetrics(database, clock, { ...config, logLinesLost });

  const endpoints = endpointsOf(config.webhooks.urls);
  const webhookSecrets =
    config.webhooks.secrets.length > 0 ? config.webhooks.secrets : derivedWebhookSecrets(secrets);
  const openSender = async () => {
    // Whoever has no webhooks, and most commands of the desk, need none of what it loads.
    const { createWebhookSender } = await import('#server/webhooks/webhook-sender.ts');
    const { allowPrivate } = config.webhooks;
    return createWebhookSender({ secrets: webhookSecrets, allowPrivate, resolve: resolveName });
  };
  let webhookWorker: WebhookWorker | null = null;

  let worker: MailWorker | null = null;
  const wakeWorker = () => worker?.wake();
  const reserveDelivery: MailWorker['reserve'] = (lane) => worker?.reserve(lane) ?? null;
  const startWorker = () => {
    if (worker !== null) throw new Error('The mail worker of this service was started already.');
    const started = startMailWorker({
      database,
      mailer,
      secrets,
      codeEmail: campaign.codeEmail,
      newLeadEmail: campaign.newLeadEmail,
      title,
      language: campaign.site.language,
      codeTtlSeconds: config.codeTtlSeconds,
      publicUrl: config.publicUrl,
      guide: guideMailOf(config, campaign),
      clock,
      random,
      onEvent: (event) => {
        logMailEvent(logger, event);
        metrics.mail(event);
        onMailEvent?.(event);
      },
      onError: (error) =>
        logger.error({ err: error }, 'The mail worker could not do its work; it will try again.'),
    });
    worker = started;
    if (endpoints.length > 0) {
      webhookWorker = startWebhookWorker({
        database,
        endpoints,
        openSender,
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
    return started;
  };
  opened.defer(() => worker?.stop());
  opened.defer(() => webhookWorker?.stop());

  const announceBreaker = (reason: BreakerReason) => {
    logger.warn(
      { reason },
      'THE LIST-BOMB BREAKER OPENED: new codes need a proof of work for the next ten minutes.',
    );
    metrics.breakerOpened(reason);
    onBreakerOpened?.(reason);
    if (config.operatorEmail === null) return;
    queueNotice(db, {
      id: randomUUIDv7(),
      recipient: config.operatorEmail,
      ...composeBreakerNotice(campaign.breakerEmail, { reason, title }),
      now: clock(),
    }).then(wakeWorker, (error: unknown) => logger.error({ err: error }, 'The operator could not be told.'));
  };

  return {
    config,
    campaign,
    database,
    secrets,
    limits: createLimits(config, secrets),
    breaker: createBreaker({ db, config, clock, onOpened: announceBreaker }),
    funnel: createFunnelCounter({ database, clock, config }),
    mailer,
    mailFolder,
    webhooks: {
      engine: database.engine,
      endpoints,
      secrets: webhookSecrets,
      openSender,
      wake: () => webhookWorker?.wake(),
      unsubscribeUrl: unsubscribeUrlOf({ secrets, config }),
    },
    metrics,
    clock,
    logger,
    warnings: [
      ...warnings,
      ...(warning === null ? [] : [warning]),
      ...(newer.length === 0 ? [] : [NEWER_DATABASE]),
      ...openFilesOf(config, secretFolder).map(sayOpenToOthers),
    ],
    startWorker,
    wakeWorker,
    reserveDelivery,
  };
}

const guideMailOf = (
  { guideEmail }: Pick<Config, 'guideEmail'>,
  campaign: Pick<Campaign, 'guideEmail' | 'guideFile'>,
): GuideMail | null =>
  guideEmail === 'off'
    ? null
    : { words: campaign.guideEmail, attachment: guideEmail === 'link' ? null : campaign.guideFile };

/** Before anything is touched: nodemailer would send unsigned mail. */
async function refuseUnsignedMail(mail: Config['mail']): Promise<void> {
  const complaint = mail.kind === 'smtp' && mail.dkim ? await dkimComplaint(mail.dkim) : null;
  if (complaint !== null) throw new CannotOpen(complaint);
}

async function openMigrated(
  config: Config['database'],
  {
    given,
    mayBeNewer,
    clock,
    logger,
    opened,
  }: {
    given: OpenDatabase | undefined;
    mayBeNewer: boolean;
    clock: () => number;
    logger: Logger;
    opened: AsyncDisposableStack;
  },
): Promise<{ database: OpenDatabase; newer: readonly string[] }> {
  const explain = (error: unknown) => explainDatabaseFailure(error, config);
  const open = () =>
    openDatabase(config, (error) => logger.warn({ err: error }, 'A database connection broke.'), { clock });
  const database = given ?? (await orRefuse(open, explain));
  if (given === undefined) opened.defer(() => database.close());
  const newer = await orRefuse(() => migrate(database, { mayBeNewer }), explain);
  return { database, newer };
}

/**
 * The secrets of APP_SECRET, or the one that is kept beside the database: without it, the codes and sessions of that
 * database mean nothing, so a database that knows a secret is not given another one by accident.
 */
async function openSecrets(
  db: Db,
  { config, folder, now }: { config: Pick<Config, 'appSecrets'>; folder: string; now: number },
): Promise<{ secrets: Secrets; warning: string | null }> {
  // Asked before the file is read: another process that starts for the first time makes the file first.
  const known = await knownSecretIds(db);
  const secrets = deriveSecrets(
    config.appSecrets.length > 0 ? config.appSecrets : [await keptSecret(folder, known.length > 0)],
  );
  const ids = secrets.map(({ id }) => id);
  const isStranger = known.length > 0 && !ids.some((id) => known.includes(id));
  // Set in the settings, it is meant; the file can be one that another instance made for itself, as after a restore elsewhere.
  if (isStranger && config.appSecrets.length === 0)
    throw new CannotOpen(saySecretUnfit(path.join(folder, 'app-secret'), 'strange'));
  await rememberSecretIds(db, ids, now);
  return {
    secrets,
    warning: isStranger ? STRANGE_SECRET : null,
  };
}

async function keptSecret(folder: string, databaseKnowsOne: boolean): Promise<string> {
  const file = path.join(folder, 'app-secret');
  const explain = (error: unknown) =>
    explainFileFailure(error, file, 'Give this user the right to, or set APP_SECRET.');
  const kept = await orRefuse(() => readSecretFile(file), explain);
  if (kept.type === 'secret') return kept.secret;
  if (kept.type === 'unusable') throw new CannotOpen(kept.sentence);
  if (databaseKnowsOne) {
    throw new CannotOpen(saySecretUnfit(file, 'missing'));
  }
  return orRefuse(() => makeSecretFile(file), explain);
}

/** Beside the database, if that is a file. */
export const secretFolderOf = (database: Config['database'], dataFolder: string): string =>
  database.engine === 'sqlite' && database.file !== ':memory:' ? path.dirname(database.file) : dataFolder;

/** Which of our files other users of the machine can read or enter. */
export function openFilesOf({ database, mail }: Config, secretFolder: string): string[] {
  const names = mail.kind === 'smtp' && mail.dkim ? [mail.dkim.privateKeyFile] : [];
  if (database.engine === 'sqlite' && database.file !== ':memory:') {
    names.push(secretFolder, database.file, path.join(secretFolder, 'app-secret'));
  }
  return openToOthers(names);
}

/** How somebody who looks at this terminal would name a file. */
export function asSeenFromHere(file: string): string {
  const relative = path.relative('.', file);
  return relative.startsWith('..') ? file : relative;
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
  if (outcome.type === 'sent') logger.info(outcome, 'A webhook was told.');
  else if (outcome.type === 'dead')
    logger.error(outcome, 'A webhook could not be told, and is not told again: see `desk webhooks list`.');
  else logger.warn(outcome, 'A webhook could not be told yet; it is tried again.');
}

/**
 * Does one step of the opening.
 * @param explain one sentence about what was thrown, or null to let it through
 */
async function orRefuse<Result>(
  step: () => Result | Promise<Result>,
  explain: (error: unknown) => string | null,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const sentence = explain(error);
    throw sentence === null ? error : new CannotOpen(sentence);
  }
}
