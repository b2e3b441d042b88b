import assert from 'node:assert/strict';
import { it } from 'node:test';

import { messagesOf, readReturnedMessage } from '#server/bounces/read-message.ts';
import { deliveryStatus, feedbackReport } from '#testing/returned-mail.ts';

const read = (text: string) => readReturnedMessage(Buffer.from(text));

it('a bounce report is read with folded fields, either line ending or an mbox line', async () => {
  const text = deliveryStatus({ messageId: '<an-id@example.com>', original: 'Ada@Example.com' });
  for (const variant of [
    text,
    text.replaceAll('\r\n', '\n'),
    `From MAILER-DAEMON Fri Nov 20 12:00:05 2026\r\n${text}`,
  ]) {
    assert.deepEqual(await read(variant), {
      type: 'delivery status',
      messageIds: ['<an-id@example.com>'],
      deliveredTo: ['guide@example.com', 'guide@example.com'],
      writtenAt: Date.UTC(2026, 10, 20, 12, 0, 5),
      recipients: [
        {
          address: 'ada@example.com',
          action: 'failed',
          replies: [
            '5.1.1',
            'smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
          ],
        },
      ],
    });
  }
});

it("a bounce report's final recipient takes precedence over the original one", async () => {
  for (const [recipient, expected] of [
    ['ada@example.com', 'ada@example.com'],
    ['<ada@example.com> (Ada Lovelace)', 'ada@example.com'],
    ['ada@example.com (Ada Lovelace)', 'ada@example.com'],
    ['', 'gus@example.com'],
  ] as const) {
    const text = deliveryStatus({ recipient, original: 'gus@example.com', action: 'Failed (permanently)' });
    const message = await read(text.replace('Final-Recipient: rfc822; \r\n', ''));
    assert.ok(message.type === 'delivery status');
    assert.deepEqual(
      message.recipients.map(({ address, action }) => [address, action]),
      [[expected, 'failed']],
    );
  }
});

it('the original Message-ID is found in a bounce report even if a relay has replaced it', async () => {
  const relays = deliveryStatus({ messageId: '<0102019aaaf5@relay.example>' });
  const message = await read(
    relays.replace(
      'Message-ID: <0102',
      'X-Original-Message-ID: <an-id@example.com>\r\nReferences: <one@x> <another@x>\r\nMessage-ID: <0102',
    ),
  );
  assert.ok(message.type === 'delivery status');
  assert.deepEqual(message.messageIds, [
    '<0102019aaaf5@relay.example>',
    '<an-id@example.com>',
    '<one@x> <another@x>',
  ]);
});

it('the program that wrote a bounce report in free text is recognised', async () => {
  for (const [text, program] of [
    [
      'Subject: failure notice\n\nHi. This is the qmail-send program at mx.example.com.\nI am afraid',
      'qmail',
    ],
    ['X-Failed-Recipients: ada@example.com\nSubject: Mail delivery failed\n\nThis message was', 'Exim'],
    ['Subject: DELIVERY FAILURE: User ada not listed\n\nYour document', 'Domino'],
    [
      deliveryStatus().replace('Content-Type: message/delivery-status', 'Content-Type: text/plain'),
      'a mail server',
    ],
  ] as const)
    assert.deepEqual(await read(text), { type: 'unreadable report', program });
});

it('an mbox is split into its messages', async () => {
  const line = 'From MAILER-DAEMON Wed Nov 25 18:00:00 2026\r\n';
  const one = `${deliveryStatus().replace('’', "'")}\r\nFrom here on, nothing is new.\r\n\r\n>From x 10:00\r\n`;
  for (const [text, expected] of [
    [`${line}${one}\r\n${line}${one}`, [`${line}${one}\r\n`, `${line}${one}`]],
    [one, [one]],
    [`${one}\r\n${line}${one}`, [`${one}\r\n${line}${one}`]],
    ['', ['']],
  ] as const) {
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at += 999) yield Buffer.from(text.slice(at, at + 999), 'latin1');
    }
    const messages = await Array.fromAsync(messagesOf(pieces()));
    assert.deepEqual(
      messages.map((message) => Buffer.from(message).toString('latin1')),
      expected,
    );
  }
});

it('a spam complaint is read even if it contains only the headers of the mail', async () => {
  assert.deepEqual(
    await read(feedbackReport({ messageId: '<an-id@example.com>', mailFrom: 'b-1@bounce.example' })),
    {
      type: 'feedback',
      feedback: 'abuse',
      messageIds: ['<an-id@example.com>'],
      deliveredTo: ['<guide@example.com>', '<b-1@bounce.example>'],
      writtenAt: Date.UTC(2026, 10, 20, 12, 0, 5),
    },
  );
});

it('a truncated bounce report is read if its report part is complete', async () => {
  const text = deliveryStatus({ messageId: '<an-id@example.com>' });
  const cut = await read(text.slice(0, text.indexOf('Date: Fri, 20 Nov 2026 12:00:00')));
  assert.equal(cut.type, 'delivery status');
  assert.deepEqual(cut.messageIds, ['<an-id@example.com>']);
});

it('mail that is not a bounce report or complaint is ignored', async () => {
  const nested = Array.from(
    { length: 60 },
    (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
  ).join('');
  for (const text of [
    '',
    'nonsense',
    'Subject: Out of office\r\n\r\nI am away. Status: 5.1.1 Action: failed',
    `Subject: ${'x'.repeat(500_000)}\r\n\r\nBody`,
    nested,
  ])
    assert.deepEqual(await read(text), { type: 'other' }, text.slice(0, 60));
  assert.deepEqual(await readReturnedMessage(new Uint8Array([0, 255, 254, 10, 13])), { type: 'other' });
});
