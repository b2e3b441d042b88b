import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import path from 'node:path';
import { it } from 'node:test';

import Fastify from 'fastify';

import { readCampaign } from '#server/campaign/campaign.ts';
import { createHandleError, createSendError } from '#server/http/errors.ts';
import { API } from '#shared/api.ts';
import { rawRequest } from '#testing/raw-request.ts';
import { withServer } from '#testing/server-under-test.ts';

const words = readCampaign(path.resolve(import.meta.dirname, '../../campaign'));
assert(words.type === 'campaign');
const { errors } = words.campaign;

it('an error response has the words and the language of the campaign', async () => {
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

it('an error response reaches a client that is still sending its body', () =>
  withServer({ engine: 'sqlite' }, async ({ listen }) => {
    const { port } = await listen();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = 'x'.repeat(2_000_000);
    let served = 0;
    for (const [type, code, status] of [
      ['application/json', 'body-too-large', 413],
      ['text/plain', 'unsupported-media-type', 415],
    ] as const) {
      for (const length of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
        const headers = { 'content-type': type, ...length };
        const answer = await rawRequest({ port, agent, method: 'POST', path: API.leads, headers }, body);
        const what = `${type}, ${Object.keys(length).join()}`;
        assert.deepEqual([answer.statusCode, answer.body], [status, errors[code]], what);
        assert.equal(answer.reusedSocket, served > 0, what);
        served += 1;
      }
    }
    agent.destroy();
  }));
