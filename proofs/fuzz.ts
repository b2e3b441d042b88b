// A million answers to broken requests from the built server, over bare sockets: malformed HTTP, chunks, lengths, slow bodies, huge
// headers, invalid UTF-8, prototype keys, deep JSON, traversal, ranges, cookies. Nothing may be answered with a 5xx, nothing
// may crash, memory must stay flat and the event loop free. Then what broke the server once (rude-clients.ts). Usage: fuzz.ts [answers] [seed]
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { API } from '#shared/api.ts';
import { Lead } from '#shared/lead.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { startSite } from '#testing/start-site.ts';
import { residentBytes } from '#proofs/consumption.ts';
import { measuredOn, median, table, writeReport } from '#proofs/report.ts';
import { tryRudeClients } from '#proofs/rude-clients.ts';
import { conclude } from '#proofs/verdict.ts';
import { newLedger, walk, WITHOUT_LIMITS } from '#proofs/visitors.ts';

const ANSWERS = Number(process.argv[2] ?? 1_000_000);
const SEED = Number(process.argv[3] ?? Date.now() % 1_000_000);
const CONNECTIONS = 24;
/** So many well-formed requests are sent down one connection before the next. */
const PIPELINED = 24;
const SLOW_CONNECTIONS = 40;
const METRICS_PORT = 20_000 + (process.pid % 20_000);
const LOOK_EVERY_MS = 1_000;
const LOOP_BLOCK_LIMIT_MS = 200;
/** In the first half heaps and caches grow into their size; in the second, memory may breathe by this much. */
const MEMORY_LIMIT = 1.05;
const ANSWER_WITHIN_MS = 20_000;

