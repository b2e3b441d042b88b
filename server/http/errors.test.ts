import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';

import Fastify from 'fastify';

import { readCampaign } from '#server/campaign/campaign.ts';
import { createHandleError, createSendError } from '#server/http/errors.ts';

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
