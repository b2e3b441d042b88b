import type { FastifyReply } from 'fastify';

import { DESK_ERRORS, type DeskErrorCode } from '#desk/endpoints/errors.ts';
import { ERROR_CODE_HEADER } from '#shared/errors.ts';

export const refuse = (reply: FastifyReply, code: DeskErrorCode, sentence: string): FastifyReply =>
  reply
    .code(DESK_ERRORS[code])
    .header(ERROR_CODE_HEADER, code)
    .type('text/plain; charset=utf-8')
    .send(sentence);
