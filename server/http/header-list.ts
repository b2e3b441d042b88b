// Headers as Node's `writeHead` takes them, so that those which never change are put together once.
import type { FastifyReply } from 'fastify';

/** Names and values in turns. */
export type HeaderList = readonly string[];

/** Adds headers to a reply, in the place of those of the same name. */
export function addHeaders(reply: FastifyReply, headers: HeaderList): FastifyReply {
  for (let at = 0; at + 1 < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1]);
  return reply;
}
