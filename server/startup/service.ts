// Opening a service starts no server, timer or mail.
import path from 'node:path';

import type { Logger } from 'pino';

import { type Campaign, readCampaign, wordsMissingFor } from '#server/campaign/campaign.ts';
import { keepChainSigned } from '#server/consent/chain.ts';
import { type Db, openDatabase, type OpenDatabase } from '#server/db/engine/connect.ts';
import { migrate } from '#server/db/migrations/migrate.ts';
import { keepConsentWording } from '#server/db/tables/consent-wordings.ts';
import { knownSecretIds, rememberSecretIds } from '#server/db/tables/known-secrets.ts';
import { createFunnelCounter, type FunnelCounter } from '#server/funnel/funnel.ts';
import { createBreaker, type BreakerReason } from '#server/limits/breaker.ts';
import { createCountedLimits, type Limits } from '#server/limits/limits.ts';
import type { Announce } from '#server/log/logger.ts';
import { createMetrics, type Metrics } from '#server/log/metrics.ts';
import {
  campaignFolderOf,
  distFolder,
  findRelease,
  newestRelease,
  type FoundRelease,
} from '#server/http/releases.ts';
import { dkimError } from '#server/mail/dkim-key.ts';
import { openMail, type OpenMail } from '#server/mail/mail.ts';
import {
  PROJECT_FOLDER,
  makePrivate,
  readableByOthers,
  describeReadableByOthers,
} from '#server/platform/files.ts';
import {
  deriveSecrets,
  makeSecretFile,
  readSecretFile,
  WITHOUT_OLD_SECRET,
  type Secrets,
} from '#server/secrets/secrets.ts';
import { readCampaignFolder, readSettings, type Settings } from '#server/settings/env-file.ts';
import type { Config } from '#server/settings/settings.ts';
import {
  CannotOpen,
  explainDatabaseFailure,
  explainFailure,
  explainFileFailure,
  orRefuse,
} from '#server/startup/why-the-start-failed.ts';
import { createWebhooks, type Webhooks } from '#server/webhooks/webhooks.ts';

const NEWER_DATABASE =
  'The database was used by a newer version of this software. This version can run the site with it, but use the newer version for desk commands.';

export type Instance = Settings & { readonly campaign: Campaign };

export type Service = {
  readonly config: Config;
  readonly folder: string;
  readonly campaign: Campaign;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly limits: Limits;
  readonly funnel: FunnelCounter;
  readonly mail: Omit<OpenMail, 'start' | 'close'>;
  readonly webhooks: Omit<Webhooks, 'start' | 'stop'>;
  readonly metrics: Metrics;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly warnings: readonly string[];
  /** Starts sending mail and webhooks. Call it once; {@link close} ends it. */
  readonly startSending: () => void;
  /** Finishes the mail being sent, then closes everything. Further calls have no effect. */
  readonly close: () => Promise<void>;
};

/** The parts that differ between the server, the desk, its commands and tests. */
export type ServiceOptions = {
  readonly logger: Logger;
  readonly announce: Announce;
  readonly logLinesLost?: () => number;
  readonly clock?: () => number;
  /** Random numbers for jitter. */
  readonly random?: () => number;
  readonly database?: OpenDatabase | undefined;
  /**
   * Accepts a database that a newer version has used. The service works with it, but cannot erase or move unknown columns.
   */
  readonly mayBeNewer?: boolean;
};

type Refusal = { readonly type: 'mistakes'; readonly mistakes: readonly string[] };

/** Reads settings and words, without side effects. */
export function readInstance(
  campaignFolder = readCampaignFolder(),
): ({ readonly type: 'instance' } & Instance) | Refusal {
  return instanceFrom(readSettings(), readCampaign(campaignFolder));
}

/**
 * Reads settings and words. While only the words have mistakes, those of the last build are used, and the mistakes are warnings.
 * Mistakes in the settings are always refused.
 */
export function readInstanceOrLastBuild(): ReturnType<typeof readInstance> {
  const campaignFolder = readCampaignFolder();
  const settings = readSettings();
  const read = instanceFrom(settings, readCampaign(campaignFolder));
  if (read.type === 'instance' || settings.type === 'mistakes') return read;
  const release = newestRelease(distFolder(PROJECT_FOLDER, campaignFolder));
  if (release === null) return read;
  const built = instanceFrom(settings, readCampaign(campaignFolderOf(release)));
  return built.type === 'mistakes' ? read : withWarnings(built, read.mistakes);
}

/** @param reasons why the words of the last build are used */
const withWarnings = <Read extends Instance>(instance: Read, reasons: readonly string[]): Read => ({
  ...instance,
  warnings: [
    ...instance.warnings,
    ...reasons.map((reason) => `${reason} Until the next build, the words of the last one are used.`),
  ],
});

