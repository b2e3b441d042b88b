import assert from 'node:assert/strict';

import type { LightMyRequestResponse } from 'fastify';

import type { CodeRequested } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

export const EMAIL = 'ada@example.com';

export const wrongFor = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

export const ask = (
  visitor: Visitor,
  changes: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) => visitor.post('/api/leads', filledForm(changes), { headers });

export const askFrom = (server: ServerUnderTest, address: string, email: string) =>
  ask(createVisitor(server, address), { email });

export const enter = (visitor: Visitor, code: string, email = EMAIL) =>
  visitor.post('/api/verify', { email, code });

export const newestCode = async (server: ServerUnderTest, count = 1, email = EMAIL) =>
  codeIn(await server.inbox.waitForMail(email, count));

/** @param count number of this code's mail, from 1 */
export async function requestCode(server: ServerUnderTest, visitor: Visitor, count = 1): Promise<string> {
  await ask(visitor);
  return newestCode(server, count);
}

/** Asks for a code as another visitor, and waits for its mail. */
export async function askAndReceive(server: ServerUnderTest, email: string, changes = {}): Promise<void> {
  const asked = await ask(createVisitor(server), { ...changes, email });
  assert.equal(asked.statusCode, 202, asked.body);
  await server.inbox.waitForMail(email);
}

/** Waits until the mail server has replied to the code's mail. */
export async function askUntilTried(server: ServerUnderTest, visitor: Visitor, changes = {}) {
  const before = server.mailEvents.length;
  const asked = await ask(visitor, changes);
  await until(() => server.mailEvents.length === before + 1);
  return asked;
}

export async function enterNewest(server: ServerUnderTest, visitor: Visitor, count = 1): Promise<void> {
  const { statusCode, body } = await enter(visitor, await newestCode(server, count));
  assert.equal(statusCode, 200, body);
}

export async function askForCode(server: ServerUnderTest, address?: string) {
  const visitor = createVisitor(server, address);
  const mails = server.inbox.mailsTo(EMAIL).length;
  const asked = await ask(visitor);
  return { visitor, asked, code: await newestCode(server, mails + 1) };
}

/** A visitor with the same cookies. */
export function newTab(server: ServerUnderTest, { cookies }: Visitor, address?: string): Visitor {
  const tab = createVisitor(server, address);
  for (const [name, value] of cookies) tab.cookies.set(name, value);
  return tab;
}

export const referenceOf = (response: LightMyRequestResponse): string =>
  response.json<CodeRequested>().reference;

/** Status, error code and, if there is one, the field. */
export const refusalOf = ({ statusCode, headers }: LightMyRequestResponse): unknown[] =>
  [statusCode, headers['x-error-code'], headers['x-error-field']].filter((part) => part !== undefined);

export const enterWrong = async (visitor: Visitor, code: string, times: number) => {
  for (let i = 0; i < times; i += 1) assert.equal((await enter(visitor, wrongFor(code))).statusCode, 400);
};
