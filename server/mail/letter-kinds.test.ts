import assert from 'node:assert/strict';

import { sql } from 'kysely';
import { v7 as uuid } from 'uuid';

import { addMail } from '#server/jobs/mail-jobs.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { API } from '#shared/api.ts';
import { smtpError } from '#testing/inbox.ts';
import { askUntilTried } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { createVisitor } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const OPERATOR = 'you@example.com';

onEachEngine('kinds of letters', ({ test }) => {
  test('a notice to the operator is mailed unless it is too old', async (server) => {
    const queueAt = async (now: number) => {
      const words = { subject: 'The breaker opened', text: 'Look at <b>it</b>.' };
      await queueNotice(server.database.db, { recipients: [OPERATOR], ...words, now });
      server.wakeWorker();
    };
    await queueAt(server.now() - 3_600_000);
    await until(() => server.mailEvents[0]?.type === 'dropped');
    await queueAt(server.now());
    const { parsed } = await server.inbox.waitForMail(OPERATOR);
    assert.equal(parsed.subject, 'The breaker opened');
    assert.equal(parsed.text?.trim(), 'The breaker opened\n\nLook at <b>it</b>.');
    assert.match(parsed.html ?? '', /&lt;b&gt;/);
    assert.equal(server.inbox.mails.length, 1);
  });

  test('mail queued by a process with a newer release or APP_SECRET waits for that process', async (server) => {
    const { db } = server.database;
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Later') });
    await askUntilTried(server, createVisitor(server));
    await sql`update codes set secret_id = 'newer'`.execute(db);
    const mail = { id: uuid(), kind: 'follow-up', payload: {}, recipient: 'ada@example.com' };
    await addMail(db, { ...mail, now: server.now() });
    server.setClock(server.now() + 1_000);
    server.wakeWorker();
    const failures = () => server.logLines.filter((line) => line.includes('The mail worker failed'));
    await until(() => failures().length === 2);
    const states = await db.selectFrom('outbox').select('state').execute();
    assert.deepEqual(states, [{ state: 'queued' }, { state: 'queued' }]);
    assert.equal((await createVisitor(server).get(API.health)).statusCode, 200);
  });
});
