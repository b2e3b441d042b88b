// HTTP's own rules for something that is in memory: which encoding, which part, or that nothing has changed (RFC 9110,
// sections 12 to 14). Nothing is copied for a reader: its answer is a slice of the one buffer, however slowly it reads.
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import type { SendError } from '#server/http/errors.ts';

/** What a resource can be sent as, the smallest first. */
const ENCODINGS = ['br', 'gzip', 'identity'] as const;
type Encoding = (typeof ENCODINGS)[number];

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The bytes of one encoding. Its tag is made of them, so no two encodings share one. */
export type Representation = { readonly body: Buffer; readonly etag: string };

export type Resource = {
  readonly type: string;
  readonly cacheControl: string;
  readonly representations: Readonly<Partial<Record<Encoding, Representation>>> & {
    readonly identity: Representation;
  };
};

/** @param body is kept, not copied */
export const representation = (body: Buffer): Representation => ({
  body,
  etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
});

/** A text in every encoding, compressed once and as small as it gets. */
export function textResource(text: string, type: string, cacheControl: string): Resource {
  const plain = Buffer.from(text);
  return {
    type,
    cacheControl,
    representations: {
      br: representation(brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })),
      gzip: representation(gzipSync(plain, { level: 9 })),
      identity: representation(plain),
    },
  };
}

/** What of a resource suits a request, and how to send it or a part of it. */
function suit({ headers }: FastifyRequest, reply: FastifyReply, resource: Resource) {
  const { type, cacheControl, representations } = resource;
  const available = ENCODINGS.filter((encoding) => representations[encoding] !== undefined);
  if (available.length > 1) void reply.header('vary', 'accept-encoding');
  const encoding = chooseEncoding(headers['accept-encoding'], available);
  const { body, etag } = representations[encoding] ?? representations.identity;
  const send = (bytes: Buffer) => {
    if (encoding !== 'identity') void reply.header('content-encoding', encoding);
    return reply.header('cache-control', cacheControl).type(type).send(bytes);
  };
  return { body, etag, send };
}

/** Answers with all of a resource, whatever the request's conditions: for what nobody keeps. */
export function sendWhole(request: FastifyRequest, reply: FastifyReply, resource: Resource): FastifyReply {
  const { body, send } = suit(request, reply, resource);
  return send(body);
}

/**
 * Answers a GET or HEAD with a resource. If the reply has another status than 200 already, it is sent whole.
 * Errors: 412 `precondition-failed`, 416 `range-not-satisfiable`.
 */
export function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
  sendError: SendError,
): FastifyReply {
  const { cacheControl } = resource;
  const { headers, method } = request;
  const { body, etag, send } = suit(request, reply, resource);
  if (reply.statusCode !== 200) return send(body);

  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined && !names(ifMatch, etag)) return sendError(reply, 'precondition-failed');
  const ifNoneMatch = headers['if-none-match'];
  // The comparison is a weak one: a proxy that compresses on its own way marks our tag as weak.
  if (ifNoneMatch !== undefined && names(ifNoneMatch.replaceAll('W/', ''), etag))
    return reply.code(304).header('cache-control', cacheControl).header('etag', etag).send();

  // Ranges are defined for GET alone.
  const range = method === 'GET' && (headers['if-range'] ?? etag) === etag ? headers.range : undefined;
  const part = range === undefined ? 'whole' : readRange(range, body.length);
  if (part === 'unsatisfiable')
    return sendError(reply.header('content-range', `bytes */${body.length}`), 'range-not-satisfiable');
  void reply.header('etag', etag).header('accept-ranges', 'bytes');
  if (part === 'whole') return send(body);
  void reply.code(206).header('content-range', `bytes ${part.first}-${part.last}/${body.length}`);
  return send(body.subarray(part.first, part.last + 1));
}

/** Far beyond what browsers send. Thousands of commas would keep the parser busy for milliseconds. */
const ACCEPT_ENCODING_MAX_LENGTH = 500;

function chooseEncoding(accepted: string | undefined, available: readonly Encoding[]): Encoding {
  if (accepted === undefined || accepted.length > ACCEPT_ENCODING_MAX_LENGTH) return 'identity';
  const negotiator = new Negotiator({ headers: { 'accept-encoding': accepted } });
  // Whoever accepts nothing that we have is better served with the plain bytes than with a 406; both are allowed.
  return negotiator.encoding(available, { preferred: ENCODINGS }) ?? 'identity';
}

/** Whether a list of entity tags, as If-Match and If-None-Match carry it, has this one. */
function names(list: string, etag: string): boolean {
  return list.trim() === '*' || list.match(/(?:W\/)?"[^"]*"/g)?.includes(etag) === true;
}

type Part = { readonly first: number; readonly last: number };

/**
 * Reads a Range header. Several ranges at once are answered with everything, which is allowed and no player asks for;
 * so is what is malformed or of another unit.
 * @param length of what the range is taken from, in bytes
 */
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
