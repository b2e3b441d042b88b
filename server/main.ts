// The one file with side effects: reads settings and words, opens the database, starts worker and server, and takes
// them down in order.
import path from 'node:path';

import { v7 as uuid } from 'uuid';

import { deriveSecrets, makeSecretFile, readSecretFile, type Secrets } from '#server/access/secrets.ts';
import { buildApp } from '#server/app.ts';
import { readCampaign, type Campaign } from '#server/campaign.ts';
import { openDatabase } from '#server/db/connect.ts';
import { knownSecretIds, rememberSecretIds } from '#server/db/known-secrets.ts';
import { migrate } from '#server/db/migrate.ts';
import { keepConsentWording } from '#server/db/submissions.ts';
import { createHousekeeping } from '#server/housekeeping.ts';
import { drainConnections } from '#server/http/drain.ts';
import { findRelease, type Release } from '#server/http/releases.ts';
import { createBreaker, type BreakerReason } from '#server/limits/breaker.ts';
import { createLimits } from '#server/limits/limits.ts';
import { composeBreakerNotice } from '#server/mail/breaker-email.ts';
import { createMailer, dkimComplaint } from '#server/mail/mailer.ts';
import { startMailWorker, type MailEvent } from '#server/outbox/worker.ts';
import { queueNotice } from '#server/outbox/notice.ts';
import { createLogger } from '#server/observability/logger.ts';
import { startMetricsServer } from '#server/observability/metrics-server.ts';
import { createMetrics } from '#server/observability/metrics.ts';
import { makePrivate, openToOthers, sayOpenToOthers } from '#server/private-files.ts';
import { readSettings, type Settings } from '#server/settings.ts';
import {
  explainDatabaseFailure,
  explainFileFailure,
  orRefuse,
  portComplaints,
  refuseStart,
} from '#server/start-failures.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
/** What is still running after this long is cut off: whoever sent the signal will not wait for ever either. */
const STOP_DEADLINE_MS = 15_000;
/** How long connections that are kept alive have to learn that this process stops. */
const DRAIN_MS = 3_000;
/** How long requests in hand have after that. */
const CLOSE_PATIENCE_MS = 5_000;
/** What nobody waits for any more (a mail server that does not answer) keeps a stopped process no longer than this. */
const LINGER_MS = 500;
const HOUSEKEEPING_MS = 3_600_000;

const { config, campaign, folder, warnings, release } = readSettingsAndWords();
await refuseWhatCannotWork();
const dataFolder = path.join(folder, 'data');
const logger = createLogger(config.logLevel);
// Node would write the whole error to standard error, with the row that the database could not store.
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'The server ends: an error that nobody handles.');
  process.exit(1);
});
const clock = () => Date.now();
const say = (line: string) => process.stdout.write(`${line}\n`);

// Ours, whoever made it; a folder that DATABASE_URL names elsewhere is the operator's.
makePrivate(dataFolder);
const explainDatabase = (error: unknown) => explainDatabaseFailure(error, config.database);
const database = await orRefuse(
  () => openDatabase(config.database, (error) => logger.warn({ err: error }, 'A database connection broke.')),
  explainDatabase,
);
await orRefuse(() => migrate(database), explainDatabase);
await keepConsentWording(database.db, { ...campaign.consent, now: clock() });

const secrets = await openSecrets();
const mailFolder = path.join(dataFolder, 'mail');
const mailer = await orRefuse(
  () =>
    createMailer(config, {
      title: campaign.site.title,
      folder: mailFolder,
      announce: (mail, file) => say(`Mail: "${mail.subject}", written to ${asSeenFromHere(file)}`),
    }),
  (error) => explainFileFailure(error, mailFolder, 'Give this user the right to, or set SMTP_URL.'),
);
const metrics = createMetrics(database.db, clock, config.codeTtlSeconds);
const worker = startMailWorker({
  database,
  mailer,
  secrets,
  codeEmail: campaign.codeEmail,
  title: campaign.site.title,
  language: campaign.site.language,
  codeTtlSeconds: config.codeTtlSeconds,
  clock,
  random: Math.random,
  onEvent: (event) => {
    logMailEvent(event);
    metrics.mail(event);
  },
  onError: (error) =>
    logger.error({ err: error }, 'The mail worker could not do its work; it will try again.'),
});
let stopping = false;
const app = await buildApp({
  config,
  breaker: createBreaker({ db: database.db, config, clock, onOpened: announceBreaker }),
  freeMailDomains: campaign.freeMailDomains,
  inputWords: campaign.interface,
  metrics,
  isStopping: () => stopping,
  database,
  secrets,
  limits: createLimits(config, secrets),
  clock,
  consentVersion: campaign.consent.version,
  wakeWorker: worker.wake,
  article: campaign.article,
  words: campaign,
  logger,
  release,
});
const keepHouse = createHousekeeping({
  database,
  config,
  clock,
  onExpired: (expired) => {
    logger.info({ expired }, 'Housekeeping deleted what had had its time.');
    metrics.expired(expired);
  },
  shouldStop: () => stopping,
});
const housekeeping = setInterval(() => {
  keepHouse().catch((error: unknown) => logger.warn({ err: error }, 'Housekeeping failed.'));
}, HOUSEKEEPING_MS);

