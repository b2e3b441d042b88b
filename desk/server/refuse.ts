import type { FastifyReply } from 'fastify';

import { ERROR_CODE_HEADER } from '#shared/errors.ts';

/** Codes of the desk's own refusals; shared/errors.ts has those of any server. */
const STATUSES = {
  'invalid-input': 400,
  'wrong-code': 400,
  'wrong-passkey': 400,
  'no-session': 401,
  'may-not': 403,
  'cannot-be-done': 422,
  'too-many-tries': 429,
} as const;

export const refuse = (reply: FastifyReply, code: keyof typeof STATUSES, sentence: string): FastifyReply =>
  reply.code(STATUSES[code]).header(ERROR_CODE_HEADER, code).type('text/plain; charset=utf-8').send(sentence);
