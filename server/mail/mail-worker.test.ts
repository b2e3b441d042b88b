import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { it } from 'node:test';

import { acquireLocks } from '#server/db/engine/connect.ts';
import { takeMail } from '#server/jobs/mail-jobs.ts';
import { countLockWaiters } from '#testing/address-lock.ts';
import { smtpError, whileInboxHangs } from '#testing/inbox.ts';
import { listening } from '#testing/listening.ts';
import { createVisitor, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { ask, askUntilTried, EMAIL } from '#testing/lead-calls.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { valuesOf } from '#testing/values-of.ts';

const outboxRow = (server: ServerUnderTest) =>
  server.database.db.selectFrom('outbox').selectAll().executeTakeFirstOrThrow();

const attemptsOf = async (server: ServerUnderTest): Promise<number[]> =>
  valuesOf(await server.database.db.selectFrom('outbox').select('attempts').execute(), 'attempts');

const takeAsOther = (server: ServerUnderTest, leaseId: string, now: number) =>
  takeMail(server.database.db, { leaseId, limit: 5, fullLanes: [], now });

const atMessage = (done: Promise<null>) => ({ onMessage: () => done });

async function startRawSmtpServer(afterMessage: string) {
  let messages = 0;
  const server = createServer((socket) => {
    socket.write('220 raw\r\n');
    let received = '';
    let inMessage = false;
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!received.endsWith(inMessage ? '\r\n.\r\n' : '\r\n')) return;
      if (inMessage) messages += 1;
      const reply = inMessage ? afterMessage : received.startsWith('DATA') ? '354 go on' : '250 ok';
      inMessage = reply.startsWith('354');
      received = '';
      socket.write(`${reply}\r\n`);
    });
  });
  return { messages: () => messages, ...(await listening(server)) };
}

