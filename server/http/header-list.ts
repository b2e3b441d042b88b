// Lists of headers as Node's `writeHead` takes them, so that headers which never change are put together once.
import type { FastifyReply } from 'fastify';

/** Names and values, alternating. */
export type HeaderList = readonly string[];

/** Adds headers to a reply; they replace headers of the same names. */
export function addHeaders(reply: FastifyReply, headers: HeaderList): FastifyReply {
  for (let at = 0; at + 1 < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1]);
  return reply;
}
