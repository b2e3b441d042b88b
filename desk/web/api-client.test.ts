import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';

import { get } from '#desk/endpoints/endpoint.ts';
import { callApi, ApiError, isSignedOut } from '#desk/web/api-client.ts';
import * as z from 'zod/mini';

const LIST = get<{ readonly names: readonly string[] }>()(
  '/api/list',
  'read',
  z.object({ search: z.optional(z.string()) }),
);

const answerWith = (make: () => Response | Promise<Response>) =>
  mock.method(globalThis, 'fetch', async (_url: string, _init: RequestInit) => make());
const failureOf = async (call: Promise<unknown>): Promise<ApiError> => {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error;
  }
  return assert.fail('It did not fail.');
};

function inTabOf(address: string, items: Record<string, string> = {}): Record<string, string> {
  const store: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
    getItem: (name) => items[name] ?? null,
    setItem: (name, value) => void (items[name] = value),
    removeItem: (name) => void delete items[name],
  };
  Object.assign(globalThis, { location: new URL(address), sessionStorage: store });
  return items;
}

beforeEach(() => void inTabOf('https://desk.example.com/'));
afterEach(() => mock.reset());

it('a desk request on plain http sends stored headers instead of cookies', async () => {
  const answer = () =>
    Response.json({ names: [] }, { headers: { 'x-desk-session': 'new', 'x-desk-sign-in': '' } });
  const sentTo = async (address: string) => {
    const kept = inTabOf(address, { 'x-desk-session': 'old', 'x-desk-sign-in': 'mine' });
    const fetched = answerWith(answer);
    await callApi(LIST, {});
    return [new Headers(fetched.mock.calls.at(-1)?.arguments[1]?.headers).get('x-desk-session'), kept];
  };
  assert.deepEqual(await sentTo('http://127.0.0.1:4000/'), ['old', { 'x-desk-session': 'new' }]);
  assert.deepEqual(await sentTo('https://desk.example.com/'), [
    null,
    { 'x-desk-session': 'old', 'x-desk-sign-in': 'mine' },
  ]);
});

it('a desk request never shows an error page from a proxy', async () => {
  answerWith(() => new Response('<h1>401</h1>', { status: 401, headers: { 'content-type': 'text/html' } }));
  const error = await failureOf(callApi(LIST, {}));
  assert.match(error.message, /status 401\) did not come from the desk\. Check the proxy/);
  assert.equal(isSignedOut(error), false);
});

it('a desk request reports a missing or truncated response', async () => {
  answerWith(() => Promise.reject(new TypeError('fetch failed')));
  assert.match((await failureOf(callApi(LIST, {}))).message, /^The server could not be reached\./);
  mock.reset();
  answerWith(() => new Response('{"names": [', { headers: { 'content-type': 'application/json' } }));
  assert.match((await failureOf(callApi(LIST, {}))).message, /^The response was incomplete\./);
});
