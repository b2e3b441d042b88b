// The API of the development server, in a separate process: dev-server.ts starts it anew when code or words change. It lives no
// longer than its parent, however that ends: the channel between them closes, and nothing else is asked.
import { buildApp } from '#server/run/app.ts';
import { createLogger } from '#server/observability/logger.ts';
import { openService, readInstance } from '#server/run/service.ts';

/** After that, what hangs is cut off. */
const ANSWER_WITHIN_MS = 5_000;

// Ctrl-C goes to every process of the terminal; the parent says when to end.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const instance = readInstance();
const opening =
  instance.type === 'mistakes'
    ? instance
    : await openService(instance, { say: () => {}, logger: createLogger('warn', process.stdout) });
if (instance.type === 'mistakes' || opening.type === 'mistakes') {
  const { mistakes } = opening as { mistakes: readonly string[] };
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
  // A form that came before is still answered: the person who sent it knows nothing of the words that were saved meanwhile.
  setTimeout(() => app.server.closeAllConnections(), ANSWER_WITHIN_MS).unref();
  void app
    .close()
    .then(() => service.close())
    .finally(() => process.exit());
});
if (process.connected) process.send?.('ready');
else process.emit('disconnect');
