// Whether memory stays flat under whole, successful flows: form, mail, code, lead. Looks at the resident memory of the server
// process, because what SQLite holds lies outside the JavaScript heap. Needs Linux. Usage: memory.ts [flows]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { startInbox } from '#testing/inbox.ts';
import { siteSettings, startSiteProcess } from '#testing/start-site.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import { brokenPromises, conclude, settle } from '#proofs/verdict.ts';
import { newLedger, walk } from '#proofs/visitors.ts';

const FLOWS = Number(process.argv[2] ?? 50_000);
const FIFTHS = 5;
const VISITORS = 16;
const LOOK_EVERY_MS = 200;
const REST_MS = 3_000;
/** In the first fifths heaps and caches grow into their size; from the middle one to the last, memory may breathe by this much. */
const MEMORY_LIMIT = 1.1;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** What the process holds in memory, in bytes. */
function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error(`Process ${pid} does not say how much memory it has.`);
  return Number(kilobytes) * 1024;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'memory-'));
const inbox = await startInbox();
const databaseUrl = 'file:./data/leads.db';
const server = await startSiteProcess(
  {
    // As in production behind a proxy: every limit is counted, none is reached.
    TRUST_PROXY: '1',
    LEADS_PER_IP_PER_HOUR: '1000000',
    VERIFY_PER_IP_PER_HOUR: '1000000',
    BREAKER_CODES_PER_MINUTE: '1000000',
    ...siteSettings(databaseUrl, inbox),
    LOG_LEVEL: 'error',
  },
  folder,
);
const { pid } = server.child;
if (pid === undefined) throw new Error('The server has no process id.');
await setTimeout(REST_MS);
const atRest = residentBytes(pid);

const ledger = newLedger();
const seen: number[][] = Array.from({ length: FIFTHS }, () => []);
let begun = 0;
let walking = true;
const never = new AbortController().signal;
const start = performance.now();
const traffic = Promise.all(
  Array.from({ length: VISITORS }, async () => {
    while (begun < FLOWS) {
      begun += 1;
      await walk({ url: server.url, inbox, ledger }, never);
    }
  }),
).finally(() => (walking = false));
while (walking) {
  await setTimeout(LOOK_EVERY_MS);
  const fifth = Math.min(FIFTHS - 1, Math.floor((ledger.verified.size / FLOWS) * FIFTHS));
  const count = seen[fifth]?.push(residentBytes(pid)) ?? 0;
  if (count === 1) process.stdout.write(`${ledger.verified.size} flows: ${megabytes(residentBytes(pid))}\n`);
}
await traffic;
const seconds = (performance.now() - start) / 1000;
await server.stop();
const account = await settle({ databaseUrl, folder }, inbox, ledger);
await inbox.close();
rmSync(folder, { recursive: true });

const medians = seen.map(median);
const [middle = Number.NaN, last = Number.NaN] = [medians[Math.floor(FIFTHS / 2)], medians.at(-1)];
const broken = brokenPromises(account);
if (ledger.verified.size !== FLOWS)
  broken.push(`only ${ledger.verified.size} of ${FLOWS} flows became leads`);
// "Not at most": a fifth in which nobody looked fails as well.
if (!(last <= middle * MEMORY_LIMIT))
  broken.push(`memory grows: ${megabytes(middle)} in the middle fifth, ${megabytes(last)} in the last`);
await writeReport(
  'reliability.md',
  'memory',
  `${measuredOn()} ${FLOWS.toLocaleString('en')} flows on SQLite in ${seconds.toFixed(0)} s, ${VISITORS} at a time.\n\n${table(
    ['resident memory', 'at rest', '1st fifth', '2nd', '3rd', '4th', 'last', 'last to middle'],
    [['median', megabytes(atRest), ...medians.map(megabytes), (last / middle).toFixed(2)]],
  )}`,
);
conclude(broken);
