// Checks a million responses to broken requests.
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { freePort } from '#testing/free-port.ts';
import { createFuzzer, POST } from '#stress/attacks/broken-requests.ts';
import { defineCase } from '#stress/harness/cases.ts';
import { residentBytes } from '#stress/harness/consumption.ts';
import { fifthsOf } from '#stress/harness/report.ts';
import { describeCounts, newLedger, walk, WITHOUT_LIMITS } from '#stress/harness/visitors.ts';
import { sampleWhile } from '#stress/harness/watch.ts';

const CONNECTIONS = 24;
const PIPELINED = 24;
const SLOW_CONNECTIONS = 40;
const SAMPLE_EVERY_MS = 1_000;
const LOOP_BLOCK_LIMIT_MS = 200;
/** Heaps and caches grow in the first half of the run; after that, memory may grow by this factor. */
const MEMORY_LIMIT = 1.05;
const RESPONSE_WITHIN_MS = 20_000;

const OPTIONS = { responses: 1_000_000, seed: Date.now() % 1_000_000 };
export const fuzz = defineCase(OPTIONS, async ({ prepareSite, expect }, { responses: wanted, seed }) => {
  process.stdout.write(`seed ${seed}\n`);
  const metricsPort = await freePort();
  await using site = await prepareSite('sqlite', {
    env: { ...WITHOUT_LIMITS, TRUST_PROXY: '1', LOG_LEVEL: 'fatal', METRICS_PORT: String(metricsPort) },
  });
  const { url, port, child } = await site.start();
  const sample = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return {
      rssMb: residentBytes(child.pid ?? 0) / 1024 ** 2,
      loopMs: Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]) * 1000,
    };
  };
  const fuzzer = createFuzzer(seed);
  const tally = createTally();
  const { samples, result: seconds } = await sampleWhile(sample, SAMPLE_EVERY_MS, async () => {
    const start = performance.now();
    const stopped = new AbortController();
    const slow = Array.from({ length: SLOW_CONNECTIONS }, () => drip(port, tally, stopped.signal));
    let reported = 0;
    const bursts = Array.from({ length: CONNECTIONS }, async () => {
      while (tally.responses < wanted && child.exitCode === null) {
        const requests =
          fuzzer.random() < 0.4
            ? [fuzzer.malformedRequest()]
            : Array.from({ length: PIPELINED }, fuzzer.wellFormedRequest);
        await exchange(port, requests, tally);
        if (tally.responses - reported < 100_000) continue;
        reported = tally.responses;
        process.stdout.write(`${reported} responses\n`);
      }
    });
    await Promise.all(bursts);
    stopped.abort();
    await Promise.all(slow);
    return (performance.now() - start) / 1000;
  });
  const ledger = newLedger();
  await walk({ url, inbox: site.inbox, ledger }, AbortSignal.timeout(10_000));

  const fifths = fifthsOf(samples.map(({ rssMb }) => rssMb));
  const [early = Number.NaN, , middle = Number.NaN, , late = Number.NaN] = fifths;
  const worstLoop = Math.max(...samples.map(({ loopMs }) => loopMs));
  for (const error of tally.serverErrors) expect(false, error);
  expect(child.exitCode === null, `the server ended with ${child.exitCode}`);
  expect(ledger.verified.size === 1, 'no visitor succeeded afterwards');
  // NaN in a short run.
  expect(!(late > middle * MEMORY_LIMIT), `memory grew from ${middle.toFixed(0)} to ${late.toFixed(0)} MB`);
  expect(worstLoop <= LOOP_BLOCK_LIMIT_MS, `the event loop was blocked for ${worstLoop.toFixed(0)} ms`);

  const [sent, responses] = [tally.sent, tally.responses].map((count) => count.toLocaleString('en'));
  const megabytes = [early, middle, late].map((mb) => mb.toFixed(0)).join(', ');
  process.stdout.write(`responses by status: ${describeCounts(new Map([...tally.statuses].toSorted()))}\n`);
  return (
    `${sent} broken requests in ${seconds.toFixed(0)} s, ${responses} responses, ${tally.failed} with 5xx, ` +
    `${tally.withoutResponse} connections ended without a response; ` +
    `memory ${megabytes} MB in the first, middle and last fifth; ` +
    `event loop blocked for ${worstLoop.toFixed(0)} ms at most; seed ${seed}`
  );
});

type Tally = ReturnType<typeof createTally>;

function createTally() {
  const tally = {
    sent: 0,
    responses: 0,
    withoutResponse: 0,
    statuses: new Map<string, number>(),
    failed: 0,
    serverErrors: [] as string[],
    add: (status: string, request: string): void => {
      tally.responses += 1;
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      if (!status.startsWith('5')) return;
      tally.failed += 1;
      if (tally.failed <= 5) tally.serverErrors.push(`${status} to ${request.slice(0, 300)}`);
    },
  };
  return tally;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

function exchange(port: number, requests: readonly Buffer[], tally: Tally): Promise<void> {
  return new Promise((resolve) => {
    let responses = 0;
    let unread = '';
    const socket = connect(port, '127.0.0.1');
    const end = () => {
      clearTimeout(patience);
      if (responses === 0) tally.withoutResponse += 1;
      socket.destroy();
      resolve();
    };
    const patience = globalThis.setTimeout(end, RESPONSE_WITHIN_MS);
    socket.on('error', () => {});
    socket.on('close', end);
    socket.on('data', (chunk) => {
      const received = unread + chunk.toString('latin1');
      let matched = 0;
      for (const match of received.matchAll(STATUS_LINE)) {
        const [line, status = ''] = match;
        matched = match.index + line.length;
        // "100 Continue" is not a final response.
        if (status === '100') continue;
        tally.add(status, requests[responses]?.toString('latin1') ?? '');
        responses += 1;
      }
      unread = received.slice(Math.max(matched, received.length - 20));
      if (responses >= requests.length) end();
    });
    tally.sent += requests.length;
    socket.write(Buffer.concat(requests));
  });
}

/** Sends bodies byte by byte. */
async function drip(port: number, tally: Tally, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const socket = connect(port, '127.0.0.1');
    let open = true;
    socket.on('error', () => {});
    socket.on('close', () => (open = false));
    socket.on('data', (chunk) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1];
      if (status) tally.add(status, 'a slow body');
    });
    socket.write(`${POST}content-length: 500\r\n\r\n{"name":"`);
    while (open && !signal.aborted) {
      socket.write('x');
      await setTimeout(500);
    }
    socket.destroy();
    tally.sent += 1;
  }
}