let interrupts = 0;
process.on('SIGTERM', stop);
process.on('SIGINT', (signal) => {
  interrupts += 1;
  // npm passes on every Ctrl-C that the terminal has sent here already: the second signal says nothing, the third one means it.
  if (interrupts >= 3) process.exit(130);
  stop(signal);
});

const metricsServer = config.metrics && (await startMetricsServer(metrics, app, config.metrics));
await app.listen({ port: config.port, host: config.host }).catch(async (error: unknown) => {
  // Somebody was faster since we looked.
  const complaints = await portComplaints(config);
  if (complaints.length === 0) throw error;
  refuseStart(complaints);
});
announceStart();
// Not waited for: the page serves, and the outbox keeps what cannot be sent.
void tryMailAccount();

function readSettingsAndWords(): Settings & { campaign: Campaign; release: Release | null } {
  const settings = readSettings();
  const words = readCampaign(path.join(PROJECT_FOLDER, 'campaign'));
  const complaints = [
    ...(settings.type === 'complaints' ? settings.complaints : []),
    ...(words.type === 'complaints' ? words.complaints : []),
  ];
  // The development server (build/dev.ts) serves the page itself, as the words are now.
  const site = process.argv.includes('--api-only') ? null : findRelease(PROJECT_FOLDER);
  if (site?.type === 'complaint') complaints.push(site.complaint);
  if (
    settings.type === 'settings' &&
    words.type === 'campaign' &&
    site?.type !== 'complaint' &&
    complaints.length === 0
  ) {
    return { ...settings, campaign: words.campaign, release: site?.release ?? null };
  }
  return refuseStart(complaints);
}

async function tryMailAccount(): Promise<void> {
  const sentence = await mailer.tryAccount();
  if (sentence !== null && !stopping) logger.warn(sentence);
}

/** Before anything is opened: a second process must not touch what the first one works with. */
async function refuseWhatCannotWork(): Promise<void> {
  const { mail } = config;
  const complaints = await portComplaints(config);
  const unsigned = mail.kind === 'smtp' && mail.dkim ? await dkimComplaint(mail.dkim) : null;
  if (unsigned !== null) complaints.push(unsigned);
  if (complaints.length > 0) refuseStart(complaints);
}

/**
 * The secrets of APP_SECRET, or the one that is kept beside the database: without it, the codes and sessions of that
 * database mean nothing, so a database that knows a secret is not given another one by accident.
 */
async function openSecrets(): Promise<Secrets> {
  // Asked before the file is read: another process that starts for the first time makes the file first.
  const known = await knownSecretIds(database.db);
  const opened = deriveSecrets(
    config.appSecrets.length > 0 ? config.appSecrets : [await keptSecret(known.length > 0)],
  );
  const ids = opened.map(({ id }) => id);
  if (known.length > 0 && !ids.some((id) => known.includes(id))) {
    warnings.push(
      'The secret is none that this database was used with: whoever is signed in or waits for a code must ask for a new one. If that is not what you want, stop and put the old secret behind the new one: APP_SECRET=new,old',
    );
  }
  await rememberSecretIds(database.db, ids, clock());
  return opened;
}

