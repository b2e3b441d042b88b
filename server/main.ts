// The one file with side effects: reads settings and words, opens the database, starts worker and server, and takes
// them down in order.
import { existsSync } from 'node:fs';
import path from 'node:path';

import { pino } from 'pino';
import { v7 as uuid } from 'uuid';

import { deriveSecrets, readOrMakeSecretFile } from '#server/access/secrets.ts';
import { buildApp } from '#server/app.ts';
import { readConfig, type Config } from '#server/config.ts';
import { readContent, type Content } from '#server/content.ts';
import { openDatabase } from '#server/db/connect.ts';
import { deleteEndedWindows } from '#server/db/limit-windows.ts';
import { migrate } from '#server/db/migrate.ts';
import { queueNotice } from '#server/db/outbox.ts';
import { keepConsentWording } from '#server/db/submissions.ts';
import { drainConnections } from '#server/http/drain.ts';
import { createBreaker, type BreakerReason } from '#server/limits/breaker.ts';
import { createLimits } from '#server/limits/limits.ts';
import { createMailer } from '#server/mail/mailer.ts';
import { startMailWorker, type MailEvent } from '#server/mail/worker.ts';
import { startMetricsServer } from '#server/observability/metrics-server.ts';
import { createMetrics } from '#server/observability/metrics.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const DATA_FOLDER = path.resolve('data');
/** What is still running after this long is cut off: whoever sent the signal will not wait for ever either. */
const STOP_DEADLINE_MS = 15_000;
/** How long connections that are kept alive have to learn that this process stops. */
const DRAIN_MS = 3_000;
/** How long requests in hand have after that. */
const CLOSE_PATIENCE_MS = 5_000;
const HOUSEKEEPING_MS = 3_600_000;

const { config, content } = readSettings();
const logger = pino({ level: config.logLevel });
const clock = () => Date.now();
const say = (line: string) => process.stdout.write(`${line}\n`);

const database = openDatabase(config.database, (error) =>
  logger.warn({ err: error }, 'A database connection broke.'),
);
await migrate(database);
await keepConsentWording(database.db, { ...content.consent, now: clock() });

const secrets = deriveSecrets(
  config.appSecrets.length > 0 ? config.appSecrets : [readOrMakeSecretFile(secretFile(config))],
);
const mailFolder = path.join(DATA_FOLDER, 'mail');
const mailer = createMailer(config, {
  title: content.site.title,
  folder: mailFolder,
  announce: (mail, file) => say(`Mail: "${mail.subject}", written to ${path.relative('.', file)}`),
});
const metrics = createMetrics(database.db, clock, config.codeTtlSeconds);
const worker = startMailWorker({
  database,
  mailer,
  secrets,
  codeEmail: content.codeEmail,
  title: content.site.title,
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
  freeMailDomains: content.freeMailDomains,
  metrics,
  isStopping: () => stopping,
  database,
  secrets,
  limits: createLimits(config),
  clock,
  consentVersion: content.consent.version,
  wakeWorker: worker.wake,
  article: content.article,
  logger,
  siteFolder: path.join(PROJECT_FOLDER, 'dist'),
});
const housekeeping = setInterval(() => {
  deleteEndedWindows(database.db, clock()).catch((error: unknown) =>
    logger.warn({ err: error }, 'Housekeeping failed.'),
  );
}, HOUSEKEEPING_MS);

process.once('SIGTERM', stop);
process.once('SIGINT', stop);

const metricsServer = config.metrics && (await startMetricsServer(metrics, config.metrics));
await app.listen({ port: config.port, host: config.host });
announceStart();

function readSettings(): { config: Config; content: Content } {
  // Node reads the file; what the environment sets itself wins.
  if (existsSync('.env')) process.loadEnvFile('.env');
  const settings = readConfig(process.env);
  const words = readContent(path.join(PROJECT_FOLDER, 'content'));
  const complaints = [
    ...(settings.type === 'complaints' ? settings.complaints : []),
    ...(words.type === 'complaints' ? words.complaints : []),
  ];
  if (!existsSync(path.join(PROJECT_FOLDER, 'dist', 'inline-hashes.json'))) {
    complaints.push('The site is not built yet. Run "npm start", or "npm run build" first.');
  }
  if (settings.type === 'config' && words.type === 'content' && complaints.length === 0) {
    return { config: settings.config, content: words.content };
  }
  process.stderr.write(
    `The server cannot start:\n${complaints.map((complaint) => `  - ${complaint}\n`).join('')}`,
  );
  process.exit(1);
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
    subject: `The list-bomb breaker of ${content.site.title} opened`,
    text:
      `Reason: ${reason}. Somebody may be using the form to send codes to strangers. For the next ten minutes, and for ` +
      'as long as it lasts, browsers must solve a proof of work before a code is mailed. Visitors notice a second or two.',
    now: clock(),
  }).then(worker.wake, (error: unknown) => logger.error({ err: error }, 'The operator could not be told.'));
}

/** Beside the database, because without it the codes and sessions of that database mean nothing. */
function secretFile({ database: where }: Config): string {
  return path.join(
    where.engine === 'sqlite' ? path.dirname(path.resolve(where.file)) : DATA_FOLDER,
    'app-secret',
  );
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
  if (config.mail.kind === 'files') {
    say(
      `No SMTP_URL is set: each e-mail is written to ${path.relative('.', mailFolder)}/*.eml and its code is printed here.`,
    );
  } else if (config.mailFrom === null) {
    say(
      'MAIL_FROM is not set: set it to an address of your own domain, or mail servers will treat the codes as spam.',
    );
  }
  say(`Ready on http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`);
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
  })().catch((error: unknown) => {
    logger.error({ err: error }, 'Stopping failed.');
    process.exit(1);
  });
}
