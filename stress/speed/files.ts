// The page and a file, compared with a minimal server's responses of the same size.
import { connect } from 'node:net';

import { defineCase } from '#stress/harness/cases.ts';
import { compare, paceOf } from '#stress/speed/compare.ts';
import { withBoth } from '#stress/speed/contestants.ts';
import type { Measured } from '#stress/speed/loops.ts';
import { startSink } from '#stress/speed/sink.ts';

const READERS = 64;
const BUFFER_BYTES = 64 * 1024;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

export const files = defineCase({ short: false }, async (trial, { short }) => {
  await using sink = await startSink();
  const pace = paceOf(short);
  const rows = trial.rows();
  await withBoth({ trial, engine: 'sqlite', sink }, async (both) => {
    const [{ url }] = both;
    const page = await (await fetch(url)).text();
    const application = /data-app="([^"]+)"/.exec(page)?.[1] ?? '';
    for (const [name, path] of [
      ['the page', '/'],
      ['the application’s first file', application],
    ] as const) {
      const bytes = await bytesOf(url, path);
      const read = (contestant: (typeof both)[number], ms: number) =>
        measureReaders(contestant.url, contestant.name === 'ours' ? path : `/bytes/${bytes}`, ms);
      for (const contestant of both) await read(contestant, pace.warmUpMs);
      const run = (contestant: (typeof both)[number]) => read(contestant, pace.turnMs);
      await compare({ trial, rows, pace }, both, { name, run });
    }
  });
  return null;
});

/** Readers of one file in a loop, on raw sockets: an HTTP client would use more processor time than the server. */
async function measureReaders(url: string, path: string, ms: number): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  const end = start + ms;
  await Promise.all(Array.from({ length: READERS }, () => readRepeatedly(url, path, end, times)));
  const seconds = (performance.now() - start) / 1000;
  return {
    count: times.length,
    failed: 0,
    failure: null,
    seconds,
    times: times.toSorted((a, b) => a - b),
  };
}

async function bytesOf(url: string, path: string): Promise<number> {
  const response = await fetch(url + path, { method: 'HEAD', headers: { 'accept-encoding': 'br' } });
  return Number(response.headers.get('content-length'));
}

function readRepeatedly(url: string, path: string, end: number, times: number[]): Promise<void> {
  const { hostname, port } = new URL(url);
  // Has a browser's user agent, because the funnel ignores others, and its cost must be measured.
  const request = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept-encoding: br\r\nuser-agent: ${BROWSER}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    let startedAt = 0;
    /** Remaining bytes of the current body; null before its head. */
    let remaining: number | null = null;

    const sendRequest = () => {
      startedAt = performance.now();
      socket.write(request);
    };
    const read = (count: number, bytes: Uint8Array): boolean => {
      if (remaining === null) {
        const lengths = readHead(Buffer.from(bytes.buffer, bytes.byteOffset, count));
        if (lengths === null) {
          socket.destroy(new Error(`${path} did not return 200 with a length.`));
          return false;
        }
        remaining = lengths.head + lengths.body;
      }
      remaining -= count;
      if (remaining > 0) return true;
      remaining = null;
      const now = performance.now();
      times.push(now - startedAt);
      if (now < end) sendRequest();
      else socket.end();
      return true;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.allocUnsafe(BUFFER_BYTES), callback: read },
    });
    socket.setNoDelay(true);
    socket.once('connect', sendRequest);
    socket.once('error', reject);
    socket.once('close', () => {
      if (performance.now() >= end) resolve();
      else reject(new Error(`A connection closed while reading ${path}.`));
    });
  });
}

/**
 * @param bytes the beginning of a response; servers write the head in one piece
 * @returns null unless the status is 200
 */
function readHead(bytes: Buffer): { head: number; body: number } | null {
  const head = bytes.indexOf('\r\n\r\n') + 4;
  const text = bytes.toString('latin1', 0, head);
  const body = /^content-length: (\d+)/im.exec(text)?.[1];
  return text.startsWith('HTTP/1.1 200') && body !== undefined ? { head, body: Number(body) } : null;
}