/** mulberry32: the same seed makes the same million. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
const random = createRandom(SEED);
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256)));
const text = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(33 + below(94))).join('');

// ---- what a body can be ----

const NASTY: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  Number.MAX_VALUE,
  '',
  ' ',
  'x',
  '\u0000',
  '\ud800',
  '\u202e',
  '\r\nBcc: a@example.com',
  [],
  {},
  [[]],
  { toString: 'x' },
  { $ne: null },
  '__proto__',
  'constructor',
  '%00',
  '../../etc/passwd',
  "' or 1=1 --",
  '${7*7}',
  '<script>',
  'a'.repeat(300),
  '9'.repeat(400),
  'ｆｕｌｌ',
  '👩‍👩‍👧',
  'ada@example.com',
  '123456',
  '12345６',
  `${'a'.repeat(60)}@${'b.'.repeat(90)}example`,
  `a@${'a-'.repeat(60)}.com`,
  'a@'.repeat(100),
];

function mutatedForm(): string {
  const body: Record<string, unknown> =
    random() < 0.5 ? filledForm() : { email: 'ada@example.com', code: '000000' };
  for (let count = 1 + below(3); count > 0; count -= 1) {
    const key = pick([...Object.keys(Lead.shape), 'code', 'website', 'id', text(4)]);
    body[key] = pick(NASTY);
  }
  return JSON.stringify(body);
}

const BODIES: readonly (() => string | Buffer)[] = [
  mutatedForm,
  mutatedForm,
  mutatedForm,
  () => '{"__proto__":{"email":"ada@example.com"},"name":"Ada"}',
  () => '{"constructor":{"prototype":{"consent":true}}}',
  () => `{"email":${'['.repeat(7_000)}${']'.repeat(7_000)}}`,
  () => '{"a":'.repeat(2_500) + '1' + '}'.repeat(2_500),
  () => bytes(below(200)),
  () => Buffer.concat([Buffer.from('{"email":"'), bytes(20), Buffer.from('"}')]),
  () => text(below(3_000)),
  () => '',
  () => JSON.stringify(pick(NASTY)),
  () => `{"name":"${'\\u0000'.repeat(below(400))}"}`,
  () => mutatedForm().slice(0, -1 - below(10)),
  () => `{"email":${'9'.repeat(below(5_000))}}`,
];

const TYPES = [
  'application/json',
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=latin1',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
  ';;;',
  'a/b/c',
  `application/${'j'.repeat(500)}`,
];
const PATHS = [
  ...Object.values(API),
  ...Object.values(API),
  '/',
  '/404',
  '/assets/',
  '/media/film.mp4',
  '/fonts/newsreader.woff2',
  '/robots.txt',
  '/../../etc/passwd',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/assets/..%2f..%2fserver/main.ts',
  '/media/%00',
  '/%ff%fe',
  '/media/%c0%ae%c0%ae/',
  '//example.com/',
  '/api',
  '/api//leads',
  '/api/leads/',
  '/API/LEADS',
  '/api/article?x=1',
  '/.env',
  '/data/leads.db',
  '/%',
  '/?%',
  '/api/challenge?id=%E0%A4%A',
  `/${'a/'.repeat(900)}`,
  '/api/challenge?id[]=1&id[]=2',
  '/api/challenge?__proto__[x]=1',
];
const HEADERS: readonly (() => string)[] = [
  () => `cookie: challenge=${text(40)}`,
  () => `cookie: session=${text(20)}.${text(43)}; challenge=${text(20)}.${text(43)}`,
  () => `cookie: ${'a=b; '.repeat(below(300))}`,
  () => `cookie: __proto__=1; constructor=2; =;;;=`,
  () =>
    `range: bytes=${pick(['0-', '-1', '5-2', '99999999999-', '0-0,1-1,2-2', 'a-b', '0-'.repeat(200), '-', '-0'])}`,
  () => `if-none-match: ${text(50)}`,
  () => `if-modified-since: ${text(20)}`,
  () => `accept-encoding: ${pick(['br', 'gzip', '*;q=0', 'br;q=x', ', '.repeat(500), text(100)])}`,
  () =>
    `x-forwarded-for: ${pick(['1.2.3.4', '::1', 'unknown', '1, 2, 3', ','.repeat(300), text(60), text(7_000), `1.2.3.4, ${text(7_000)}`, '203.0.113.7:4711', '[::1]:80', 'fe80::1%x'])}`,
  () =>
    `x-proof-of-work: ${pick([text(200), Buffer.from('{"challenge":{"parameters":{}},"solution":{}}').toString('base64'), ''])}`,
  () => `referer: http://x/?utm_source=${text(800)}`,
  () => `user-agent: ${text(below(900))}`,
  () => `x-request-id: ${text(30)}`,
  () => `sec-fetch-site: ${pick(['same-origin', 'none', 'x'])}`,
  () => `accept: ${text(60)}`,
  () => `expect: 100-continue`,
];

/** A request that is whole, so that others can follow it on the same connection. */
function wholeRequest(): Buffer {
  const method = pick([
    'GET',
    'GET',
    'GET',
    'HEAD',
    'POST',
    'POST',
    'POST',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
  ]);
  const lines = [`${method} ${pick(PATHS)} HTTP/1.1`, 'host: 127.0.0.1'];
  for (let count = below(4); count > 0; count -= 1) lines.push(pick(HEADERS)());
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  const body = Buffer.from(pick(BODIES)());
  lines.push(`content-type: ${pick(TYPES)}`);
  if (random() < 0.2) {
    lines.push('transfer-encoding: chunked');
    const half = below(body.length + 1);
    const chunks = [body.subarray(0, half), body.subarray(half)].filter((chunk) => chunk.length > 0);
    return Buffer.concat([
      Buffer.from(`${lines.join('\r\n')}\r\n\r\n`),
      ...chunks.flatMap((chunk) => [
        Buffer.from(`${chunk.length.toString(16)}\r\n`),
        chunk,
        Buffer.from('\r\n'),
      ]),
      Buffer.from('0\r\n\r\n'),
    ]);
  }
  lines.push(`content-length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}

const POST = `POST ${API.leads} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;
/** What ends its connection. */
const BROKEN: readonly (() => string | Buffer)[] = [
  () => bytes(1 + below(300)),
  () => `${text(10)} / HTTP/1.1\r\n\r\n`,
  () => `GET / HTTP/${below(10)}.${below(10)}\r\nhost: x\r\n\r\n`,
  () => `GET /${bytes(20).toString('latin1')} HTTP/1.1\r\nhost: x\r\n\r\n`,
  () => `GET / HTTP/1.1\r\n\r\n`,
  () => `GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n`,
  () => `GET / HTTP/1.1\r\nhost: x\r\n${text(5)}: ${'y'.repeat(20_000)}\r\n\r\n`,
  () => `GET / HTTP/1.1\r\nhost: x\r\n${`${text(5)}: z\r\n`.repeat(2_500)}\r\n`,
  () => `GET / HTTP/1.1\r\nhost: x\r\nfoo bar: z\r\n\r\n`,
  () => `GET / HTTP/1.1\r\nhost: x\r\n folded: z\r\n\r\n`,
  () => `GET / HTTP/1.1\nhost: x\n\n`,
  () => `${POST}content-length: ${pick(['-1', 'x', '1e9', '99999999999999999999', '5, 6', ''])}\r\n\r\nhello`,
  () =>
    `${POST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n`,
  () => `${POST}content-length: 10\r\ncontent-length: 11\r\n\r\nhello12345`,
  () =>
    `${POST}transfer-encoding: chunked\r\n\r\n${pick(['-1', 'zz', 'ffffffffffffffffff', '5;'.repeat(3_000)])}\r\nhello\r\n0\r\n\r\n`,
  () =>
    `${POST}transfer-encoding: ${pick(['gzip', 'chunked, chunked', 'xchunked', ' chunked'])}\r\n\r\n0\r\n\r\n`,
  () => `${POST}content-length: 20000000\r\n\r\n${'x'.repeat(30_000)}`,
  () => `CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n`,
  () => `GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
  () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  () => `GET http://example.com/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  () => `OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
];

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

/** Sends it down a connection of its own; resolves when so many answers came, or the server hung up. */
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
        // "100 Continue" announces an answer and is none.
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

/** Connections that send a byte now and then, and never finish. */
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

const site = await startSite({
  // Behind a proxy, as far as the server knows: what stands in X-Forwarded-For counts.
  env: { ...WITHOUT_LIMITS, TRUST_PROXY: '1', LOG_LEVEL: 'fatal', METRICS_PORT: String(METRICS_PORT) },
});
process.stdout.write(`Seed ${SEED}\n`);
const { port, child } = site;
const pid = child.pid ?? 0;
const over = new AbortController();
const slow = Array.from({ length: SLOW_CONNECTIONS }, () => drip(port, over.signal));
const looks: Look[] = [];
const watching = (async () => {
  while (!over.signal.aborted) {
    looks.push(await look(pid));
    await setTimeout(LOOK_EVERY_MS);
  }
})();

const start = performance.now();
let announced = 0;
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    while (answered < ANSWERS && child.exitCode === null) {
      const requests =
        random() < 0.4 ? [Buffer.from(pick(BROKEN)())] : Array.from({ length: PIPELINED }, wholeRequest);
      await exchange(port, requests);
      if (answered - announced >= 100_000) {
        announced = answered;
        process.stdout.write(`${answered} answers, ${looks.at(-1)?.rssMb.toFixed(0)} MB\n`);
      }
    }
  }),
);
const seconds = (performance.now() - start) / 1000;
over.abort();
await Promise.all([...slow, watching]);

