// The server's only file with side effects: reads settings and words, starts everything, and stops it in order.
import net, { type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { pageMistakes } from '#server/campaign/campaign.ts';
import { buildApp } from '#server/startup/app.ts';
import { startDeskProcess, type DeskProcess } from '#server/startup/desk-process.ts';
import { startHousekeeping } from '#server/housekeeping/housekeeping.ts';
import { openServerLog } from '#server/log/logger.ts';
import type { MetricsServer } from '#server/log/metrics.ts';
import { openService, readInstance, readInstanceAndSite, relativeToCwd } from '#server/startup/service.ts';
import { readCampaignFolder } from '#server/settings/env-file.ts';
import { portMistakes, describeRefusal } from '#server/startup/why-the-start-failed.ts';

/** systemd and Docker kill a process that takes longer to stop. */
const STOP_DEADLINE_MS = 15_000;
const DRAIN_MS = 3_000;
const POLL_INTERVAL_MS = 50;
const CLOSE_TIMEOUT_MS = 5_000;
/** Time for connections that nothing waits for, such as one to a silent mail server. */
const LINGER_MS = 500;
/** The first descriptor that systemd passes (sd_listen_fds(3)). */
const FIRST_SOCKET = 3;
const socketCount = Number(process.env['LISTEN_PID']) === process.pid ? Number(process.env['LISTEN_FDS']) : 0;
const socket = socketCount >= 1 ? { fd: FIRST_SOCKET } : null;

// The check is here instead of in start.js, so --check loads and caches every file needed for a start.
if (process.argv.includes('--check')) await check();

const instance = readInstanceAndSite();
if (instance.type === 'mistakes') refuse(instance.mistakes);
const { config, site } = instance;
if (site.type === 'unusable') refuse([site.mistake]);
const { release } = site;
// Before the database is opened, so a second start by mistake changes nothing.
await refuseTakenPorts();
const { logger, announce, linesLost, flush: flushLog } = openServerLog(config.logLevel);
process.on('exit', flushLog);
// Node would print the whole error, including the row that the database could not store.
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'The server is stopping because of an unexpected error.');
  process.exit(1);
});

const opening = await openService(instance, {
  logger,
  announce,
  logLinesLost: linesLost,
  mayBeNewer: true,
});
const service = opening.type === 'service' ? opening.service : refuse(opening.mistakes);
const { mail, metrics, funnel } = service;
service.startSending();
let stopping = false;
let housekeeping: ReturnType<typeof startHousekeeping> | undefined;
let deskProcess: DeskProcess | undefined;
let metricsServer: MetricsServer | undefined;
const app = await buildApp(service, { release, isStopping: () => stopping });
let interrupts = 0;
process.on('SIGTERM', stop);
process.on('SIGINT', (signal) => {
  interrupts += 1;
  // npm forwards each Ctrl-C that the terminal has already sent, so the third signal means a second Ctrl-C.
  if (interrupts >= 3) process.exit(130);
  stop(signal);
});
process.on('SIGHUP', () => stop('SIGINT'));

await listen().catch(async (error: unknown) => {
  if (stopping) return;
  // Another program may have taken a port meanwhile.
  await refuseTakenPorts(error);
  throw error;
});
// A signal may have arrived during the start.
if (!stopping) {
  announceStart();
  // The start doesn't wait for this, because the page works without mail, and the outbox keeps unsent mail.
  void tryMailAccount();
  housekeeping = startHousekeeping(service);
  if (config.desk !== null) deskProcess = startDeskProcess(logger);
}

/** Checks everything before the build, which takes seconds and must not touch a running server's files. */
async function check(): Promise<never> {
  const read = readInstance();
  // With --socket, PORT is not checked, because systemd or the running server holds it.
  const givenSocket = process.argv.includes('--socket') ? {} : socket;
  const mistakes = [
    ...(read.type === 'mistakes' ? read.mistakes : await portMistakes(read.config, { socket: givenSocket })),
    ...pageMistakes(readCampaignFolder()),
  ];
  if (read.type === 'mistakes' || mistakes.length > 0) refuse(mistakes);
  process.exit(0);
}

async function refuseTakenPorts(error?: unknown): Promise<void> {
  const port = error instanceof Error && 'port' in error ? error.port : undefined;
  const mistakes = await portMistakes(config, { only: port, socket });
  if (mistakes.length > 0) refuse(mistakes);
}

async function listen(): Promise<void> {
  if (config.metrics)
    metricsServer = await metrics.serve(app, { ...config.metrics, isStopping: () => stopping });
  await app.listen({ port: config.port, host: config.host, ...socket });
}

function refuse(mistakes: readonly string[]): never {
  process.stderr.write(describeRefusal(mistakes));
  process.exit(1);
}

async function tryMailAccount(): Promise<void> {
  const sentence = await mail.tryAccount();
  if (sentence !== null && !stopping) logger.warn(sentence);
}

function announceStart(): void {
  const { port } = Object.assign({ port: config.port }, app.server.address());
  for (const warning of service.warnings) announce(warning, 'warn');
  if (socketCount > 1) {
    announce(
      `systemd passes ${socketCount} sockets, but the page serves only port ${port}. Put an empty "ListenStream=" before your own in the socket unit, because connections to the others get no response.`,
      'warn',
    );
  }
  if (config.mail.kind === 'files') {
    announce(
      `SMTP_URL is not set, so e-mails are written to ${relativeToCwd(mail.folder)}/*.eml and codes are printed here.`,
    );
  } else if (config.mailFrom === null) {
    announce(
      'MAIL_FROM is not set, so mail servers may treat the codes as spam. Set it to an e-mail address at your domain.',
    );
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  announce(`Ready on http://${host}:${port}${config.basePath}`);
}

/**
 * Stops requests, then mail, then the database, because each needs the next. A signal may arrive while this file still waits for
 * the ports, so it uses no constant declared below.
 */
function stop(signal: string): void {
  if (stopping) return;
  stopping = true;
  logger.info({ signal }, 'Stopping.');
  setTimeout(() => {
    logger.error('Stopping took too long, so the remaining work was cut off.');
    process.exit(1);
  }, STOP_DEADLINE_MS).unref();
  void (async () => {
    housekeeping?.stop();
    const deskStopped = deskProcess?.stop();
    // SIGINT comes from a person, who has no load balancer and doesn't want to wait.
    if (signal === 'SIGTERM') await drainConnections(app.server);
    // An endless request must not keep pending mail from finishing.
    const cutOff = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
    await app.close();
    clearTimeout(cutOff);
    await mail.stop();
    await funnel
      .write()
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'The visitor counts since the last write could not be stored.'),
      );
    await metricsServer?.close();
    await deskStopped;
    await service.close();
    logger.info('Stopped.');
    setTimeout(() => process.exit(), LINGER_MS).unref();
  })().catch((error: unknown) => {
    logger.error({ err: error }, 'Stopping failed.');
    process.exit(1);
  });
}

/**
 * Stops accepting connections and waits until the open ones end, because a client may send a request just as the server
 * closes its connection. Responses carry `Connection: close` (http.ts).
 */
async function drainConnections(server: Server): Promise<void> {
  // The close method of http would end idle connections immediately.
  net.Server.prototype.close.call(server);
  const deadline = Date.now() + DRAIN_MS;
  while (Date.now() < deadline && (await openConnections(server)) > 0) await wait(POLL_INTERVAL_MS);
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((error, count) => resolve(error ? 0 : count));
  });
}
