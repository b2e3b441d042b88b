// Valid requests with nonsensical content, and bytes that are not a request.
import { API } from '#shared/api.ts';
import { LeadForm } from '#shared/lead.ts';
import { filledForm } from '#testing/server-under-test.ts';
import { createRandom } from '#testing/random.ts';
import { words } from '#testing/words.ts';

export type Fuzzer = {
  readonly random: () => number;
  readonly wellFormedRequest: () => Buffer;
  readonly malformedRequest: () => Buffer;
};

const ODD_VALUES: readonly unknown[] = [
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
  ...words(
    '__proto__ constructor %00 ../../etc/passwd ${7*7} <script> ｆｕｌｌ 👩‍👩‍👧 ada@example.com 123456 12345６',
  ),
  "' or 1=1 --",
  'a'.repeat(300),
  '9'.repeat(400),
  `${'a'.repeat(60)}@${'b.'.repeat(90)}example`,
  `a@${'a-'.repeat(60)}.com`,
  'a@'.repeat(100),
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
  ...words(`
    / /404 /assets/ /media/film.mp4 /fonts/newsreader.woff2 /fonts/hanken-grotesk.woff2 /robots.txt
    /../../etc/passwd /%2e%2e/%2e%2e/etc/passwd /assets/..%2f..%2fserver/main.ts /media/%00 /%ff%fe
    /media/%c0%ae%c0%ae/ //example.com/ /api /api//leads /api/leads/ /API/LEADS /api/article?x=1
    /.env /data/leads.db /% /?% /api/challenge?id=%E0%A4%A /api/challenge?id[]=1&id[]=2
    /api/challenge?__proto__[x]=1`),
  `/${'a/'.repeat(900)}`,
];
const METHODS = words('GET GET GET HEAD POST POST POST POST PUT DELETE PATCH OPTIONS');

export const POST = `POST ${API.leads} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n`;
export function createFuzzer(seed: number): Fuzzer {
  const random = createRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256)));
  const text = (length: number): string =>
    Array.from({ length }, () => String.fromCharCode(33 + below(94))).join('');

  function mutatedForm(): string {
    const body: Record<string, unknown> =
      random() < 0.5 ? filledForm() : { email: 'ada@example.com', code: '000000' };
    for (let count = 1 + below(3); count > 0; count -= 1) {
      const key = pick([...Object.keys(LeadForm.shape), 'code', 'website', 'id', text(4)]);
      body[key] = pick(ODD_VALUES);
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
    () => JSON.stringify(pick(ODD_VALUES)),
    () => `{"name":"${'\\u0000'.repeat(below(400))}"}`,
    () => mutatedForm().slice(0, -1 - below(10)),
    () => `{"email":${'9'.repeat(below(5_000))}}`,
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

  function wellFormedRequest(): Buffer {
    const method = pick(METHODS);
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

  const MALFORMED_REQUESTS: readonly (() => string | Buffer)[] = [
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
    () =>
      `${POST}content-length: ${pick(['-1', 'x', '1e9', '99999999999999999999', '5, 6', ''])}\r\n\r\nhello`,
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

  return { random, wellFormedRequest, malformedRequest: () => Buffer.from(pick(MALFORMED_REQUESTS)()) };
}
