import assert from 'node:assert/strict';
import { it } from 'node:test';

import { ApiError, isDeadCode, TimeLimitError } from '#web/api-client.ts';
import { failureToast } from '#web/messages.ts';

const WORDS = {
  title: 'Error',
  description: 'Failed to submit form. Please try again.',
  timedOut: 'No answer came in time.',
};
const FALLBACK = { title: WORDS.title, description: WORDS.description, variant: 'destructive' };

const apiError = (status: number, body: string, statusText: string, headers = {}) =>
  new ApiError(new Response(null, { status, statusText, headers }), body);

it('ApiError has the message "STATUS: body", or the status text without a body', () => {
  assert.equal(apiError(429, 'Too many.', 'Too Many Requests').message, '429: Too many.');
  assert.equal(apiError(500, '', 'Internal Server Error').message, '500: Internal Server Error');
});

it("failureToast shows the server's sentence with its status", () => {
  const { title, prefix, description, variant } = failureToast(WORDS, apiError(400, 'Bad name.', ''));
  assert.deepEqual(
    { title, text: `${prefix}${description}`, variant },
    { title: 'Error', text: '400: Bad name.', variant: 'destructive' },
  );
});

it('failureToast shows the page’s sentence without a body or a response', () => {
  for (const error of [apiError(500, '', 'Internal Server Error'), new TypeError('Failed to fetch')]) {
    assert.deepEqual(failureToast(WORDS, error), FALLBACK);
  }
});

it('failureToast replaces an HTML document with the page’s sentence and shows any other body', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' };
  const documents: readonly (readonly [body: string, headers?: object])[] = [
    ['<html><body><h1>502 Bad Gateway</h1></body></html>'],
    ['<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN"><title>Busy</title>'],
    ['<?xml version="1.0"?><!DOCTYPE html>'],
    ['<h1>Busy</h1>', html],
  ];
  for (const [body, headers] of documents) {
    const error = apiError(502, body, 'Bad Gateway', headers);
    assert.equal(error.message, `502: ${body}`);
    assert.deepEqual(failureToast(WORDS, error), FALLBACK, body);
  }
  for (const [body, headers] of [['<h1>Busy</h1>'], ['{"error":1}'], ['Not <html> now.', html]] as const)
    assert.equal(failureToast(WORDS, apiError(502, body, '', headers)).description, body);
});

it('failureToast shows a separate sentence after a timeout', () => {
  assert.equal(failureToast(WORDS, new TimeLimitError()).description, 'No answer came in time.');
});

it('isDeadCode is true only if the server refused the digits', () => {
  const coded = (status: number, code: string, field = '') =>
    apiError(status, 'No.', '', { 'x-error-code': code, ...(field && { 'x-error-field': field }) });
  for (const error of [
    coded(400, 'wrong-code', 'code'),
    coded(429, 'too-many-tries', 'code'),
    coded(429, 'too-many-tries-without-cookies', 'code'),
    apiError(400, 'No.', ''),
  ])
    assert.equal(isDeadCode(error), true, error.message);
  const others = [
    coded(429, 'too-many-requests'),
    coded(503, 'unavailable'),
    coded(400, 'invalid-input', 'email'),
    apiError(429, 'Slow down.', ''),
    new TypeError('Failed to fetch'),
    new TimeLimitError(),
  ];
  for (const error of others) assert.equal(isDeadCode(error), false, error.message);
});
