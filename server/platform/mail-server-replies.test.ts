import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  isAboutUs,
  meaningOf,
  meaningOfAll,
  type ReplyMeaning,
} from '#server/platform/mail-server-replies.ts';

const REPLIES: Readonly<Record<ReplyMeaning, readonly string[]>> = {
  'no such address': [
    '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in virtual mailbox table',
    '550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking it',
    '550 5.1.2 Bad destination system address',
    '501 5.1.3 Bad recipient address syntax',
    '551 5.1.6 User has moved',
    '556 5.1.10 Recipient address has null MX',
    '550 5.2.1 The email account that you tried to reach is disabled',
    '550-5.2.1 The email account that you tried to reach is inactive. For more\n550 5.2.1 information, go to',
    '550 5.2.1 Mailbox disabled, not accepting messages',
    '550 #5.1.1 no such user',
    '5.1.1',
    '5.1.1 (bad destination mailbox address)',
    'smtp;550 5.1.1 unknown',
    '550 5.01.001 padded',
  ],
  'mailbox full': ['552 5.2.2 The email account that you tried to reach is over quota', '5.2.2'],
  refused: [
    '550 5.7.1 Message rejected due to content restrictions',
    '550 5.7.26 This mail has been blocked because the sender is unauthenticated',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked; user unknown',
    '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages',
    'smtp; 550 5.2.1 Content Filter agent quarantined this message',
    '550 5.2.1 Mailbox temporarily disabled',
    '550 5.2.1 This account has been suspended',
    '554 5.2.1 Mail is disabled for you: it looks like spam',
  ],
  message: [
    '552 5.3.4 Message size exceeds fixed limit',
    '554 5.6.0 Invalid message content',
    '552 5.2.3 Too long',
  ],
  'for now': [
    '452 4.2.2 Mailbox full',
    '451 Greylisted',
    '450 5.1.1 a code that contradicts its reply',
    '550 4.1.1 and the other way round',
    '4.4.7',
  ],
  unclear: [
    '550 No such user here',
    '550 user unknown',
    '554 delivery error: dd This user does not have a yahoo.com account',
    '550 5.1.0 Address rejected',
    '550 5.2.1 Mailbox unavailable',
    '5.2.1',
    '550 5.1.7 Bad sender address',
    '550 5.1.8 Sender address rejected: Domain not found',
    '550 5.4.1 Recipient address rejected: Access denied',
    '550 5.4.4 Host or domain name not found',
    '5.0.0',
    '550 said the relay, whose own said 5.1.1',
    '550 5.1.1.9 is the address of a machine',
    '250',
    '2.1.5',
    '',
    'nonsense',
  ],
};

for (const [meaning, replies] of Object.entries(REPLIES))
  it(`meaningOf classifies an SMTP reply as "${meaning}"`, () => {
    for (const reply of replies) assert.equal(meaningOf(reply), meaning, reply);
  });

it('isAboutUs distinguishes a final reply about us from one about the recipient', () => {
  for (const reply of [
    '504 5.5.2 <[127.0.0.1]>: Helo command rejected: need fully-qualified hostname',
    '550 5.7.1 <[127.0.0.1]>: Helo command rejected: Host not found',
    '554 5.7.1 <ada@example.com>: Relay access denied',
    '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain',
    '530 5.7.1 Authentication required',
    '550 5.7.8 Please log in',
    '503 AUTH first (#5.5.1)',
    '550 5.4.5 Daily user sending limit exceeded',
    '552 Your plan has reached its monthly limit',
    '550 Your account has been suspended',
    '550 5.7.1 Sending account disabled due to abuse',
    '554 Message rejected: Email address is not verified. The following identities failed the check: ada@example.com',
    '553 5.7.1 <guide@example.com>: Sender address rejected: not owned by user x',
    '550 5.1.8 Sender address rejected: Domain not found',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.example.org',
    '550 5.7.26 This mail has been blocked because the sender is unauthenticated',
  ])
    assert.equal(isAboutUs(reply), true, reply);
  for (const reply of [
    '550 No such user here',
    '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown in relay recipient table',
    '550 5.2.1 The email account that you tried to reach is disabled',
    '552 Mailbox quota exceeded',
    '552 5.3.4 Message size exceeds fixed limit',
    '550 5.7.1 Message rejected due to content restrictions',
    '550 5.4.1 Recipient address rejected: Access denied',
    '550 Nope',
  ])
    assert.equal(isAboutUs(reply), false, reply);
  assert.equal(isAboutUs(`550 ${'long '.repeat(1_000)}relaying denied`), false, 'only the start is read');
});

it('meaningOfAll reports a dead e-mail address only if no reply contradicts it', () => {
  assert.equal(meaningOfAll(['5.0.0', 'smtp; 550 5.1.1 unknown']), 'no such address');
  assert.equal(meaningOfAll(['5.1.1', 'smtp; 550 unknown']), 'no such address');
  assert.equal(meaningOfAll(['5.1.1', 'smtp; 550 5.7.1 blocked']), 'refused');
  assert.equal(meaningOfAll(['5.2.1', 'smtp; 550 5.2.1 The account is disabled']), 'no such address');
  assert.equal(meaningOfAll(['5.2.1', 'smtp; 550 5.2.1 It was quarantined']), 'refused');
  assert.equal(meaningOfAll(['5.1.1', 'smtp; 451 4.7.1 later']), 'for now');
  assert.equal(meaningOfAll([]), 'unclear');
});
