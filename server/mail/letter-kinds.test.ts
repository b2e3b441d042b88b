import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { v7 as uuid } from 'uuid';

import { addMail } from '#server/jobs/mail-jobs.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';

const OPERATOR = 'you@example.com';

const rowOf = ({ database }: ServerUnderTest, id: string) =>
  database.db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

async function untilState(server: ServerUnderTest, id: string, isSo: (state: string) => boolean) {
  await until(async () => isSo((await rowOf(server, id)).state));
  return await rowOf(server, id);
}

for (const engine of ENGINES) {
  it(`a notice to the operator on ${engine} is mailed unless it is too old`, () =>
    withServer({ engine }, async (server) => {
      const notice = (now: number) => ({
        recipients: [OPERATOR],
        subject: 'The breaker opened',
        text: 'Look at <b>it</b>.',
        now,
      });
      const old = notice(server.now() - 3_600_000);
      await queueNotice(server.database.db, old);
      server.wakeWorker();
      const { id } = await server.database.db.selectFrom('outbox').select('id').executeTakeFirstOrThrow();
      await untilState(server, id, (state) => state === 'dropped');
      await queueNotice(server.database.db, notice(server.now()));
      server.wakeWorker();
      const { parsed } = await server.inbox.waitForMail(OPERATOR);
      assert.equal(parsed.subject, 'The breaker opened');
      assert.equal(parsed.text?.trim(), 'The breaker opened\n\nLook at <b>it</b>.');
      assert.match(parsed.html ?? '', /&lt;b&gt;/);
      assert.equal(server.inbox.mails.length, 1);
    }));

  it(`mail queued by a newer release on ${engine} waits for that release`, () =>
    withServer({ engine }, async (server) => {
      const id = uuid();
      const now = server.now();
      await addMail(server.database.db, {
        id,
        kind: 'follow-up',
        payload: {},
        recipient: 'ada@example.com',
        now,
      });
      server.wakeWorker();
      for (let count = 0; count < 400 && (await rowOf(server, id)).due_at === now; count += 1)
        await setTimeout(10);
      const row = await rowOf(server, id);
      assert.equal(row.state, 'queued');
      assert.equal(row.error_class, 'unknown kind');
      assert.equal(row.due_at, now + 30_000);
      assert.equal(server.inbox.mails.length, 0);
      await server.advance(900);
      server.wakeWorker();
      await until(async () => (await rowOf(server, id)).due_at > server.now());
      assert.equal((await createVisitor(server).get(API.health)).statusCode, 200);
      const form = filledForm({ email: 'grace@example.com' });
      assert.equal((await createVisitor(server).post(API.leads, form)).statusCode, 202);
      await server.inbox.waitForMail('grace@example.com');
    }));
}
