// Visitors for measuring speed: as many flows as asked for, and how long each took. Node's own HTTP client with connections that
// are kept; fetch costs more than the server that is measured.
import { Agent, request } from 'node:http';

import { API } from '#shared/api.ts';
import type { Sink } from '#proofs/speed/sink.ts';

type Answer = { readonly status: number; readonly cookie: string; readonly body: string };

export type Client = {
  /** Sends a form, waits for its code, enters it. @returns milliseconds; throws when anything but success is answered */
  readonly flow: () => Promise<number>;
  readonly get: (path: string) => Promise<number>;
  readonly close: () => void;
};

let visitors = 0;

/** @param url of the server that is measured */
export function createClient(url: string, sink: Sink): Client {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  const call = (
    method: string,
    path: string,
    body = '',
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          agent,
          hostname,
          port,
          method,
          path,
          headers: {
            ...headers,
            ...(body !== '' && {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(body)),
            }),
          },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => (text += chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              cookie: response.headers['set-cookie']?.map((line) => line.split(';', 1)[0]).join('; ') ?? '',
              body: text,
            }),
          );
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const expectStatus = (answer: Answer, status: number, what: string): void => {
    if (answer.status !== status) throw new Error(`${what} was answered ${answer.status}: ${answer.body}`);
  };

  return {
    flow: async () => {
      visitors += 1;
      const email = `visitor-${process.pid}-${visitors}@example.com`;
      const from = `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`;
      const start = performance.now();
      const asked = await call(
        'POST',
        API.leads,
        JSON.stringify({ name: 'Ada Lovelace', company: 'Analytical Engines', email, consent: true }),
        { 'x-forwarded-for': from },
      );
      expectStatus(asked, 202, 'A form');
      const code = await sink.codeFor(email);
      const entered = await call('POST', API.verify, JSON.stringify({ email, code }), {
        cookie: asked.cookie,
        'x-forwarded-for': from,
      });
      expectStatus(entered, 200, 'A code');
      return performance.now() - start;
    },
    get: async (path) => {
      const start = performance.now();
      expectStatus(await call('GET', path, '', { 'accept-encoding': 'br' }), 200, path);
      return performance.now() - start;
    },
    close: () => agent.destroy(),
  };
}

/** What was seen in a time. */
export type Measured = {
  readonly count: number;
  readonly seconds: number;
  /** Milliseconds each, sorted. */
  readonly times: readonly number[];
};

/** Closed loop: so many at a time, one after the other. */
export async function closedLoop(
  once: () => Promise<number>,
  { at, ms }: { at: number; ms: number },
): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: at }, async () => {
      while (performance.now() - start < ms) times.push(await once());
    }),
  );
  return measured(times, start);
}

/**
 * Open loop: so many begin in a second, whether those before have ended or not. A time counts from when a visitor should have
 * begun, so that a server which stalls cannot hide it by keeping visitors away.
 */
export async function openLoop(
  once: () => Promise<number>,
  { perSecond, ms }: { perSecond: number; ms: number },
): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  const underWay: Promise<void>[] = [];
  const total = Math.round((perSecond * ms) / 1000);
  await new Promise<void>((resolve) => {
    let begun = 0;
    const tick = setInterval(() => {
      const now = performance.now() - start;
      for (; begun < total && (begun * 1000) / perSecond <= now; begun += 1) {
        const late = now - (begun * 1000) / perSecond;
        underWay.push(once().then((time) => void times.push(time + late)));
      }
      if (begun < total) return;
      clearInterval(tick);
      resolve();
    }, 2);
  });
  await Promise.all(underWay);
  return measured(times, start);
}

const measured = (times: number[], start: number): Measured => ({
  count: times.length,
  seconds: (performance.now() - start) / 1000,
  times: times.toSorted((a, b) => a - b),
});

/** @param share such as 0.99 */
export const quantile = ({ times }: Measured, share: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
