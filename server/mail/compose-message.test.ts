import assert from 'node:assert/strict';
import { it } from 'node:test';

import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import PostalMime, { type Email } from 'postal-mime';

import { composeMessage } from '#server/mail/compose-message.ts';

type Written = {
  readonly name: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly filename: string | null;
  readonly content: Uint8Array;
};

const ADDRESS = 'guide@example.com';
const RECIPIENT = { name: '', address: 'ada@example.com' };
const DATE = 'Sat, 21 Nov 2026 12:00:00 +0000';

const ours = ({ name, subject, text, html, filename, content }: Written): Buffer =>
  composeMessage({
    headers: {
      From: { name, address: ADDRESS },
      To: RECIPIENT,
      Subject: subject,
      'Message-ID': '<1@example.com>',
      Date: DATE,
    },
    text,
    html,
    ...(filename !== null && { attachment: { filename, content: Buffer.from(content) } }),
  });

const library = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
async function theirs({ name, subject, text, html, filename, content }: Written): Promise<Buffer> {
  const { message } = await library.sendMail({
    from: { name, address: ADDRESS },
    to: RECIPIENT,
    subject,
    text,
    html,
    messageId: '<1@example.com>',
    date: DATE,
    xMailer: false,
    ...(filename !== null && { attachments: [{ filename, content: Buffer.from(content) }] }),
  });
  assert.ok(Buffer.isBuffer(message));
  return message;
}

/** What a reader gets. */
const read = async (message: Buffer) => {
  const { from, to, subject, messageId, date, text, html, attachments }: Email =
    await PostalMime.parse(message);
  // The two may choose another encoding. The parser ends a line of one, and leaves the line ends of the other as they are.
  const lines = (part = '') => part.replaceAll('\r\n', '\n').trimEnd();
  return { from, to, subject, messageId, date, text: lines(text), html: lines(html), attachments };
};

/** Without the control characters that no word of ours has, and which nodemailer leaves out of headers. */
const words = (maxLength: number) =>
  fc.string({ unit: 'grapheme', maxLength }).map((text) => text.replaceAll(/\p{C}/gu, ' ').trim());

it('a reader gets of a message what nodemailer would have sent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        name: words(40),
        subject: words(200).filter((subject) => subject !== ''),
        text: fc.array(words(300), { maxLength: 6 }).map((lines) => `${lines.join('\n')}\n`),
        html: fc.array(words(1_200), { maxLength: 3 }).map((lines) => `<p>${lines.join('\n')}</p>`),
        filename: fc.option(fc.constantFrom('guide.pdf', 'Leitfaden für Übermut.pdf', 'a "b"; c.epub', 'x')),
        content: fc.uint8Array({ maxLength: 200 }),
      }),
      async (written) => {
        const message = ours(written);
        assert.deepEqual(await read(message), await read(await theirs(written)));
        // RFC 5322, section 2.1.1, and nothing beyond ASCII that a mail server might have to change.
        for (const line of message.toString('latin1').split('\r\n')) {
          assert.ok(line.length <= 998, `${line.length} characters`);
          assert.match(line, /^[\t\x20-\x7E]*$/);
        }
      },
    ),
    { numRuns: 300 },
  );
});
