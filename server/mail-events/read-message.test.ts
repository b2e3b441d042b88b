// Reports as they come, read without a database.
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { readReturnedMessage } from '#server/mail-events/read-message.ts';
import { deliveryStatus, feedbackReport } from '#testing/returned-mail.ts';

const read = (text: string) => readReturnedMessage(Buffer.from(text));

it('reads a report of a failed delivery: folded fields, line ends of either kind, the line of an mbox', async () => {
  const text = deliveryStatus({ messageId: '<an-id@example.com>', original: 'Ada@Example.com' });
  for (const variant of [
    text,
    text.replaceAll('\r\n', '\n'),
    `From MAILER-DAEMON Fri Nov 20 12:00:05 2026\r\n${text}`,
  ]) {
    assert.deepEqual(await read(variant), {
      type: 'delivery status',
      messageIds: ['<an-id@example.com>'],
      cameTo: ['guide@example.com', 'guide@example.com'],
      writtenAt: Date.UTC(2026, 10, 20, 12, 0, 5),
      recipients: [
        {
          addresses: ['ada@example.com', 'Ada@Example.com'],
          action: 'failed',
          answers: [
            '5.1.1',
            'smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
          ],
        },
      ],
    });
  }
});

it('reads a complaint, with the headers alone of what it is about', async () => {
  assert.deepEqual(
    await read(feedbackReport({ messageId: '<an-id@example.com>', mailFrom: 'b-1@bounce.example' })),
    {
      type: 'feedback',
      feedback: 'abuse',
      messageIds: ['<an-id@example.com>'],
      cameTo: ['<guide@example.com>', '<b-1@bounce.example>'],
      writtenAt: Date.UTC(2026, 10, 20, 12, 0, 5),
    },
  );
});

it('reads a report whose end is missing, as long as the report itself is there', async () => {
  const text = deliveryStatus({ messageId: '<an-id@example.com>' });
  const cut = await read(text.slice(0, text.indexOf('Date: Fri, 20 Nov 2026 12:00:00')));
  assert.equal(cut.type, 'delivery status');
  assert.deepEqual(cut.messageIds, ['<an-id@example.com>']);
});

it('reads nothing else as a report', async () => {
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
    deliveryStatus().replace('Content-Type: message/delivery-status', 'Content-Type: text/plain'),
  ])
    assert.deepEqual(await read(text), { type: 'other' }, text.slice(0, 60));
  assert.deepEqual(await readReturnedMessage(new Uint8Array([0, 255, 254, 10, 13])), { type: 'other' });
});