async function keptSecret(databaseKnowsOne: boolean): Promise<string> {
  const file = path.join(secretFolder(), 'app-secret');
  const explain = (error: unknown) =>
    explainFileFailure(error, file, 'Give this user the right to, or set APP_SECRET.');
  const kept = await orRefuse(() => readSecretFile(file), explain);
  if (kept.type === 'secret') return kept.secret;
  if (kept.type === 'unusable') return refuseStart([kept.sentence]);
  if (databaseKnowsOne) {
    return refuseStart([
      `${file} is missing, though this database was used with a secret before. Put the file back from a backup, or set APP_SECRET to that secret. To go on without it, set APP_SECRET to a new one (openssl rand -base64 32): whoever is signed in or waits for a code must then ask for a new one.`,
    ]);
  }
  return orRefuse(() => makeSecretFile(file), explain);
}

/** Beside the database. */
function secretFolder(): string {
  return config.database.engine === 'sqlite' ? path.dirname(config.database.file) : dataFolder;
}

/** How somebody who looks at this terminal would name a file. */
function asSeenFromHere(file: string): string {
  const relative = path.relative('.', file);
  return relative.startsWith('..') ? file : relative;
}

function announceBreaker(reason: BreakerReason): void {
  logger.warn(
    { reason },
    'THE LIST-BOMB BREAKER OPENED: new codes need a proof of work for the next ten minutes.',
  );
  metrics.breakerOpened(reason);
  if (config.operatorEmail === null) return;
  queueNotice(database.db, {
    id: uuid(),
    recipient: config.operatorEmail,
    ...composeBreakerNotice(campaign.breakerEmail, { reason, title: campaign.site.title }),
    now: clock(),
  }).then(worker.wake, (error: unknown) => logger.error({ err: error }, 'The operator could not be told.'));
}

function logMailEvent(event: MailEvent): void {
  if (event.type === 'sent') logger.info(event, 'A code was mailed.');
  else if (event.type === 'dropped')
    logger.warn('A mail was dropped: its code was used or had expired before its turn.');
  else {
    // The reason stays in the outbox: mail servers like to repeat the address in it.
    const { type, errorClass } = event;
    logger.warn({ type, errorClass }, 'A mail could not be delivered. The outbox has the reason.');
  }
}

function announceStart(): void {
  const { port } = Object.assign({ port: config.port }, app.server.address());
  for (const warning of [...warnings, ...openFileWarnings()]) say(`Warning: ${warning}`);
  if (config.mail.kind === 'files') {
    say(
      `No SMTP_URL is set: each e-mail is written to ${asSeenFromHere(mailFolder)}/*.eml and its code is printed here.`,
    );
  } else if (config.mailFrom === null) {
    say(
      'MAIL_FROM is not set: set it to an address of your own domain, or mail servers will treat the codes as spam.',
    );
  }
  say(`Ready on http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`);
}

function openFileWarnings(): string[] {
  const { database: where, mail } = config;
  const names = mail.kind === 'smtp' && mail.dkim ? [mail.dkim.privateKeyFile] : [];
  if (where.engine === 'sqlite' && where.file !== ':memory:') {
    names.push(secretFolder(), where.file, path.join(secretFolder(), 'app-secret'));
  }
  return openToOthers(names).map(sayOpenToOthers);
}

/** Finishes requests, then mail, then closes the database; in this order, because each needs the next. */
function stop(signal: string): void {
  if (stopping) return;
  stopping = true;
  logger.info({ signal }, 'Stopping.');
  setTimeout(() => {
    logger.error('Stopping took too long; what was still running is cut off.');
    process.exit(1);
  }, STOP_DEADLINE_MS).unref();
  void (async () => {
    clearInterval(housekeeping);
    // SIGINT comes from somebody at a terminal, who has no balancer and does not want to wait.
    if (signal === 'SIGTERM') await drainConnections(app.server, DRAIN_MS);
    // A request that never ends must not keep the mail in hand from being finished.
    const cutOff = setTimeout(() => app.server.closeAllConnections(), CLOSE_PATIENCE_MS);
    await app.close();
    clearTimeout(cutOff);
    await worker.stop();
    mailer.close();
    await metricsServer?.close();
    await database.close();
    logger.info('Stopped.');
    setTimeout(() => process.exit(), LINGER_MS).unref();
  })().catch((error: unknown) => {
    logger.error({ err: error }, 'Stopping failed.');
    process.exit(1);
  });
}