/**
 * Reads settings, and the newest build with its words. Therefore unfinished words do not keep the site from starting, such as
 * after a power failure, and the desk has the words that visitors see.
 */
export function readInstanceAndSite():
  | ({ readonly type: 'instance'; readonly site: FoundRelease } & Instance)
  | Refusal {
  const read = readInstanceOrLastBuild();
  const sitePath = read.type === 'instance' ? read.config.basePath : null;
  const site = findRelease(PROJECT_FOLDER, readCampaignFolder(), sitePath);
  if (read.type === 'mistakes')
    return site.type === 'release' ? read : { ...read, mistakes: [...read.mistakes, site.mistake] };
  if (site.type !== 'outdated') return { ...read, site };
  const built = readInstance(campaignFolderOf(site.release));
  if (built.type === 'mistakes') return { type: 'mistakes', mistakes: [site.mistake] };
  return { ...withWarnings({ ...read, campaign: built.campaign }, [site.mistake]), site };
}

export function instanceFrom(
  settings: ReturnType<typeof readSettings>,
  words: ReturnType<typeof readCampaign>,
): ReturnType<typeof readInstance> {
  const mistakes = [
    ...(settings.type === 'mistakes' ? settings.mistakes : wordsMissingFor(settings.config, words)),
    ...(words.type === 'mistakes' ? words.mistakes : []),
  ];
  if (settings.type === 'mistakes' || words.type === 'mistakes' || mistakes.length > 0)
    return { type: 'mistakes', mistakes };
  const { config, folder, warnings } = settings;
  const { campaign } = words;
  return { type: 'instance', config, folder, warnings, campaign };
}

/**
 * Migrates the database, stores the secret and the consent wording, and signs the consent chain again after a change of the secret.
 * @returns the service, or a sentence that tells the operator what to do; then nothing stays open
 * @throws errors that indicate a bug
 */
export async function openService(
  instance: Instance,
  options: ServiceOptions,
): Promise<{ readonly type: 'service'; readonly service: Service } | Refusal> {
  await using opened = new AsyncDisposableStack();
  try {
    const parts = await openParts(instance, options, opened);
    // From here on, the service closes them, in reverse order of opening.
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
  options: ServiceOptions,
  opened: AsyncDisposableStack,
): Promise<Omit<Service, 'close'>> {
  const { logger, announce, logLinesLost = () => 0 } = options;
  const { clock = () => Date.now(), random = () => Math.random() } = options;
  await refuseUnsignedMail(config.mail);

  const dataFolder = path.join(folder, 'data');
  // The default folder is ours; a folder in DATABASE_URL is the operator's.
  makePrivate(dataFolder);
  const { database, newerMigrations } = await openMigrated(config.database, options, clock, opened);
  const { db } = database;
  for (const { consent } of [campaign, ...campaign.variants]) {
    await keepConsentWording(db, { ...consent, purpose: 'guide', now: clock() });
    if (consent.news !== null)
      await keepConsentWording(db, { ...consent.news, purpose: 'news', now: clock() });
  }

  const secretFile = secretFileOf(config.database, folder);
  const { secrets, warning } = await openSecrets(db, { config, file: secretFile, now: clock() });
  await keepChainSigned(db, secrets, clock());

  const metrics = createMetrics(database, clock, { ...config, logLinesLost });
  const common = { config, secrets, database, clock, random, logger };

  const webhooks = createWebhooks({
    ...common,
    campaign,
    onOutcome: (outcome) => metrics.webhook(outcome),
  });
  const mailFolder = path.join(dataFolder, 'mail');
  const mail = await orRefuse(
    () =>
      openMail({
        ...common,
        campaign,
        folder: mailFolder,
        onFile: ({ subject }, file) => announce(`Mail: ${subject} (written to ${relativeToCwd(file)})`),
        onLeadBounced: (tx, bounce) => webhooks.queue(tx, { ...bounce, type: 'lead.bounced' }),
        onOutcome: (outcome) => metrics.mail(outcome),
      }),
    (error) => explainFileFailure(error, mailFolder, 'Grant this user permission, or set SMTP_URL.'),
  );
  opened.defer(mail.close);
  // These run from the last to the first: both workers stop before the connections close.
  opened.defer(mail.stop);
  opened.defer(webhooks.stop);

  const announceBreaker = (reason: BreakerReason) => {
    logger.warn(
      { reason },
      'THE LIST-BOMB BREAKER OPENED: new codes need a proof of work for the next ten minutes.',
    );
    metrics.breakerOpened(reason);
    mail
      .queueBreakerNotice(reason)
      .catch((error: unknown) =>
        logger.error({ err: error }, 'The e-mail about the breaker could not be queued.'),
      );
  };

  return {
    config,
    folder,
    campaign,
    database,
    secrets,
    limits: {
      ...createCountedLimits(config, secrets),
      breaker: createBreaker({ db, config, clock, onOpened: announceBreaker }),
    },
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
      ...(newerMigrations.length === 0 ? [] : [NEWER_DATABASE]),
      ...filesOpenToOthers(config, folder).map(describeReadableByOthers),
    ],
    startSending: () => {
      mail.start();
      webhooks.start();
    },
  };
}

