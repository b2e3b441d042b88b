// The server's process, and the only file with side effects: reads settings and words, opens the service, starts workers, HTTP and
// upkeep, and stops them in order.
import cluster from 'node:cluster';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { buildApp } from '#server/run/app.ts';
import { checkStart } from '#server/run/check-start.ts';
import { collectGarbage } from '#server/platform/collect-garbage.ts';
import { startDeskProcess, type DeskProcess } from '#server/run/desk-process.ts';
import { startUpkeep } from '#server/upkeep/upkeep.ts';
import { drainConnections } from '#server/run/drain.ts';
import { findRelease, type Release } from '#server/http/releases.ts';
import { openServerLog } from '#server/observability/logger.ts';
import { asSeenFromHere, openService, readInstance, type Instance } from '#server/run/service.ts';
import { readCampaignFolder } from '#server/settings/env-file.ts';
import { inheritedSocket } from '#server/run/inherited-socket.ts';
import { portComplaints, sayRefusal } from '#server/run/why-the-start-failed.ts';
import { loadWebhookSender } from '#server/webhooks/webhooks.ts';
import { API } from '#shared/api.ts';

/** A stop that takes longer is cut off: systemd, Docker or a person does not wait for ever either. */
const STOP_DEADLINE_MS = 15_000;
/** How long connections that are kept alive have to learn that this process stops. */
const DRAIN_MS = 3_000;
/** How long requests in hand have after that. */
const CLOSE_PATIENCE_MS = 5_000;
/** A connection that nothing waits for, as to a mail server that does not answer, keeps a stopped process no longer than this. */
const LINGER_MS = 500;
/** Another worker of the primary (primary.js) serves, and hands the ports over. */
const isBeside = process.argv.includes('--beside');

// Here and not in start.js, so that --check has loaded every file that a start needs, and keeps it compiled.
if (process.argv.includes('--check')) await checkStart({ beside: process.argv.includes('--beside') });

const { instance, release } = readInstanceAndSite();
const { config } = instance;
// Before anything is opened: a second process must not touch what the first one works with.
if (!isBeside) await refuseTakenPorts();
const { logger, say, linesLost, writeRest } = openServerLog(config.logLevel);
process.on('exit', writeRest);
// By default Node would write the whole error to standard error, with the row that the database could not store.
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'The server ends: an error that nobody handles.');
  process.exit(1);
});

const opening = await openService(instance, {
  logger,
  say,
  logLinesLost: linesLost,
  mayBeNewer: true,
});
const service = opening.type === 'service' ? opening.service : refuse(opening.complaints);
const { mail, metrics, funnel } = service;
// No module is loaded once this process serves: by then "npm ci" may have replaced our packages.
await loadWebhookSender(config);
service.startSending();
let stopping = false;
let upkeep: ReturnType<typeof startUpkeep> | undefined;
let deskProcess: DeskProcess | undefined;
/** Another worker of the primary serves in our place. */
let isReplaced = false;
const app = await buildApp(service, {
  release,
  isStopping: () => stopping,
  isReplaced: () => isReplaced,
});
let interrupts = 0;
process.on('SIGTERM', stop);
process.on('SIGINT', (signal) => {
  // The terminal sent it to the primary as well, which decides.
  if (cluster.isWorker) return;
  interrupts += 1;
  // npm passes on each Ctrl-C, which the terminal has already sent here: only the third signal is a second Ctrl-C.
  if (interrupts >= 3) process.exit(130);
  stop(signal);
});

// start.js does it after the start. Here visitors already wait for this process then.
if (isBeside) collectGarbage();
const { metricsServer } = await listen().catch(async (error: unknown) => {
  // Another program has taken the port since we looked.
  await refuseTakenPorts(error);
  throw error;
});
const warnings = announceStart();
if (cluster.isWorker) await obeyPrimary();
// Not awaited: the page serves, and the outbox keeps mail that cannot be sent.
void tryMailAccount();
if (!stopping) upkeep = startUpkeep(service);
if (!stopping && config.desk !== null) deskProcess = startDeskProcess(logger);

/** Messages of the primary to this worker; a primary of an earlier release leaves out isReplaced. */
type FromPrimary =
  | { readonly type: 'stop'; readonly signal: NodeJS.Signals; readonly isReplaced?: boolean }
  | { readonly type: 'alive' }
  | { readonly type: 'health' };

