// What happens to a request whose visitor is gone.
import type { FastifyReply } from 'fastify';

/** Ends a request whose connection is gone: no answer can reach it, and it has no address to store. */
export function dropRequest(reply: FastifyReply): FastifyReply {
  void reply.hijack();
  reply.raw.destroy();
  return reply;
}
