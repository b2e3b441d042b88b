// Sends a resource from memory according to encoding, range and conditions (RFC 9110, sections 12 to 14). Responses share one
// buffer and prebuilt headers.
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { SendError } from '#server/http/errors.ts';
import type { ResponseHeaders } from '#server/http/security-headers.ts';

/** Smallest first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

export const JSON_TYPE = 'application/json; charset=utf-8';

type Representation = {
  readonly body: Buffer;
  readonly etag: string;
  readonly encodingHeaders: ResponseHeaders;
};

export type Resource = {
  readonly representationFor: (accepted: string | undefined) => Representation;
  readonly vary: ResponseHeaders;
  /** Sent with every response, including 304. */
  readonly headers: ResponseHeaders;
  readonly type: string;
};

type Bodies = Readonly<Partial<Record<Encoding, Buffer | (() => Buffer)>>> & { readonly identity: Buffer };

export function createResource(options: {
  etagPrefix?: string | undefined;
  type: string;
  cacheControl: string;
  bodies: Bodies;
  headers?: ResponseHeaders;
}): Resource {
  const { type, cacheControl, bodies, headers, etagPrefix = '' } = options;
  const available = ENCODINGS.filter((encoding) => bodies[encoding] !== undefined);
  const vary: ResponseHeaders = available.length > 1 ? { vary: 'accept-encoding' } : {};
  const represent = (encoding: Encoding, body: Buffer): Representation => {
    const etag = `"${etagPrefix}${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const encodingHeaders = encoding === 'identity' ? {} : { 'content-encoding': encoding };
    return { body, etag, encodingHeaders };
  };
  const cached = new Map<Encoding, Representation>();
  return {
    representationFor: (accepted) => {
      const encoding = chooseEncoding(accepted, available);
      const existing = cached.get(encoding);
      if (existing !== undefined) return existing;
      const body = bodies[encoding] ?? bodies.identity;
      const representation = represent(encoding, typeof body === 'function' ? body() : body);
      cached.set(encoding, representation);
      return representation;
    },
    vary,
    headers: { ...headers, ...vary, 'cache-control': cacheControl },
    type,
  };
}

export function textResource(
  text: string,
  options: Omit<Parameters<typeof createResource>[0], 'bodies'>,
): Resource {
  const plain = Buffer.from(text);
  return createResource({
    ...options,
    bodies: {
      br: () => brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
      gzip: () => gzipSync(plain, { level: 9 }),
      identity: plain,
    },
  });
}

/** Sends the whole resource, ignoring conditions. For uncached resources, and for statuses other than 200. */
export function sendWhole(request: FastifyRequest, reply: FastifyReply, resource: Resource): FastifyReply {
  const { body, encodingHeaders } = resource.representationFor(request.headers['accept-encoding']);
  return reply.headers(resource.headers).headers(encodingHeaders).type(resource.type).send(body);
}

/** Error: 416 `range-not-satisfiable`. */
export function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  sendError: SendError,
): FastifyReply {
  if (reply.statusCode !== 200) return sendWhole(request, reply, resource);
  const { method, headers } = request;
  const { body, etag, encodingHeaders } = resource.representationFor(headers['accept-encoding']);
  const ifNoneMatch = headers['if-none-match'];
  // Compares weakly, because a proxy that compresses the response marks our tag as weak.
  if (ifNoneMatch !== undefined && listsEtag(ifNoneMatch.replaceAll('W/', ''), etag))
    return reply.headers(resource.headers).header('etag', etag).code(304).send();

  // Ranges are defined only for GET.
  const range = method === 'GET' && (headers['if-range'] ?? etag) === etag ? headers.range : undefined;
  const part = range === undefined ? 'whole' : readRange(range, body.length);
  if (part === 'unsatisfiable')
    return sendError(
      reply.headers(resource.vary).header('content-range', `bytes */${body.length}`),
      'range-not-satisfiable',
    );
  void reply.header('etag', etag).header('accept-ranges', 'bytes');
  if (part === 'whole') return sendWhole(request, reply, resource);
  const { first, last } = part;
  return reply
    .headers(resource.headers)
    .headers(encodingHeaders)
    .type(resource.type)
    .header('content-range', `bytes ${first}-${last}/${body.length}`)
    .code(206)
    .send(body.subarray(first, last + 1));
}

/** Thousands of commas would block the parser for milliseconds. */
const ACCEPT_ENCODING_MAX_LENGTH = 500;

function chooseEncoding(accepted: string | undefined, available: readonly Encoding[]): Encoding {
  if (accepted === undefined || accepted.length > ACCEPT_ENCODING_MAX_LENGTH) return 'identity';
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } });
  // If none of our encodings is acceptable, plain bytes help more than a 406.
  return negotiator.encoding(available, { preferred: ENCODINGS }) ?? 'identity';
}

function listsEtag(list: string, etag: string): boolean {
  return list.trim() === '*' || list.match(/(?:W\/)?"[^"]*"/g)?.includes(etag) === true;
}

type ByteRange = { readonly first: number; readonly last: number };

/** Returns `whole` for several ranges, a malformed range or a unit other than bytes. */
function readRange(range: string, length: number): ByteRange | 'whole' | 'unsatisfiable' {
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
