// The API of the development server. It exits when the channel to its parent closes.
import { buildApp } from '#server/startup/app.ts';
import { createLogger } from '#server/log/logger.ts';
import { openService, readInstance } from '#server/startup/service.ts';

const RESPOND_WITHIN_MS = 5_000;

// Ctrl-C reaches every process in the terminal, but the parent decides when this one exits.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const instance = readInstance();
const opening =
  instance.type === 'mistakes'
    ? instance
    : await openService(instance, { announce: () => {}, logger: createLogger('warn', process.stdout) });
if (opening.type === 'mistakes') {
  const { mistakes } = opening;
  process.stderr.write(`The API cannot start:\n${mistakes.map((sentence) => `  - ${sentence}\n`).join('')}`);
  process.exit(1);
}
const { service } = opening;
let stopping = false;
service.startSending();
const app = await buildApp(service, { release: null, isStopping: () => stopping });
await app.listen({ port: service.config.port, host: service.config.host });

process.once('disconnect', () => {
  stopping = true;
  // Lets forms that arrived before the restart get a response.
  setTimeout(() => app.server.closeAllConnections(), RESPOND_WITHIN_MS).unref();
  void app
    .close()
    .then(() => service.close())
    .finally(() => process.exit());
});
if (process.connected) process.send?.('ready');
else process.emit('disconnect');
