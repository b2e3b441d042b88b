import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, it } from 'node:test';

import { bounceAddress } from '#server/secrets/mail-links.ts';
import { deriveSecrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { EMAIL, reasons } from '#testing/mail-providers.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';
import { desk, refused, succeeded } from '#testing/desk.ts';
import { createVisitor, filledForm, withServer, type ServerUnderTest } from '#testing/server-under-test.ts';
import { deliveryStatus, feedbackReport } from '#testing/returned-mail.ts';
import { erasePerson } from '#testing/erase-person.ts';
import { valuesOf } from '#testing/values-of.ts';

const NOT_OURS = '01930000-0000-7000-8000-000000000000';

const folder = mkdtempSync(path.join(os.tmpdir(), 'bounces-'));
after(() => rmSync(folder, { recursive: true }));

async function* piped(text: string): AsyncIterable<Uint8Array> {
  for (let at = 0; at < text.length; at += 1_000) yield Buffer.from(text.slice(at, at + 1_000));
}

type Reported = { type: string } & Record<string, unknown>;

async function bounce(server: ServerUnderTest, text: string): Promise<Reported> {
  const input = () => piped(text);
  const { out } = await succeeded(desk(server.service, ['bounce', '--json'], { input }));
  const { messages } = JSON.parse(out) as { messages: Reported[] };
  return messages[0] ?? assert.fail(out);
}

async function askForCode(server: ServerUnderTest): Promise<{ id: string; messageId: string }> {
  await createVisitor(server, '198.51.100.7').post(API.leads, filledForm({ email: EMAIL }));
  const mail = await server.inbox.waitForMail(EMAIL);
  const { id } = await server.database.db.selectFrom('outbox').select('id').executeTakeFirstOrThrow();
  return { id, messageId: mail.parsed.messageId ?? '' };
}

onEachEngine('bounce reports', ({ test }) => {
  test('"desk bounce" suppresses an e-mail address once if the report has our Message-ID', async (server) => {
    const { messageId } = await askForCode(server);
    const first = await bounce(server, deliveryStatus({ messageId }));
    assert.deepEqual([first.type, first['reason'], first['email']], ['suppressed', 'bounced', EMAIL]);
    assert.equal((await bounce(server, deliveryStatus({ messageId }))).type, 'already');
    const [row, ...others] = await server.database.db.selectFrom('suppressions').selectAll().execute();
    assert.equal(others.length, 0);
    assert.match(row?.note ?? '', /^5\.1\.1 smtp; 550 5\.1\.1 .* mailbox table$/);
    assert.doesNotMatch(server.logLines.join(''), /ada@example/);
  });

  test('"desk bounce" accepts our signed return path in any letter case, but not a forged one', async (server) => {
    const { id } = await askForCode(server);
    const { secrets } = server.service;
    const ours = bounceAddress(secrets, id, 'bounces.example.com');
    const strangers = deriveSecrets(['another-secret-of-somebody-else-0123456789']);
    for (const wrong of [
      bounceAddress(strangers, id, 'bounces.example.com'),
      bounceAddress(secrets, NOT_OURS, 'bounces.example.com'),
      ours.replace(/\.[0-9a-f]{20}@/, '@'),
      ours.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@')),
    ])
      assert.equal((await bounce(server, deliveryStatus({ to: wrong }))).type, 'not ours', wrong);
    assert.deepEqual(await reasons(server), []);
    assert.equal((await bounce(server, deliveryStatus({ to: ours.toUpperCase() }))).type, 'suppressed');
    assert.deepEqual(await reasons(server), ['bounced']);
  });

  test('"desk bounce" ignores a report about unknown mail or another recipient', async (server) => {
    const { messageId } = await askForCode(server);
    for (const [text, type] of [
      [deliveryStatus(), 'not ours'],
      [deliveryStatus({ messageId: `<${NOT_OURS}@example.com>` }), 'not ours'],
      [feedbackReport(), 'not ours'],
      [feedbackReport({ messageId: `<${NOT_OURS}@example.com>` }), 'not ours'],
      [`Message-ID: ${messageId}\r\nSubject: Out of office\r\n\r\nStatus: 5.1.1`, 'no report'],
      [deliveryStatus({ messageId, recipient: 'grace@example.com' }), 'another address'],
    ] as const)
      assert.equal((await bounce(server, text)).type, type);
    assert.deepEqual(await reasons(server), []);
    const forwarded = deliveryStatus({ messageId, recipient: 'old@example.net', original: EMAIL });
    assert.equal((await bounce(server, forwarded)).type, 'another address');
    const [top, group = '', end] = deliveryStatus({ messageId }).split(
      /(?=Final-Recipient)|(?=\r\n--8B.*\r\nContent-Description: Und)/,
    );
    const delivered = group.replace('failed', 'delivered');
    for (const groups of [`${group}\r\n\r\n${delivered}`, `${delivered}\r\n\r\n${group}`])
      assert.equal((await bounce(server, `${top}${groups}${end}`)).type, 'nothing to do');
    assert.deepEqual(await reasons(server), []);
    const relayed = deliveryStatus({
      messageId: `<0102@relay.example>\r\nReferences: <x@example> ${messageId}`,
    });
    assert.equal((await bounce(server, relayed)).type, 'suppressed');
  });

  test('"desk bounce" ignores bounces that are temporary or unrelated to the e-mail address', async (server) => {
    const { messageId } = await askForCode(server);
    for (const [changes, why] of [
      [{ action: 'delayed', status: '4.4.1', diagnostic: null }, 'delayed'],
      [{ action: 'delivered', status: '2.1.5', diagnostic: null }, 'delivered'],
      [{ action: 'relayed' }, 'relayed'],
      [{ status: '4.4.7', diagnostic: null }, 'for now'],
      [{ status: '5.2.2', diagnostic: null }, 'mailbox full'],
      [{ status: '5.7.1', diagnostic: 'smtp; 550 5.7.1 blocked' }, 'refused'],
      [{ status: '5.1.1', diagnostic: 'smtp; 550 5.7.1 blocked' }, 'refused'],
      [{ status: '5.3.4', diagnostic: null }, 'message'],
      [{ status: '5.0.0', diagnostic: 'smtp; 550 user unknown' }, 'unclear'],
    ] as const) {
      const outcome = await bounce(server, deliveryStatus({ messageId, ...changes }));
      assert.deepEqual([outcome.type, outcome['why']], ['nothing to do', why]);
    }
    assert.deepEqual(await reasons(server), []);
    const report = deliveryStatus({ messageId, status: '5.0.0', diagnostic: 'smtp; 550 5.1.1 unknown' });
    assert.equal((await bounce(server, report)).type, 'suppressed');
  });

  test("a spam complaint suppresses anyone, but withdraws only a lead's consent", async (server) => {
    const { messageId } = await askForCode(server);
    assert.equal(
      (await bounce(server, feedbackReport({ messageId, feedback: 'not-spam' }))).type,
      'nothing to do',
    );
    assert.equal((await bounce(server, feedbackReport({ messageId }))).type, 'suppressed');
    assert.deepEqual(await reasons(server), ['complained']);
    assert.equal(await server.countRows('withdrawals'), 0);

    await server.advance(61);
    const { leadId } = await becomeLead(server, EMAIL, 2);
    assert.deepEqual(await reasons(server), []);
    const date = new Date(server.now() + 1_000).toUTCString();
    await server.advance(2);
    assert.equal((await bounce(server, feedbackReport({ messageId, date }))).type, 'suppressed');
    assert.equal((await bounce(server, feedbackReport({ messageId, date }))).type, 'already');
    assert.deepEqual(await reasons(server), ['complained']);
    const withdrawals = await server.database.db.selectFrom('withdrawals').selectAll().execute();
    assert.deepEqual(
      withdrawals.map(({ lead_id, way, client_address }) => [lead_id, way, client_address]),
      [[leadId, 'complaint', null]],
    );
  });

  test('a consent verified after a bounce stays valid, whatever date the report states', async (server) => {
    const { messageId } = await askForCode(server);
    await server.advance(61);
    await becomeLead(server, EMAIL, 2);
    await server.advance(3_600);
    for (const date of ['Fri, 20 Nov 2026 12:00:05 +0000', 'Thu, 1 Jan 1970 00:00:00 +0000', 'yesterday'])
      for (const report of [deliveryStatus({ messageId, date }), feedbackReport({ messageId, date })])
        assert.equal((await bounce(server, report)).type, 'outdated', date);
    assert.deepEqual(await reasons(server), []);
    assert.equal(await server.countRows('withdrawals'), 0);
    const date = 'Fri, 20 Nov 2099 12:00:00 +0000';
    assert.equal((await bounce(server, deliveryStatus({ messageId, date }))).type, 'suppressed');
  });

  test('a bounce report does not restore an erased person', async (server) => {
    const { messageId, id } = await askForCode(server);
    await erasePerson(server);
    const to = bounceAddress(server.service.secrets, id, 'bounces.example.com');
    assert.equal((await bounce(server, deliveryStatus({ messageId, to }))).type, 'not ours');
    assert.deepEqual(await reasons(server), ['erased']);
  });
});

onEachEngine('bounce report files', ({ test, engine }) => {
  test('"desk bounce" reads each message in a Maildir or .eml folder once and moves it to done/', async (server) => {
    const { messageId } = await askForCode(server);
    const mail = path.join(folder, engine);
    for (const part of ['new', 'cur', 'tmp', 'done']) mkdirSync(path.join(mail, part), { recursive: true });
    const files = ['new/1.host', 'cur/2.host:2,S', 'a.eml', 'tmp/3.host', 'notes.txt', 'done/a.eml'];
    for (const name of files)
      writeFileSync(path.join(mail, name), name === 'a.eml' ? 'Hello' : deliveryStatus({ messageId }));
    const first = await succeeded(desk(server.service, ['bounce', '--folder', mail]));
    assert.match(first.notes, /a\.eml: this is neither a bounce/);
    assert.match(first.notes, /ada@example\.com does not exist and is now suppressed/);
    assert.match(first.notes, /ada@example\.com is already suppressed/);
    assert.deepEqual(
      readdirSync(path.join(mail, 'done'))
        .map((name) => name.replace(/^[\da-f-]{36}-/, ''))
        .toSorted(),
      ['1.host', '2.host:2,S', 'a.eml', 'a.eml'],
    );
    assert.ok(existsSync(path.join(mail, 'tmp/3.host')) && existsSync(path.join(mail, 'notes.txt')));
    const second = await desk(server.service, ['bounce', '--folder', mail]);
    assert.deepEqual([second.exitCode, second.notes], [0, 'No messages found.']);
  });

  test('"desk bounce" skips messages that another run moved meanwhile', async (server) => {
    const mail = path.join(folder, `twice-${engine}`);
    mkdirSync(mail);
    for (const name of ['a.eml', 'b.eml', 'c.eml']) writeFileSync(path.join(mail, name), 'Hello');
    const notes: string[] = [];
    const note = (line: string) => {
      notes.push(line);
      for (const name of ['a.eml', 'b.eml']) rmSync(path.join(mail, name), { force: true });
    };
    const { exitCode } = await desk(server.service, ['bounce', '--folder', mail], { note });
    assert.deepEqual(
      [exitCode, ...notes.map((line) => line.slice(0, 'a.eml'.length))],
      [0, 'a.eml', 'c.eml'],
      notes.join('\n'),
    );
  });

  test('"desk bounce" reads every report in an mbox and lists the unreadable ones', async (server) => {
    const { messageId } = await askForCode(server);
    const line = 'From MAILER-DAEMON Wed Nov 25 18:00:00 2026\r\n';
    const words = 'Subject: failure notice\r\n\r\nHi. This is the qmail-send program at mx.example.com.\r\n';
    const mbox = `${line}${words}\r\n${line}${deliveryStatus({ messageId })}`;
    const { notes } = await desk(server.service, ['bounce'], { input: () => piped(mbox) });
    assert.match(
      notes,
      /message: this bounce from qmail has no machine-readable part\..*suppress add ADDRESS --reason bounced\.\n.*message \(2\): ada@example\.com does not exist/,
    );
    assert.deepEqual(await reasons(server), ['bounced']);
  });

  test('"desk bounce" rejects a missing folder and a terminal as input', async (server) => {
    for (const [args, exitCode, sentence] of [
      [[], 2, /Use --folder, or pipe in a message/],
      [['--folder', path.join(folder, 'nothing')], 1, /is not a readable folder/],
    ] as const) {
      const called = desk(server.service, ['bounce', ...args], { input: () => null });
      await refused(called, sentence, exitCode);
    }
  });
});

it('the output of "desk bounce" contains no control characters from untrusted text', () =>
  withServer({ engine: 'sqlite' }, async (server) => {
    const hostile = 'a\u200Db\u001B]0;title\u0007\u001B[2J\u009B2J\nb.eml';
    const inbox = path.join(folder, 'hostile');
    mkdirSync(inbox);
    const answers = [];
    for (const extra of [[], ['--json']]) {
      writeFileSync(path.join(inbox, hostile), 'Subject: hello\n\nhello');
      answers.push(await desk(server.service, ['bounce', '--folder', inbox, ...extra]));
    }
    answers.push(await desk(server.service, ['bounce', '--folder', path.join(inbox, hostile)]));
    assert.deepEqual(valuesOf(answers, 'exitCode'), [0, 0, 1]);
    for (const { out, notes } of answers) {
      assert.match(notes, /a\u200Db\uFFFD/);
      assert.doesNotMatch(`${out}${notes}`.replaceAll('\n', ''), /\p{Cc}/u);
    }
    assert.equal((JSON.parse(answers[1]?.out ?? '') as { messages: unknown[] }).messages.length, 1);
  }));
