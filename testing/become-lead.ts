import assert from 'node:assert/strict';

import { hasRow } from '#server/db/engine/row-counts.ts';
import { API } from '#shared/api.ts';
import { normaliseEmail } from '#shared/lead.ts';
import { codeIn, type ReceivedMail } from '#testing/inbox.ts';
import { createVisitor, filledForm, type ServerUnderTest, type Visitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

export type NewLead = { readonly visitor: Visitor; readonly leadId: string; readonly code: ReceivedMail };

/** @param mail number of the code's mail to this address, from 1 */
export async function becomeLead(
  server: ServerUnderTest,
  email: string,
  mail = 1,
  {
    form = {},
    headers = {},
    beforeCode,
    from = '198.51.100.7',
  }: {
    readonly form?: Readonly<Record<string, unknown>>;
    readonly headers?: Record<string, string>;
    readonly beforeCode?: (visitor: Visitor, code: ReceivedMail) => Promise<unknown>;
    readonly from?: string;
  } = {},
): Promise<NewLead> {
  const visitor = createVisitor(server, from);
  assert.equal((await visitor.post(API.leads, filledForm({ ...form, email }), { headers })).statusCode, 202);
  const code = await server.inbox.waitForMail(email, mail);
  await beforeCode?.(visitor, code);
  // The worker notes that a mail was sent only after the mail has arrived.
  await until(() => isMarkedAsSent(server, code.to));
  const entered = await visitor.post(API.verify, { email, code: codeIn(code) }, { headers });
  assert.equal(entered.statusCode, 200);
  const lead = await server.database.db
    .selectFrom('leads')
    .select('id')
    .where('email', '=', normaliseEmail(email))
    .executeTakeFirstOrThrow();
  return { visitor, leadId: lead.id, code };
}

const isMarkedAsSent = async ({ database: { db } }: ServerUnderTest, recipient: string): Promise<boolean> =>
  !(await hasRow(
    db
      .selectFrom('outbox')
      .select('id')
      .where('kind', '=', 'code')
      .where('recipient', '=', recipient)
      .where('state', '=', 'queued'),
  ));