// After all that, a visitor comes.
const ledger = newLedger();
await walk({ url: site.url, inbox: site.inbox, ledger }, AbortSignal.timeout(10_000));

const fifth = Math.ceil(looks.length / 5);
const memoryIn = (from: number): number =>
  median(looks.slice(from * fifth, (from + 1) * fifth).map(({ rssMb }) => rssMb));
const [early, middle, late] = [memoryIn(0), memoryIn(2), memoryIn(4)];
const worstLoop = Math.max(...looks.map(({ loopMs }) => loopMs));
const broken: string[] = [...serverErrors];
if (child.exitCode !== null) broken.push(`the server ended with ${child.exitCode}`);
if (ledger.verified.size !== 1) broken.push('no visitor could come through afterwards');
if (late > middle * MEMORY_LIMIT)
  broken.push(`memory grew from ${middle.toFixed(0)} to ${late.toFixed(0)} MB`);
if (worstLoop > LOOP_BLOCK_LIMIT_MS) broken.push(`the event loop was blocked for ${worstLoop.toFixed(0)} ms`);
await site.close();
const rude = await tryRudeClients({ metricsPort: METRICS_PORT + 1, nasty: NASTY, text });
broken.push(...rude.broken);
await writeReport(
  'reliability.md',
  'fuzz',
  `${measuredOn()} Seed ${SEED}.\n\n${table(
    ['what', 'seen'],
    [
      ['requests sent', `${sent.toLocaleString('en')} in ${seconds.toFixed(0)} s`],
      ['answered', answered.toLocaleString('en')],
      ['connections ended without an answer', unanswered.toLocaleString('en')],
      [
        'answers by status',
        [...statuses]
          .toSorted()
          .map(([status, number]) => `${status}: ${number.toLocaleString('en')}`)
          .join(', '),
      ],
      [
        '5xx',
        String(
          [...statuses]
            .filter(([status]) => status.startsWith('5'))
            .reduce((sum, [, number]) => sum + number, 0),
        ),
      ],
      [
        'memory, median of the first, the middle and the last fifth of the run',
        `${early.toFixed(0)} MB, ${middle.toFixed(0)} MB, ${late.toFixed(0)} MB`,
      ],
      ['longest block of the event loop', `${worstLoop.toFixed(0)} ms`],
      ['a visitor afterwards', ledger.verified.size === 1 ? 'came through' : 'did not come through'],
      ...rude.rows,
    ],
  )}`,
);
conclude(broken);
