// Readers of one file: they ask, read the answer to its end and ask again. On bare sockets, because an HTTP client takes more of
// a processor than the server that answers it.
import { connect } from 'node:net';

import type { Measured } from '#proofs/speed/loops.ts';

const BUFFER_BYTES = 64 * 1024;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/**
 * Lets readers read a file for some time.
 * @param path of the file
 * @param options at: how many readers at a time
 * @returns what they saw; rejects when anything but 200 is answered, or a connection ends
 */
export async function readersOf(
  url: string,
  path: string,
  { at, ms }: { at: number; ms: number },
): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  const end = start + ms;
  await Promise.all(Array.from({ length: at }, () => beReader(url, path, end, times)));
  const seconds = (performance.now() - start) / 1000;
  return {
    count: times.length,
    failed: 0,
    failure: null,
    seconds,
    times: times.toSorted((a, b) => a - b),
  };
}

/** How long the body of a file is as it travels. */
export async function bytesOf(url: string, path: string): Promise<number> {
  const response = await fetch(url + path, { method: 'HEAD', headers: { 'accept-encoding': 'br' } });
  return Number(response.headers.get('content-length'));
}

function beReader(url: string, path: string, end: number, times: number[]): Promise<void> {
  const { hostname, port } = new URL(url);
  // A browser's name: who has none is not counted (server/funnel/counter.ts), and what is measured is what visitors cost.
  const asked = `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept-encoding: br\r\nuser-agent: ${BROWSER}\r\n\r\n`;
  return new Promise((resolve, reject) => {
    let begun = 0;
    /** Of the answer that is being read; null: its head has not come yet. */
    let missing: number | null = null;

    const ask = () => {
      begun = performance.now();
      socket.write(asked);
    };
    const read = (count: number, bytes: Uint8Array): boolean => {
      if (missing === null) {
        const lengths = readHead(Buffer.from(bytes.buffer, bytes.byteOffset, count));
        if (lengths === null) {
          socket.destroy(new Error(`${path} was not answered 200 with a length.`));
          return false;
        }
        missing = lengths.head + lengths.body;
      }
      missing -= count;
      if (missing > 0) return true;
      missing = null;
      const now = performance.now();
      times.push(now - begun);
      if (now < end) ask();
      else socket.end();
      return true;
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.allocUnsafe(BUFFER_BYTES), callback: read },
    });
    socket.setNoDelay(true);
    socket.once('connect', ask);
    socket.once('error', reject);
    socket.once('close', () => {
      if (performance.now() >= end) resolve();
      else reject(new Error(`A connection on which ${path} was read has ended.`));
    });
  });
}

/** @param bytes the beginning of an answer; servers write the head in one piece. @returns null when it is not a 200 */
function readHead(bytes: Buffer): { head: number; body: number } | null {
  const head = bytes.indexOf('\r\n\r\n') + 4;
  const text = bytes.toString('latin1', 0, head);
  const body = /^content-length: (\d+)/im.exec(text)?.[1];
  return text.startsWith('HTTP/1.1 200') && body !== undefined ? { head, body: Number(body) } : null;
}
