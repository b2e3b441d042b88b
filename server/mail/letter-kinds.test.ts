import assert from 'node:assert/strict';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { addMail } from '#server/jobs/mail-jobs.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { API } from '#shared/api.ts';
import { smtpError } from '#testing/inbox.ts';
import { askUntilTried } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const OPERATOR = 'you@example.com';

const onlyMail = ({ database }: ServerUnderTest) =>
  database.db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();

onEachEngine('kinds of letters', ({ test }) => {
  test('a notice to the operator is mailed unless it is too old', async (server) => {
    const queueAt = async (now: number) => {
      const words = { subject: 'The breaker opened', text: 'Look at <b>it</b>.' };
      await queueNotice(server.database.db, { recipients: [OPERATOR], ...words, now });
      server.wakeWorker();
    };
    await queueAt(server.now() - 3_600_000);
    await until(async () => (await onlyMail(server)).state === 'dropped');
    await queueAt(server.now());
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    assert.equal(parsed.subject, 'The breaker opened');
    assert.equal(parsed.text?.trim(), 'The breaker opened\n\nLook at <b>it</b>.');
    assert.match(parsed.html ?? '', /&lt;b&gt;/);
    assert.equal(server.inbox.mails.length, 1);
  });

  test('mail queued by a newer release waits for that release', async (server) => {
    const mail = { id: uuid(), kind: 'follow-up', payload: {}, recipient: 'ada@example.com' };
    await addMail(server.database.db, { ...mail, now: server.now() });
    server.wakeWorker();
    await until(() => server.logLines.some((line) => line.includes('The mail worker failed')));
    assert.equal((await onlyMail(server)).state, 'queued');
    assert.equal((await createVisitor(server).get(API.health)).statusCode, 200);
  });

  test('the mail of a code is dropped without its secret, because waiting mail would stop forms', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') });
    await askUntilTried(server, createVisitor(server));
    await sql`update codes set secret_id = 'replaced'`.execute(server.database.db);
    server.setClock(server.now() + 1_000);
    server.wakeWorker();
    await until(async () => (await onlyMail(server)).state === 'dropped');
  });
});
