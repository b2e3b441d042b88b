// Puts the parts together: words, database, secrets, limits, breaker, outbox, mail, metrics, clock and log. main.ts, the tests, the
// stress programs and every command that works beside a live server open a service, and close it. Opening it starts nothing: no port, no
// timer, no mail. It needs no built site.
import path from 'node:path';

import type { Logger } from 'pino';

import type { Secrets } from '#server/secrets/secrets.ts';
import { keepChainSigned } from '#server/consent/chain.ts';
import { readCampaign, type Campaign } from '#server/campaign/campaign.ts';
import type { Config } from '#server/settings/settings.ts';
import { openDatabase, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { createFunnelCounter, type FunnelCounter } from '#server/funnel/counter.ts';
import { createLimits, type Limits, type LimitsParts } from '#server/limits/limits.ts';
import { dkimComplaint } from '#server/mail/dkim-key.ts';
import { openMail, type MailParts, type OpenMail } from '#server/mail/mail.ts';
import type { Say } from '#server/log/logger.ts';
import { createMetrics, type Metrics } from '#server/log/metrics.ts';
import { makePrivate, openToOthers, sayOpenToOthers } from '#server/platform/private-files.ts';
import { readCampaignFolder, readSettings, type Settings } from '#server/settings/env-file.ts';
import {
  CannotOpen,
  explainDatabaseFailure,
  explainFailure,
  explainFileFailure,
  orRefuse,
} from '#server/startup/why-the-start-failed.ts';
import { openSecrets, secretFileIn } from '#server/startup/open-secrets.ts';
import type { ResolveName } from '#server/platform/public-addresses.ts';
import { createWebhooks, type Webhooks, type WebhooksParts } from '#server/webhooks/webhooks.ts';

/** A warning: the start goes on. */
const NEWER_DATABASE =
  'The database was used by a newer version of this page. This one can serve with it; for commands of the desk, use the newer one.';

/** What an operator decided: settings and words. */
export type Instance = Settings & { readonly campaign: Campaign };

export type Service = {
  readonly config: Config;
  /** With .env and data/: where relative names in settings start. */
  readonly folder: string;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  /** Counts how often the page was seen, the form opened and the article read. housekeeping/ writes its counts. */
  readonly funnel: FunnelCounter;
  readonly mail: Omit<OpenMail, 'start' | 'close'>;
  readonly webhooks: Omit<Webhooks, 'start' | 'stop'>;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly logger: Logger;
  /** Sentences for the operator, about the settings, the secret and files that other users can read. */
  readonly warnings: readonly string[];
  /** Starts sending the outbox and the events for webhooks. Call it once; {@link close} ends it. */
  readonly startSending: () => void;
  /** Ends sending after the mail in hand, then closes mail and database. A second call does nothing. */
  readonly close: () => Promise<void>;
};

/** Where a service reports, and replacements for what production uses. */
export type ServiceReplacements = {
  readonly logger: Logger;
  /** Says a sentence to the person who started it. */
  readonly say: Say;
  /** Number of log lines that could not be written so far. */
  readonly logLinesLost?: () => number;
  readonly clock?: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random?: () => number;
  /** An open database. It is migrated, and stays open after the service closes: the caller closes it. */
  readonly database?: OpenDatabase | undefined;
  /** Accepts a database that a newer version has used: it serves, but cannot erase or move columns it does not know. */
  readonly mayBeNewer?: boolean;
  /** Takes the outcome of each try to send a mail, after log and metrics. */
  readonly onMailEvent?: MailParts['onOutcome'];
  /** Takes the outcome of each try to call a webhook, after log and metrics. */
  readonly onWebhook?: WebhooksParts['onOutcome'];
  /** Looks up the addresses of a webhook's host. */
  readonly resolveName?: ResolveName;
  /** Called each time the breaker opens, after log and metrics. */
  readonly onBreakerOpened?: LimitsParts['onBreakerOpened'];
};

type Refusal = { readonly type: 'mistakes'; readonly mistakes: readonly string[] };

/**
 * Reads settings and words, and touches nothing.
 * @returns both, or one sentence for each mistake about either
 */
export function readInstance(): ({ readonly type: 'instance' } & Instance) | Refusal {
  const settings = readSettings();
  const words = readCampaign(readCampaignFolder());
  const mistakes = [
    ...(settings.type === 'mistakes' ? settings.mistakes : []),
    ...(words.type === 'mistakes' ? words.mistakes : []),
  ];
  if (settings.type !== 'settings' || words.type !== 'campaign') return { type: 'mistakes', mistakes };
  const { config, folder, warnings } = settings;
  const { campaign } = words;
  if (config.guideEmail === 'attachment' && campaign.guideFile === null) {
    mistakes.push(
      'GUIDE_EMAIL is attachment, and emails/guide.yaml names none: put the file into article/ of the campaign, and its name there as "attachment: guide.pdf".',
    );
    return { type: 'mistakes', mistakes };
  }
  if (config.newLeadEmail === 'weekly' && campaign.newLeadEmail.week === undefined) {
    mistakes.push(
      'NEW_LEAD_EMAIL is weekly, and emails/new-lead.yaml has no words for it: copy the part "week" from campaign/emails/new-lead.yaml of this release.',
    );
    return { type: 'mistakes', mistakes };
  }
  return { type: 'instance', config, folder, warnings, campaign };
}

/**
 * Opens the service of an instance: migrates its database, and stores its secret and the wording of its consent.
 * @returns the service, or a sentence about what has to be mended first. Throws a fault of ours. Unless it returns a service, nothing
 * is left open
 */
export async function openService(
  instance: Instance,
  replacements: ServiceReplacements,
): Promise<{ readonly type: 'service'; readonly service: Service } | Refusal> {
  await using opened = new AsyncDisposableStack();
  try {
    const parts = await openParts(instance, replacements, opened);
    // From here on, closing the service closes them, last opened first.
    const closing = opened.move();
    return { type: 'service', service: { ...parts, close: () => closing.disposeAsync() } };
  } catch (error) {
    const sentence =
      error instanceof CannotOpen ? error.message : explainFailure(error, instance.config.database);
    if (sentence === null) throw error;
    return { type: 'mistakes', mistakes: [sentence] };
  }
}

async function openParts(
  { config, campaign, folder, warnings }: Instance,
  replacements: ServiceReplacements,
  opened: AsyncDisposableStack,
): Promise<Omit<Service, 'close'>> {
  const { logger, say, logLinesLost = () => 0 } = replacements;
  const { clock = () => Date.now(), random = () => Math.random() } = replacements;
  await refuseUnsignedMail(config.mail);

  const dataFolder = path.join(folder, 'data');
  // This folder is always ours; one that DATABASE_URL names elsewhere is the operator's.
  makePrivate(dataFolder);
  const { database, newer } = await openMigrated(config.database, { ...replacements, clock, opened });
  const { db } = database;
  for (const { consent } of [campaign, ...campaign.variants])
    await keepConsentWording(db, { ...consent, now: clock() });

  const secretFolder = secretFolderOf(config.database, dataFolder);
  const { secrets, warning } = await openSecrets(db, { config, folder: secretFolder, now: clock() });
  await keepChainSigned(database, secrets, clock());

  const metrics = createMetrics(database, clock, { ...config, logLinesLost });
  const given = { config, secrets, database, clock, random, logger };

  const webhooks = createWebhooks({
    ...given,
    campaign,
    resolveName: replacements.resolveName,
    onOutcome: (outcome) => {
      metrics.webhook(outcome);
      replacements.onWebhook?.(outcome);
    },
  });
  const mailFolder = path.join(dataFolder, 'mail');
  const mail = await orRefuse(
    () =>
      openMail({
        ...given,
        campaign,
        folder: mailFolder,
        onFile: ({ subject }, file) => say(`Mail: ${subject} (written to ${asSeenFromHere(file)})`),
        onLeadBounced: (tx, bounce) => webhooks.queue(tx, { ...bounce, type: 'lead.bounced' }),
        onOutcome: (outcome) => {
          metrics.mail(outcome);
          replacements.onMailEvent?.(outcome);
        },
      }),
    (error) => explainFileFailure(error, mailFolder, 'Give this user the right to, or set SMTP_URL.'),
  );
  opened.defer(mail.close);
  opened.defer(mail.stop);
  opened.defer(webhooks.stop);

  const announceBreaker: LimitsParts['onBreakerOpened'] = (reason) => {
    logger.warn(
      { reason },
      'THE LIST-BOMB BREAKER OPENED: new codes need a proof of work for the next ten minutes.',
    );
    metrics.breakerOpened(reason);
    replacements.onBreakerOpened?.(reason);
    mail
      .queueBreakerNotice(reason)
      .catch((error: unknown) =>
        logger.error({ err: error }, 'The notice about the breaker could not be queued.'),
      );
  };

  return {
    config,
    folder,
    campaign,
    database,
    secrets,
    limits: createLimits({ ...given, db, onBreakerOpened: announceBreaker }),
    funnel: createFunnelCounter({
      database,
      clock,
      config,
      variants: campaign.variants.map(({ name }) => name),
    }),
    mail,
    webhooks,
    metrics,
    clock,
    logger,
    warnings: [
      ...warnings,
      ...(warning === null ? [] : [warning]),
      ...(newer.length === 0 ? [] : [NEWER_DATABASE]),
      ...openFilesOf(config, secretFolder).map(sayOpenToOthers),
    ],
    startSending: () => {
      mail.start();
      webhooks.start();
    },
  };
}

/** Refused before anything is opened: nodemailer would send mail unsigned. */
async function refuseUnsignedMail(mail: Config['mail']): Promise<void> {
  const mistake = mail.kind === 'smtp' && mail.dkim ? await dkimComplaint(mail.dkim) : null;
  if (mistake !== null) throw new CannotOpen(mistake);
}

async function openMigrated(
  config: Config['database'],
  {
    database: given,
    mayBeNewer = false,
    clock,
    logger,
    opened,
  }: Pick<ServiceReplacements, 'database' | 'mayBeNewer' | 'logger'> & {
    clock: () => number;
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

/** Beside the database, if that is a file. */
export const secretFolderOf = (database: Config['database'], dataFolder: string): string =>
  database.engine === 'sqlite' && database.file !== ':memory:' ? path.dirname(database.file) : dataFolder;

/** Which of our files other users of the machine can read or enter. */
export function openFilesOf({ database, mail }: Config, secretFolder: string): string[] {
  const names = mail.kind === 'smtp' && mail.dkim ? [mail.dkim.privateKeyFile] : [];
  if (database.engine === 'sqlite' && database.file !== ':memory:') {
    names.push(secretFolder, database.file, secretFileIn(secretFolder));
  }
  return openToOthers(names);
}

/** A file's path as a reader of this terminal would write it. */
export function asSeenFromHere(file: string): string {
  const relative = path.relative('.', file);
  return relative.startsWith('..') ? file : relative;
}