/** Refuses an unusable key, because nodemailer would send mail unsigned. */
async function refuseUnsignedMail(mail: Config['mail']): Promise<void> {
  const mistake = mail.kind === 'smtp' && mail.dkim ? await dkimError(mail.dkim) : null;
  if (mistake !== null) throw new CannotOpen(mistake);
}

async function openMigrated(
  config: Config['database'],
  { database: openedBefore, mayBeNewer = false, logger }: ServiceOptions,
  clock: () => number,
  opened: AsyncDisposableStack,
): Promise<{ database: OpenDatabase; newerMigrations: readonly string[] }> {
  const explain = (error: unknown) => explainDatabaseFailure(error, config);
  const open = () =>
    openDatabase(
      config,
      (error) =>
        logger.warn({ err: error }, 'A database connection was lost. The server will connect again.'),
      { clock },
    );
  const database = openedBefore ?? (await orRefuse(open, explain));
  if (openedBefore === undefined) opened.defer(() => database.close());
  const newerMigrations = await orRefuse(() => migrate(database, { mayBeNewer }), explain);
  return { database, newerMigrations };
}

/** The folder of the database file and its other files. */
export const dataFolderOf = (database: Config['database'], folder: string): string =>
  database.engine === 'sqlite' && database.file !== ':memory:'
    ? path.dirname(database.file)
    : path.join(folder, 'data');

/** With PostgreSQL, APP_SECRET is required, so no secret file exists. */
export const secretFileOf = (database: Config['database'], folder: string): string =>
  path.join(dataFolderOf(database, folder), 'app-secret');

export function filesOpenToOthers({ database, mail }: Config, folder: string): string[] {
  const names = mail.kind === 'smtp' && mail.dkim ? [mail.dkim.privateKeyFile] : [];
  if (database.engine === 'sqlite' && database.file !== ':memory:') {
    names.push(dataFolderOf(database, folder), database.file, secretFileOf(database, folder));
  }
  return readableByOthers(names);
}

export function relativeToCwd(file: string): string {
  const relative = path.relative('.', file);
  return relative.startsWith('..') ? file : relative;
}

const OTHER_SECRET = `This database was used with a different secret. ${WITHOUT_OLD_SECRET} To avoid that, stop the server and list the old secret second: APP_SECRET=new,old`;

const describeSecretMistake = (file: string, what: 'missing' | 'other'): string =>
  `${file} ${
    what === 'missing'
      ? 'is missing, but this database has already been used with a secret'
      : 'does not match any secret that this database was used with'
  }. Restore the file from a backup, or set APP_SECRET to that secret. ` +
  `To continue without it, set APP_SECRET to a new secret (openssl rand -base64 32). ${WITHOUT_OLD_SECRET}`;

/**
 * A used database never gets a new secret by accident, because its codes and sessions would be lost.
 * @returns warning: a sentence, or null
 * @throws CannotOpen
 */
async function openSecrets(
  db: Db,
  { config, file, now }: { config: Pick<Config, 'appSecrets'>; file: string; now: number },
): Promise<{ secrets: Secrets; warning: string | null }> {
  // The database is read first. Otherwise another process could write the file and register its secret in between, and the file
  // would seem to be missing.
  const known = await knownSecretIds(db);
  const secrets = deriveSecrets(
    config.appSecrets.length > 0 ? config.appSecrets : [await readOrCreateSecret(file, known.length > 0)],
  );
  const ids = secrets.map(({ id }) => id);
  const isOther = known.length > 0 && !ids.some((id) => known.includes(id));
  // APP_SECRET is deliberate; a file can belong to another instance, as after a restore elsewhere.
  if (isOther && config.appSecrets.length === 0) throw new CannotOpen(describeSecretMistake(file, 'other'));
  await rememberSecretIds(db, ids, now);
  return { secrets, warning: isOther ? OTHER_SECRET : null };
}

async function readOrCreateSecret(file: string, hasKnownSecret: boolean): Promise<string> {
  const explain = (error: unknown) =>
    explainFileFailure(error, file, 'Grant this user permission, or set APP_SECRET.');
  const stored = await orRefuse(() => readSecretFile(file), explain);
  if (stored.type === 'secret') return stored.secret;
  if (stored.type === 'unusable') throw new CannotOpen(stored.sentence);
  if (hasKnownSecret) throw new CannotOpen(describeSecretMistake(file, 'missing'));
  return orRefuse(() => makeSecretFile(file), explain);
}
