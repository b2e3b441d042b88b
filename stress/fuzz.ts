// Checks a million responses to broken requests. Usage: fuzz.ts [answers] [seed] [--dry]
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { residentBytes } from '#stress/harness/consumption.ts';
import { createFuzzer, POST } from '#stress/fuzz/requests.ts';
import { argument, createProof } from '#stress/harness/proof.ts';
import { median } from '#stress/harness/report.ts';
import { newLedger, describeCounts, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';
import { watchWhile } from '#stress/harness/watch.ts';

const ANSWERS = argument(0, 1_000_000);
const SEED = argument(1, Date.now() % 1_000_000);
const CONNECTIONS = 24;
const PIPELINED = 24;
const SLOW_CONNECTIONS = 40;
const METRICS_PORT = 20_000 + (process.pid % 20_000);
const LOOK_EVERY_MS = 1_000;
const LOOP_BLOCK_LIMIT_MS = 200;
/** Heaps and caches grow in the first half; later, memory may vary by this factor. */
const MEMORY_LIMIT = 1.05;
const ANSWER_WITHIN_MS = 20_000;

const fuzzer = createFuzzer(SEED);

const statuses = new Map<string, number>();
const serverErrors: string[] = [];
let sent = 0;
let answered = 0;
let unanswered = 0;

function tally(status: string, requests: string): void {
  answered += 1;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status.startsWith('5') && serverErrors.length < 5)
    serverErrors.push(`${status} to ${requests.slice(0, 300)}`);
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

function exchange(port: number, requests: readonly Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    let answers = 0;
    let rest = '';
    const socket: Socket = connect(port, '127.0.0.1');
    const end = () => {
      clearTimeout(patience);
      if (answers === 0) unanswered += 1;
      socket.destroy();
      resolve();
    };
    const patience = globalThis.setTimeout(end, ANSWER_WITHIN_MS);
    socket.on('error', () => {});
    socket.on('close', end);
    socket.on('data', (chunk) => {
      const seen = rest + chunk.toString('latin1');
      let matched = 0;
      for (const match of seen.matchAll(STATUS_LINE)) {
        const [line, status = ''] = match;
        matched = match.index + line.length;
        // "100 Continue" is not a final response.
        if (status === '100') continue;
        tally(status, requests[answers]?.toString('latin1') ?? '');
        answers += 1;
      }
      rest = seen.slice(Math.max(matched, seen.length - 20));
      if (answers >= requests.length) end();
    });
    sent += requests.length;
    socket.write(Buffer.concat(requests));
  });
}

async function drip(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const socket = connect(port, '127.0.0.1');
    let open = true;
    socket.on('error', () => {});
    socket.on('close', () => (open = false));
    socket.on('data', (chunk) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1];
      if (status) tally(status, 'a slow body');
    });
    socket.write(`${POST}content-length: 500\r\n\r\n{"name":"`);
    while (open && !signal.aborted) {
      socket.write('x');
      await setTimeout(500);
    }
    socket.destroy();
    sent += 1;
  }
}

type Look = { readonly rssMb: number; readonly loopMs: number };

async function look(pid: number): Promise<Look> {
  const metrics = await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  return {
    rssMb: residentBytes(pid) / 1024 ** 2,
    loopMs: Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]) * 1000,
  };
}

const proof = createProof('prove:fuzz');
const { expect } = proof;
const site = await proof.prepareSite('sqlite', {
  env: { ...WITHOUT_LIMITS, TRUST_PROXY: '1', LOG_LEVEL: 'fatal', METRICS_PORT: String(METRICS_PORT) },
});
process.stdout.write(`Seed ${SEED}\n`);
const { url, port, child } = await site.start();
const pid = child.pid ?? 0;

/** @returns the time in seconds */
async function sendAll(): Promise<number> {
  const start = performance.now();
  let announced = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (answered < ANSWERS && child.exitCode === null) {
        const requests =
          fuzzer.random() < 0.4
            ? [fuzzer.brokenRequest()]
            : Array.from({ length: PIPELINED }, fuzzer.wholeRequest);
        await exchange(port, requests);
        if (answered - announced >= 100_000) {
          announced = answered;
          process.stdout.write(`${answered} answers\n`);
        }
      }
    }),
  );
  return (performance.now() - start) / 1000;
}

const { looks, result: seconds } = await watchWhile(
  () => look(pid),
  LOOK_EVERY_MS,
  async () => {
    const over = new AbortController();
    const slow = Array.from({ length: SLOW_CONNECTIONS }, () => drip(port, over.signal));
    const taken = await sendAll();
    over.abort();
    await Promise.all(slow);
    return taken;
  },
);

const ledger = newLedger();
await walk({ url, inbox: site.inbox, ledger }, AbortSignal.timeout(10_000));

const fifth = Math.ceil(looks.length / 5);
const memoryIn = (from: number): number =>
  median(looks.slice(from * fifth, (from + 1) * fifth).map(({ rssMb }) => rssMb));
const [early, middle, late] = [memoryIn(0), memoryIn(2), memoryIn(4)];
const worstLoop = Math.max(...looks.map(({ loopMs }) => loopMs));
for (const error of serverErrors) expect(false, error);
expect(child.exitCode === null, `the server ended with ${child.exitCode}`);
expect(ledger.verified.size === 1, 'no visitor succeeded afterwards');
// NaN in a short run, which has no samples in its last fifth.
expect(!(late > middle * MEMORY_LIMIT), `memory grew from ${middle.toFixed(0)} to ${late.toFixed(0)} MB`);
expect(worstLoop <= LOOP_BLOCK_LIMIT_MS, `the event loop was blocked for ${worstLoop.toFixed(0)} ms`);
await site.close();

const rows = proof.rows('what', 'seen');
rows.add('requests sent', `${sent.toLocaleString('en')} in ${seconds.toFixed(0)} s`);
rows.add('answered', answered.toLocaleString('en'));
rows.add('connections ended without an answer', unanswered.toLocaleString('en'));
rows.add('answers by status', describeCounts(new Map([...statuses].toSorted())));
const failures = [...statuses].filter(([status]) => status.startsWith('5'));
rows.add(
  '5xx',
  failures.reduce((sum, [, number]) => sum + number, 0),
);
rows.add(
  'memory, median of the first, the middle and the last fifth of the run',
  `${early.toFixed(0)} MB, ${middle.toFixed(0)} MB, ${late.toFixed(0)} MB`,
);
rows.add('longest block of the event loop', `${worstLoop.toFixed(0)} ms`);
rows.add('a visitor afterwards', ledger.verified.size === 1 ? 'came through' : 'did not come through');
await proof.end(
  `${sent.toLocaleString('en')} broken requests, ${answered.toLocaleString('en')} answered, ${rows.range('seen', '5xx')} with 5xx; ` +
    `memory ${early.toFixed(0)}, ${middle.toFixed(0)}, ${late.toFixed(0)} MB in the first, middle and last fifth; ` +
    `event loop blocked for ${worstLoop.toFixed(0)} ms at most; seed ${SEED}`,
  rows.table(),
);
