// Sends a resource from memory, by encoding, range and conditions (RFC 9110, sections 12 to 14). Responses share one buffer and
// prebuilt headers.
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { SendError } from '#server/http/errors.ts';
import { addHeaders, type HeaderList } from '#server/http/security-headers.ts';

/** Smallest first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

export const JSON_TYPE = 'application/json; charset=utf-8';

type Representation = {
  readonly body: Buffer;
  readonly etag: string;
  readonly bare: HeaderList;
  readonly whole: HeaderList;
  readonly part: HeaderList;
  readonly unchanged: HeaderList;
};

export type Resource = {
  readonly representationFor: (accepted: string | undefined) => Representation;
  readonly vary: HeaderList;
};

type Bodies = Readonly<Partial<Record<Encoding, Buffer | (() => Buffer)>>> & { readonly identity: Buffer };

export function createResource({
  type,
  cacheControl,
  bodies,
  always,
  mark = '',
}: {
  mark?: string | undefined;
  type: string;
  cacheControl: string;
  bodies: Bodies;
  always: HeaderList;
}): Resource {
  const available = ENCODINGS.filter((encoding) => bodies[encoding] !== undefined);
  const vary = available.length > 1 ? ['vary', 'accept-encoding'] : [];
  const represent = (encoding: Encoding, body: Buffer): Representation => {
    const etag = `"${mark}${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const encoded = encoding === 'identity' ? [] : ['content-encoding', encoding];
    const kept = [...always, ...vary, 'cache-control', cacheControl];
    const bare = [...kept, ...encoded, 'content-type', type];
    const part = [...bare, 'etag', etag, 'accept-ranges', 'bytes'];
    return {
      body,
      etag,
      bare,
      part,
      whole: [...part, 'content-length', String(body.length)],
      unchanged: [...kept, 'etag', etag],
    };
  };
  const made = new Map<Encoding, Representation>();
  const chooseEncoding = createChooseEncoding(available);
  return {
    representationFor: (accepted) => {
      const encoding = chooseEncoding(accepted);
      const known = made.get(encoding);
      if (known !== undefined) return known;
      const body = bodies[encoding] ?? bodies.identity;
      const representation = represent(encoding, typeof body === 'function' ? body() : body);
      made.set(encoding, representation);
      return representation;
    },
    vary,
  };
}

export function textResource(
  text: string,
  parts: Omit<Parameters<typeof createResource>[0], 'bodies'>,
): Resource {
  const plain = Buffer.from(text);
  return createResource({
    ...parts,
    bodies: {
      br: () => brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
      gzip: () => gzipSync(plain, { level: 9 }),
      identity: plain,
    },
  });
}

type ResourceAnswer =
  | {
      readonly type: 'answer';
      readonly status: 200 | 206 | 304;
      readonly headers: HeaderList;
      readonly body: Buffer | undefined;
    }
  | {
      readonly type: 'refusal';
      readonly code: 'precondition-failed' | 'range-not-satisfiable';
      readonly headers: HeaderList;
    };

function answerFor(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  resource: Resource,
): ResourceAnswer {
  const { body, etag, part, whole, unchanged } = resource.representationFor(headers['accept-encoding']);

  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !names(ifMatch, etag))
    return { type: 'refusal', code: 'precondition-failed', headers: resource.vary };
  const ifNoneMatch = headers['if-none-match'];
  // A weak comparison, because a proxy that compresses the response marks our tag as weak.
  if (ifNoneMatch !== undefined && names(ifNoneMatch.replaceAll('W/', ''), etag))
    return { type: 'answer', status: 304, headers: unchanged, body: undefined };

  const range = method === 'GET' && (headers['if-range'] ?? etag) === etag ? headers.range : undefined;
  const wanted = range === undefined ? 'whole' : readRange(range, body.length);
  if (wanted === 'whole') return { type: 'answer', status: 200, headers: whole, body };
  if (wanted === 'unsatisfiable') {
    const end = ['content-range', `bytes */${body.length}`];
    return { type: 'refusal', code: 'range-not-satisfiable', headers: [...resource.vary, ...end] };
  }
  const { first, last } = wanted;
  const place = ['content-range', `bytes ${first}-${last}/${body.length}`];
  const length = ['content-length', String(last - first + 1)];
  return {
    type: 'answer',
    status: 206,
    headers: [...part, ...place, ...length],
    body: body.subarray(first, last + 1),
  };
}

/** For uncached resources and statuses other than 200; ignores conditions. */
export function sendWhole(request: FastifyRequest, reply: FastifyReply, resource: Resource): FastifyReply {
  const { bare, body } = resource.representationFor(request.headers['accept-encoding']);
  return addHeaders(reply, bare).send(body);
}

/** Errors: 412 `precondition-failed`, 416 `range-not-satisfiable`. */
export function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  sendError: SendError,
): FastifyReply {
  if (reply.statusCode !== 200) return sendWhole(request, reply, resource);
  const answer = answerFor(request, resource);
  addHeaders(reply, answer.headers);
  return answer.type === 'refusal'
    ? sendError(reply, answer.code)
    : reply.code(answer.status).send(answer.body);
}

/** Thousands of commas would block the parser for milliseconds. */
const ACCEPT_ENCODING_MAX_LENGTH = 500;
const MOST_REMEMBERED = 50;

/** The cache is limited, so invented headers cannot fill memory. */
function createChooseEncoding(available: readonly Encoding[]): (accepted: string | undefined) => Encoding {
  const remembered = new Map<string, Encoding>();
  return (accepted) => {
    if (accepted === undefined || accepted.length > ACCEPT_ENCODING_MAX_LENGTH) return 'identity';
    const known = remembered.get(accepted);
    if (known !== undefined) return known;
    const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } });
    // If none of our encodings is acceptable, plain bytes help more than a 406.
    const chosen = negotiator.encoding(available, { preferred: ENCODINGS }) ?? 'identity';
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(accepted, chosen);
    return chosen;
  };
}

function names(list: string, etag: string): boolean {
  return list.trim() === '*' || list.match(/(?:W\/)?"[^"]*"/g)?.includes(etag) === true;
}

type Part = { readonly first: number; readonly last: number };

/** Several ranges, a malformed one or another unit get the whole resource. */
function readRange(range: string, length: number): Part | 'whole' | 'unsatisfiable' {
  const [, from, to] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(range) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') {
    const first = Math.max(0, length - Number(to));
    return first < length ? { first, last: length - 1 } : 'unsatisfiable';
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'whole';
  if (first >= length) return 'unsatisfiable';
  return { first, last: to === '' ? length - 1 : Math.min(Number(to), length - 1) };
}
