// Visitors who agree, and what the desk says about the chain of their consents.
import assert from 'node:assert/strict';

import type { ChainReport } from '#server/db/across/consent-check.ts';
import type { Service } from '#server/run/service.ts';
import { desk } from '#testing/desk.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, type ServerUnderTest } from '#testing/server-under-test.ts';

/** Sends the form and enters the code, in 21 seconds. @param mail which mail to this address has the code, from 1 */
export async function agree(server: ServerUnderTest, email: string, mail = 1): Promise<void> {
  const visitor = createVisitor(server, '198.51.100.7');
  const headers = { 'x-consent-version': server.campaign.consent.version, 'user-agent': 'Browser/7' };
  assert.equal((await visitor.post('/api/leads', filledForm({ email }), { headers })).statusCode, 202);
  const code = codeIn(await server.inbox.waitForMail(email, mail));
  await server.advance(20);
  assert.equal((await visitor.post('/api/verify', { email, code }, { headers })).statusCode, 200);
  await server.advance(1);
}

/** What `consent verify` says, each fault as "position kind fields". */
export async function verifyReport({ service }: { readonly service: Service }, ...args: readonly string[]) {
  const { exitCode, out, notes } = await desk(service, ['consent', 'verify', '--json', ...args]);
  const { faults, accepted, ...rest } = JSON.parse(out) as ChainReport;
  return {
    exitCode,
    notes,
    ...rest,
    faults: faults.map(({ position, kind, fields = [] }) => [position, kind, ...fields].join(' ')),
    accepted: accepted.map(({ position, kind }) => `${position} ${kind}`),
  };
}
