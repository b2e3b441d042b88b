// `npm run test:logic`: every test that needs no browser, or those of the files that the command line names.
import { globSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

import { globalSetup, globalTeardown } from '#testing/test-setup.ts';

/**
 * What takes long begins first, or all would wait for it in the end. What waits most of the time (for the end of a mail server's
 * patience, a drain, a failover) stands between what computes.
 */
const LONGEST = [
  'server/run/restart',
  'server/run/main',
  'server/http/releases',
  'server/http/overload',
  'desk/desk',
  'server/db/engine/failover',
  'server/visitors/leads/leads',
  'desk/doctor/doctor',
  'server/limits/breaker',
  'server/observability/metrics',
  'server/mail/outbox/backlog',
  'server/campaign/campaign-files',
  'server/campaign/campaign-slips',
  'server/http/static-files',
  'server/mail/deliverability',
  'server/mail/outbox/mail-worker',
].map((name) => `${name}.test.ts`);

/** Two cores are kept busy by four, of which two wait. */
const AT_ONCE = 4;
/** A file, or one test of it, that takes this long hangs. */
const TIMEOUT_MS = 180_000;

const all = globSync('{shared,web,server,desk,deploy,testing}/**/*.test.ts');
const gone = LONGEST.filter((file) => !all.includes(file));
if (gone.length > 0) throw new Error(`There is no ${gone.join(', ')} (testing/run-logic.ts).`);
const named = process.argv.slice(2);
const files = named.length > 0 ? named : [...new Set([...LONGEST, ...all])];

await globalSetup();
try {
  const events = run({ files, concurrency: AT_ONCE, timeout: TIMEOUT_MS });
  events.on('test:fail', () => {
    process.exitCode = 1;
  });
  for await (const words of events.compose(spec)) process.stdout.write(String(words));
} finally {
  await globalTeardown();
}
