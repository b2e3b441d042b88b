import path from 'node:path';
import process from 'node:process';

import { buildDeskApp } from '#desk/server/desk-app.ts';
import { openServerLog } from '#server/log/logger.ts';
import { openService, readInstanceAndSite } from '#server/startup/service.ts';

/** Longer than any response takes, but shorter than the site's process waits for the desk. */
const STOP_TIMEOUT_MS = 4_000;

function refuse(mistakes: readonly string[]): never {
  process.stderr.write(`The desk cannot start:\n${mistakes.map((line) => `  - ${line}\n`).join('')}`);
  process.exit(1);
}

// `--check` only fills the compile cache, for which loading the files is enough.
if (process.argv.includes('--check')) process.exit(0);

const instance = readInstanceAndSite();
if (instance.type === 'mistakes') refuse(instance.mistakes);
const { site } = instance;
const { desk } = instance.config;
if (desk === null) refuse(['DESK_URL is not set.']);
const { logger: log, announce, linesLost, flush: flushLog } = openServerLog(instance.config.logLevel);
const logger = log.child({ part: 'desk' });
process.on('exit', flushLog);
process.on('uncaughtException', (error) => {
  logger.fatal({ err: error }, 'The desk is stopping because of an unexpected error.');
  process.exit(1);
});
const opening = await openService(instance, { logger, announce, logLinesLost: linesLost, mayBeNewer: true });
if (opening.type === 'mistakes') refuse(opening.mistakes);
const { service } = opening;
// The site's process sends the mail from the outbox.
let isStopping = false;
const app = await buildDeskApp(service, {
  access: { kind: 'people', ...desk },
  files: site.type === 'unusable' ? null : path.join(site.release.folder, 'desk'),
  isStopping: () => isStopping,
});

function stop(): void {
  if (isStopping) return;
  isStopping = true;
  setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
  void (async () => {
    await app.close();
    await service.close();
    process.exit();
  })().catch((error: unknown) => {
    logger.error({ err: error }, 'Stopping the desk failed.');
    process.exit(1);
  });
}
process.on('disconnect', stop);
process.on('SIGTERM', stop);
// Ctrl-C also reaches the site's process, which decides when the desk stops.
process.on('SIGINT', () => {
  if (!process.connected) stop();
});
if (process.send !== undefined && !process.connected) stop();

const { host } = instance.config;
await app.listen({ host, port: desk.port }).catch((error: unknown) => {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  // The site's process soon starts this one again, because a desk that is stopping frees its port.
  refuse([
    isTaken ? `Port ${desk.port} is in use. If another program uses it, change DESK_PORT.` : String(error),
  ]);
});
if (!isStopping) announce(`The desk is available at ${desk.url} (listening on ${host}, port ${desk.port}).`);