onEachEngine('outbox', ({ test, both, engine }) => {
  both('mail is retried at growing intervals after a temporary refusal', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Greylisted, come back later') });
    assert.equal((await askUntilTried(server, createVisitor(server))).statusCode, 202);
    assert.equal(server.mailEvents[0]?.type, 'failed for now');
    const row = await outboxRow(server);
    assert.equal(row.state, 'queued');
    assert.match(row.reply ?? '', /^451 .*Greylisted/);
    assert.equal(row.due_at - server.now(), 1000);

    await server.advance(1);
    server.wakeWorker();
    await until(() => server.mailEvents.length === 2);
    assert.equal((await outboxRow(server)).due_at - server.now(), 2000);
    server.inbox.behave({});
    await server.advance(2);
    server.wakeWorker();
    await server.inbox.waitForMail(EMAIL);
    await until(async () => (await outboxRow(server)).state === 'sent');
    assert.equal(server.inbox.mails.length, 1);
    assert.doesNotMatch(server.logLines.join(''), /ada@example/, 'a refusal is not logged with the address');
  });

  test('mail is not retried after a final refusal, and the reason is kept', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(550, 'No such user here') });
    await ask(createVisitor(server));
    await until(async () => (await outboxRow(server)).state === 'failed');
    const row = await outboxRow(server);
    assert.match(row.reply ?? '', /^550 .*No such user here/);
    assert.equal(row.attempts, 1);
    await server.advance(120);
    await askUntilTried(server, createVisitor(server), { email: 'grace@example.com' });
    assert.deepEqual(await attemptsOf(server), [1, 1]);
  });

  test('mail is retried after a final refusal that concerns our server until it is too late', async (server) => {
    server.inbox.behave({
      onRecipient: () => smtpError(554, '5.7.1 <ada@example.com>: Relay access denied'),
    });
    await ask(createVisitor(server));
    await ask(createVisitor(server), { email: 'grace@example.com' });
    await until(() => server.mailEvents.length === 2);
    for (const event of server.mailEvents)
      assert.deepEqual(
        [event.type, 'errorClass' in event && event.errorClass],
        ['failed for now', 'refuses us'],
      );
    assert.equal((await outboxRow(server)).state, 'queued');
    assert.match((await outboxRow(server)).reply ?? '', /^554 5\.7\.1/);
    const { db } = server.database;
    const setDue = (at: number) =>
      db.updateTable('outbox').set({ due_at: at }).where('recipient', '=', 'grace@example.com').execute();
    await setDue(server.now() + 3_600_000);
    server.inbox.behave({});
    await server.advance(2);
    server.wakeWorker();
    await server.inbox.waitForMail(EMAIL);
    await server.advance(600);
    await setDue(server.now());
    server.wakeWorker();
    await until(() => server.mailEvents.length === 4);
    assert.equal(server.mailEvents.at(-1)?.type, 'refused');
    const late = db.selectFrom('outbox').selectAll().where('recipient', '=', 'grace@example.com');
    const { state, reply } = await late.executeTakeFirstOrThrow();
    assert.equal(state, 'failed');
    assert.match(reply ?? '', /^554 /);
  });

  for (const [title, seconds, isEnded] of [
    ['expired before its turn', 601, false],
    ['became invalid while its mail was queued', 2, true],
  ] as const)
    test(`a code that ${title} is not mailed`, async (server) => {
      server.inbox.behave({ onMessage: () => smtpError(452, 'Disk full') });
      await askUntilTried(server, createVisitor(server));
      if (isEnded) await server.database.db.updateTable('codes').set({ expires_at: server.now() }).execute();
      await server.advance(seconds);
      server.wakeWorker();
      await until(() => server.mailEvents.length === 2);
      assert.equal(server.mailEvents[1]?.type, 'dropped');
      assert.equal((await outboxRow(server)).state, 'dropped');
      assert.equal(server.inbox.mails.length, 0);
    });

  both('a worker leaves a mail to only one of many processes once its lease has ended', (server) =>
    whileInboxHangs(server.inbox, atMessage, async () => {
      await ask(createVisitor(server));
      await until(async () => (await outboxRow(server)).lease_id !== null);
      assert.equal((await takeAsOther(server, 'another', server.now() + 29_000)).length, 0);
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, at) => takeAsOther(server, `other ${at}`, server.now() + 30_000)),
      );
      assert.equal(taken.flat().length, 1);
    }),
  );

  // On SQLite, composing waits for no lock.
  if (engine === 'postgres')
    both('a worker does not send a mail whose lease has ended while it was composed', async (server) => {
      server.inbox.behave({ onRecipient: () => smtpError(451, 'Not now') });
      await askUntilTried(server, createVisitor(server));
      server.inbox.behave({});
      await server.advance(2);
      const { db } = server.database;
      await db.transaction().execute(async (tx) => {
        await acquireLocks(tx, EMAIL);
        server.wakeWorker();
        await until(async () => (await countLockWaiters(db)) === 1);
        server.setClock(server.now() + 30_000);
        assert.equal((await takeAsOther(server, 'another', server.now())).length, 1);
      });
      await ask(createVisitor(server), { email: 'grace@example.com' });
      await server.inbox.waitForMail('grace@example.com');
      assert.equal(server.inbox.mails.length, 1);
    });

  test('a worker leases no more mail than it has connections', async (server) => {
    await whileInboxHangs(server.inbox, atMessage, async () => {
      for (let count = 1; count <= 10; count += 1)
        await ask(createVisitor(server, `198.51.100.${count}`), { email: `ada@${count}.example` });
      await until(async () => (await attemptsOf(server)).filter((attempts) => attempts > 0).length >= 5);
      assert.deepEqual((await attemptsOf(server)).toSorted(), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    });
    await until(() => server.inbox.mails.length === 10);
  });

  test('queued mail is sent after the clock was set back, even if a dead process leased it', async (server) => {
    server.inbox.behave({ onRecipient: () => smtpError(451, 'Not now') });
    await askUntilTried(server, createVisitor(server));
    assert.equal((await takeAsOther(server, 'a dead process', server.now() + 5_000)).length, 1);
    const hourAgo = server.now() - 3_600_000;
    server.setClock(hourAgo);
    server.wakeWorker();
    await until(() => server.mailEvents.length === 2);
    assert.equal(server.mailEvents[1]?.type, 'failed for now');
    assert.equal((await outboxRow(server)).due_at - hourAgo, 5000, 'and is due by the new clock');
  });

  it('a reply with a NUL and a megabyte is stored as short text, and the mail is not sent again', async () => {
    await using smtp = await startRawSmtpServer(`250 \0\u001B[31mred \u0085 ${'x'.repeat(1024 * 1024)}`);
    await withServer({ engine, env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` } }, async (server) => {
      await ask(createVisitor(server));
      await until(async () => (await outboxRow(server)).state !== 'queued');
      const row = await outboxRow(server);
      assert.deepEqual([row.state, row.attempts, row.reply?.length], ['sent', 1, 500]);
      assert.match(row.reply ?? '', /^250 [\x20-\x7E]*\[31mred x+$/);
      assert.equal(smtp.messages(), 1);
    });
  });

  test('a visitor gets one complete code mail', async (server) => {
    const visitor = createVisitor(server);
    const { reference } = (await ask(visitor)).json<{ reference: string }>();
    const { from, parsed, raw } = await server.inbox.waitForMail(EMAIL);
    const code = /^\d{6}/.exec(parsed.subject ?? '')?.[0] ?? 'no code in the subject';
    const occurrences = (text: string | undefined, part: string) => (text ?? '').split(part).length - 1;
    assert.equal(occurrences(parsed.text, code), 1);
    assert.equal(occurrences(parsed.html, code), 1);
    assert.match(parsed.text ?? '', new RegExp(`reference ${reference}`));
    assert.match(parsed.text ?? '', /valid for 10 minutes/);
    assert.match(parsed.text ?? '', /If you did not ask for a code/);
    assert.deepEqual([parsed.from?.address, from], ['guide@example.com', 'guide@example.com']);
    assert.doesNotMatch(raw, /https?:|<img|<a |List-Unsubscribe|Lovelace|Analytical/i);
    const row = await outboxRow(server);
    assert.deepEqual([row.kind, row.payload], ['code', '{}'], 'the outbox holds neither code nor form');
  });
});
