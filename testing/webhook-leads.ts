import assert from 'node:assert/strict';

import { API, VISIT_HEADER } from '#shared/api.ts';
import { becomeLead as signUp } from '#testing/become-lead.ts';
import { withServer, type ServerOptions, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { withReceiver, type Received, type Receiver } from '#testing/webhook-receiver.ts';

export const EMAIL = 'ada@example.com';

export const webhooksAt = (...receivers: readonly Pick<Receiver, 'url'>[]) => ({
  WEBHOOK_URLS: receivers.map(({ url }) => url).join(' '),
  WEBHOOK_ALLOW_PRIVATE: 'yes',
});
export const typesOf = (received: readonly Received[]) => received.map(({ event }) => event.type);
export async function becomeLead(server: ServerUnderTest, email = EMAIL, form = {}): Promise<string> {
  const headers = { [VISIT_HEADER]: 'last=utm_source%3Dnewsletter' };
  const mail = server.inbox.mailsTo(email).length + 1;
  const { visitor, leadId } = await signUp(server, email, mail, { form, headers });
  for (let reading = 1; reading <= 2; reading += 1)
    assert.equal((await visitor.get(API.article)).statusCode, 200);
  return leadId;
}

export const outcomes = (server: ServerUnderTest, count: number) =>
  until(() => server.webhookOutcomes.length >= count);

export const withWebhook = (
  options: ServerOptions,
  test: (server: ServerUnderTest, receiver: Receiver) => Promise<void>,
): Promise<void> =>
  withReceiver(undefined, (receiver) =>
    withServer({ ...options, env: { ...webhooksAt(receiver), ...options.env } }, (server) =>
      test(server, receiver),
    ),
  );
