// The calls of a lead, as tests make them: ask for a code, read it in the mail, enter it.
import assert from 'node:assert/strict';

import type { LightMyRequestResponse } from 'fastify';

import type { CodeRequested } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { filledForm, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';

/** The address of a filled form. */
export const EMAIL = 'ada@example.com';

/** A code that is certainly not the right one. */
export const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

export const ask = (visitor: Visitor, changes: Record<string, unknown> = {}) =>
  visitor.post('/api/leads', filledForm(changes));

export const enter = (visitor: Visitor, code: string, email = EMAIL) =>
  visitor.post('/api/verify', { email, code });

export const newestCode = async (server: ServerUnderTest, count = 1, email = EMAIL) =>
  codeIn(await server.inbox.waitForMail(email, count));

/** The letters by which a visitor finds the mail of a request. */
export const referenceOf = (response: LightMyRequestResponse): string =>
  response.json<CodeRequested>().reference;

export const enterWrong = async (visitor: Visitor, code: string, times: number) => {
  for (let i = 0; i < times; i += 1) assert.equal((await enter(visitor, wrongFor(code))).statusCode, 400);
};
