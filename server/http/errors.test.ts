import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';

import Fastify from 'fastify';

import { readCampaign } from '#server/campaign.ts';
import { createHandleError, createSendError, isOutage } from '#server/http/errors.ts';

const failure = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

describe('an error', () => {
  const words = readCampaign(path.resolve(import.meta.dirname, '../../campaign'));
  assert(words.type === 'campaign');
  const { errors } = words.campaign;

  it('is answered in the words and the language of the campaign', async () => {
    const german = {
      ...errors,
      'too-many-codes': 'An diese Adresse gingen schon mehrere Codes. Bitte {when} wieder, {when}.',
      'internal-error': 'Das ging schief. Bitte gleich noch einmal.',
    };
    const sendError = createSendError({ errors: german, site: { language: 'de' } });
    const app = Fastify();
    app.setErrorHandler(createHandleError(sendError));
    app.get('/codes', (_request, reply) => sendError(reply, 'too-many-codes', { retryAfterSeconds: 120 }));
    app.get('/broken', () => {
      throw new Error('x is not a function');
    });
    const codes = await app.inject('/codes');
    assert.equal(codes.statusCode, 429);
    assert.equal(codes.headers['retry-after'], '120');
    assert.equal(codes.headers['x-error-code'], 'too-many-codes');
    assert.equal(
      codes.body,
      'An diese Adresse gingen schon mehrere Codes. Bitte in 2 Minuten wieder, in 2 Minuten.',
    );
    const broken = await app.inject('/broken');
    assert.equal(broken.statusCode, 500);
    assert.equal(broken.body, german['internal-error']);
  });
});

describe('an outage of the database', () => {
  it('is told from a mistake of ours', () => {
    const outages = [
      failure('terminating connection due to administrator command', { code: '57P01' }),
      failure('the database system is starting up', { code: '57P03' }),
      failure('sorry, too many clients already', { code: '53300' }),
      failure('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' }),
      failure('Connection terminated unexpectedly'),
      failure('timeout exceeded when trying to connect'),
      failure('database is locked', { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
      failure('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
      failure('attempt to write a readonly database', { code: 'ERR_SQLITE_ERROR', errcode: 1032 }),
      failure('disk I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 778 }),
      new AggregateError([failure('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED' })]),
    ];
    for (const error of outages) assert.equal(isOutage(error), true, error.message);
    const mistakes = [
      failure('relation "lead" does not exist', { code: '42P01' }),
      failure('UNIQUE constraint failed: leads.email', { code: 'ERR_SQLITE_ERROR', errcode: 2067 }),
      failure('x is not a function'),
      'text',
      null,
    ];
    for (const error of mistakes) assert.equal(isOutage(error), false, String(error));
  });
});
