import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ApiError } from '#web/api-client.ts';
import { failureToast } from '#web/messages.ts';

const WORDS = { title: 'Error', description: 'Failed to submit form. Please try again.' };

const apiError = (status: number, body: string, statusText: string) =>
  new ApiError(new Response(null, { status, statusText }), body);

describe('a failed call', () => {
  it('has the message of the specification: status, colon, space, body, or the status text without one', () => {
    assert.equal(apiError(429, 'Too many.', 'Too Many Requests').message, '429: Too many.');
    assert.equal(apiError(500, '', 'Internal Server Error').message, '500: Internal Server Error');
  });

  it("is told with the server's sentence, its status in front", () => {
    const { title, prefix, description, variant } = failureToast(WORDS, apiError(400, 'Bad name.', ''));
    assert.deepEqual(
      { title, text: `${prefix}${description}`, variant },
      { title: 'Error', text: '400: Bad name.', variant: 'destructive' },
    );
  });

  it('is told with a sentence of its own when the server sent none or did not answer', () => {
    for (const error of [apiError(500, '', 'Internal Server Error'), new TypeError('Failed to fetch')]) {
      assert.deepEqual(failureToast(WORDS, error), { ...WORDS, variant: 'destructive' });
    }
  });
});
