import assert from 'node:assert/strict';
import { it } from 'node:test';

import { v7 as uuid } from 'uuid';

import { addMail } from '#server/jobs/mail-jobs.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { API } from '#shared/api.ts';
import { ENGINES } from '#testing/databases.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
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
      const mail = { id: uuid(), kind: 'follow-up', payload: {}, recipient: 'ada@example.com' };
      await addMail(server.database.db, { ...mail, now: server.now() });
      server.wakeWorker();
      await until(() => server.logLines.some((line) => line.includes('The mail worker failed')));
      assert.equal((await rowOf(server, mail.id)).state, 'queued');
      assert.equal((await createVisitor(server).get(API.health)).statusCode, 200);
    }));
}
