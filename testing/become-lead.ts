// A visitor who goes the whole way: form, mail, code.
import assert from 'node:assert/strict';

import { API } from '#shared/api.ts';
import { codeIn } from '#testing/inbox.ts';
import { createVisitor, filledForm, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';

/**
 * Sends the form for an address and enters the code.
 * @param mail the number of the code's mail, counted from 1, among those to this address
 */
export async function becomeLead(
  server: ServerUnderTest,
  email: string,
  mail = 1,
): Promise<{ readonly visitor: Visitor; readonly leadId: string }> {
  const visitor = createVisitor(server, '198.51.100.7');
  assert.equal((await visitor.post(API.leads, filledForm({ email }))).statusCode, 202);
  const code = codeIn(await server.inbox.waitForMail(email, mail));
  assert.equal((await visitor.post(API.verify, { email, code })).statusCode, 200);
  const lead = await server.database.db
    .selectFrom('leads')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  return { visitor, leadId: lead.id };
}