function readInstanceAndSite(): { instance: Instance; release: Release } {
  const read = readInstance();
  const site = findRelease(PROJECT_FOLDER, readCampaignFolder());
  const siteComplaints = site.type === 'complaint' ? [site.complaint] : [];
  if (read.type === 'complaints') return refuse([...read.complaints, ...siteComplaints]);
  if (site.type === 'complaint') return refuse(siteComplaints);
  return { instance: read, release: site.release };
}

/** @param error why listening failed; then only that port is looked at */
async function refuseTakenPorts(error?: unknown): Promise<void> {
  const port = error instanceof Error && 'port' in error ? error.port : undefined;
  const complaints = await portComplaints(config, { only: port, socket: inheritedSocket() });
  if (complaints.length > 0) refuse(complaints);
}

async function listen(): Promise<{ metricsServer: Awaited<ReturnType<typeof metrics.serve>> | null }> {
  const started =
    config.metrics && (await metrics.serve(app, { ...config.metrics, isStopping: () => stopping }));
  // A socket goes before a port.
  await app.listen({ port: config.port, host: config.host, ...inheritedSocket() });
  return { metricsServer: started };
}

/** Takes messages of the primary, which stops this worker and asks for its health; reports that this worker serves. */
async function obeyPrimary(): Promise<void> {
  const health = async () => {
    const { statusCode, body } = await app.inject(API.health);
    return { status: statusCode, sentence: body };
  };
  process.on('message', (message: FromPrimary) => {
    if (message.type === 'stop') {
      // The worker that took our place may have to stop too, before we have ended.
      ({ isReplaced = false } = message);
      stop(message.signal);
    } else if (message.type === 'alive') process.send?.(message);
    else void health().then((now) => process.send?.({ type: 'health', health: now }));
  });
  // The terminal was closed. The primary ends when we do.
  process.on('SIGHUP', () => stop('SIGINT'));
  // The first worker has none to be compared with.
  process.send?.({ type: 'ready', warnings, ...(isBeside && { health: await health() }) });
}

/** Prints why the server cannot start, and ends the process. */
function refuse(complaints: readonly string[]): never {
  process.stderr.write(sayRefusal(complaints));
  process.exit(1);
}

async function tryMailAccount(): Promise<void> {
  const sentence = await mail.tryAccount();
  if (sentence !== null && !stopping) logger.warn(sentence);
  if (process.connected) process.send?.({ type: 'mail tried', warning: sentence });
}

/** @returns the warnings that were printed */
function announceStart(): readonly string[] {
  const { port } = Object.assign({ port: config.port }, app.server.address());
  for (const warning of service.warnings) say(warning, 'warn');
  if (config.mail.kind === 'files') {
    say(
      `No SMTP_URL is set: each e-mail is written to ${asSeenFromHere(mail.folder)}/*.eml and its code is printed here.`,
    );
  } else if (config.mailFrom === null) {
    say(
      'MAIL_FROM is not set: set it to an address of your own domain, or mail servers will treat the codes as spam.',
    );
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  say(`Ready on http://${host}:${port}${config.basePath}`);
  return service.warnings;
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
    upkeep?.stop();
    const deskStopped = deskProcess?.stop();
    // SIGINT comes from a person at a terminal, who has no balancer and does not want to wait.
    if (signal === 'SIGTERM') {
      // If another process serves the metrics' port too, a monitor must not see that this one stops.
      const metricsToo = isReplaced ? metricsServer : null;
      await Promise.all([
        drainConnections(app.server, DRAIN_MS),
        metricsToo && drainConnections(metricsToo.server, DRAIN_MS),
      ]);
      await metricsToo?.close();
    }
    // A request that never ends must not keep the mail in hand from being finished.
    const cutOff = setTimeout(() => app.server.closeAllConnections(), CLOSE_PATIENCE_MS);
    await app.close();
    clearTimeout(cutOff);
    await mail.stop();
    await funnel
      .write()
      .catch((error: unknown) => logger.warn({ err: error }, 'Counts could not be written yet.'));
    await metricsServer?.close();
    await deskStopped;
    await service.close();
    logger.info('Stopped.');
    process.channel?.unref();
    setTimeout(() => process.exit(), LINGER_MS).unref();
  })().catch((error: unknown) => {
    logger.error({ err: error }, 'Stopping failed.');
    process.exit(1);
  });
}
