import assert from 'node:assert/strict';

import { API } from '#shared/api.ts';
import { codeIn, type Inbox } from '#testing/inbox.ts';
import { filledForm } from '#testing/server-under-test.ts';

export const postJson = (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

export const cookieOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');

/** @returns the session cookie */
export async function becomeLeadAt(
  url: string,
  inbox: Pick<Inbox, 'waitForMail'>,
  email = 'ada@example.com',
): Promise<string> {
  const asked = await postJson(url + API.leads, filledForm({ email }));
  assert.equal(asked.status, 202);
  const code = codeIn(await inbox.waitForMail(email));
  const verified = await postJson(url + API.verify, { email, code }, { cookie: cookieOf(asked) });
  assert.equal(verified.status, 200);
  return cookieOf(verified);
}
