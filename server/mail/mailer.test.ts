import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { it } from 'node:test';

import { SMTPServer } from 'smtp-server';

import { createMailer, cacheIfOneFamilyIsSilent, type Mail, type Mailer } from '#server/mail/mailer.ts';
import { readBounceAddress } from '#server/secrets/mail-links.ts';
import { readConfig } from '#server/settings/settings.ts';
import { becomeLead } from '#testing/become-lead.ts';
import { startInbox, smtpError } from '#testing/inbox.ts';
import { listening } from '#testing/listening.ts';
import { withServer } from '#testing/server-under-test.ts';

async function startClearTextServer() {
  const logins: string[] = [];
  const { server } = new SMTPServer({
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, callback) => {
      logins.push(`${username}:${password}`);
      if (password === 'right') callback(null, { user: username });
      else callback(smtpError(535, '5.7.8 no such user'));
    },
  }).on('error', () => {});
  return { logins, ...(await listening(server)) };
}

/** Answers each chunk of a connection. */
const startRawServer = (answer: (said: string) => string | null, greeting = '220 ready') =>
  listening(
    createServer((socket) => {
      socket.write(`${greeting}\r\n`);
      socket.on('data', (chunk) => {
        const reply = answer(chunk.toString('latin1'));
        if (reply !== null) socket.write(`${reply}\r\n`);
      });
    }),
  );

const MAIL = { id: 'id', to: 'ada@example.com', subject: 'Subject', text: 'Text', html: '<p>Text</p>' };
const mailerFor = (url: string, changes: Partial<Parameters<typeof createMailer>[0]> = {}) => {
  const config = {
    mail: { kind: 'smtp', url, dkim: null },
    publicUrl: 'http://localhost:3000',
    mailFrom: { name: 'Guide', address: 'guide@example.com' },
    ...changes,
  } as const;
  const mailer = createMailer(config, { title: '', folder: '', announce: () => {} });
  return { ...mailer, [Symbol.dispose]: mailer.close };
};
const send = (mailer: Mailer, changes: Partial<Mail> = {}, signal = new AbortController().signal) =>
  mailer.send({ ...MAIL, ...changes }, signal);

it('a mail login never goes unencrypted to another machine unless SMTP_URL allows it', async () => {
  await using server = await startClearTextServer();
  // 0.0.0.0 reaches this machine, but the mailer treats it as another machine.
  const elsewhere = `smtp://user:right@0.0.0.0:${server.port}`;
  using careful = mailerFor(elsewhere);
  assert.equal((await send(careful)).type, 'failed for now');
  assert.match(
    (await careful.tryAccount()) ?? '',
    /^The mail server 0\.0\.0\.0 offers no trusted TLS connection/,
  );
  assert.deepEqual(server.logins, []);
  for (const word of ['requireTLS=false', 'ignoreTLS=true']) {
    using mailer = mailerFor(`${elsewhere}?${word}`);
    assert.equal(await mailer.tryAccount(), null, word);
  }
  assert.equal(server.logins.length, 2);
});

it("a refused mail login is explained without the mail server's words", async () => {
  await using server = await startClearTextServer();
  using right = mailerFor(`smtp://user:right@127.0.0.1:${server.port}`);
  assert.equal(await right.tryAccount(), null);
  using wrong = mailerFor(`smtp://user:wrong@127.0.0.1:${server.port}`);
  assert.equal((await send(wrong)).type, 'failed for now');
  assert.equal(
    await wrong.tryAccount(),
    'The mail server 127.0.0.1 refused the login (535). Check user, password and port in SMTP_URL. For another type of login, add ?authMethod=LOGIN; if the server needs no login, leave out user and password. E-mails stay queued and will be retried.',
  );
});

it('a mail server is reached if DNS has only one address family for it', async () => {
  await using inbox = await startInbox();
  const url = `smtp://mx.example.test:${inbox.port}`;
  const never = new Promise<never>(() => {});
  let cancelled = 0;
  const resolver = {
    resolve4: async () => ['127.0.0.1'],
    resolve6: () => never,
    cancel: () => void (cancelled += 1),
  } as unknown as ReturnType<NonNullable<Parameters<typeof cacheIfOneFamilyIsSilent>[1]>>;
  using mailer = mailerFor(url);
  await cacheIfOneFamilyIsSilent(url, () => resolver);
  assert.equal(cancelled, 1);
  assert.equal((await send(mailer)).type, 'sent');
});

it('the SMTP greeting contains the host of PUBLIC_URL or the name in SMTP_URL', async () => {
  let said = '';
  await using server = await startRawServer((chunk) => {
    said += chunk;
    return '250 yes';
  });
  for (const [publicUrl, words, name] of [
    ['https://guide.example.com/x', '', 'guide.example.com'],
    ['https://guide.example.com', '?name=mail.example.com', 'mail.example.com'],
    ['https://büro.example.com', '', 'xn--bro-hoa.example.com'],
    ['http://localhost:3000', '', null],
    ['http://192.0.2.1', '', null],
  ] as const) {
    said = '';
    using mailer = mailerFor(`smtp://127.0.0.1:${server.port}${words}`, { publicUrl });
    assert.equal(await mailer.tryAccount(), null);
    const [, greeted] = /^EHLO (.*)\r$/m.exec(said) ?? [];
    if (name === null) assert.notEqual(greeted, new URL(publicUrl).hostname);
    else assert.equal(greeted, name);
  }
});

const AUTH = [/^EHLO/, '250-hello\r\n250 AUTH PLAIN LOGIN'] as const;

for (const [title, replies, sentence] of [
  [
    'requires another kind of login',
    [AUTH, [/^AUTH PLAIN/, '504 5.5.4 Unrecognized authentication type']],
    /refused the login \(504\)\. .*add \?authMethod=LOGIN/,
  ],
  [
    'requires another greeting',
    [[/^(?:EHLO|HELO)/, '550 5.7.1 Invalid HELO']],
    /refused our greeting \(550\)\. .*add \?name=mail\.example\.com/,
  ],
  [
    'accepts no mail from this machine',
    [[/^$/, '554 5.7.1 no']],
    /refused our greeting \(554\)\. .*not accept mail from this machine/,
  ],
] as const)
  it(`mail stays queued, with an explanation, if the mail server ${title}`, async () => {
    const replyTo = (said: string) => replies.find(([on]) => on.test(said))?.[1];
    await using server = await startRawServer((said) => replyTo(said) ?? '250 yes', replyTo(''));
    using mailer = mailerFor(`smtp://user:secret@127.0.0.1:${server.port}`);
    assert.match((await mailer.tryAccount()) ?? '', sentence);
    assert.equal((await send(mailer)).type, 'failed for now');
  });

it('mail is sent between ASCII e-mail addresses, whatever letters the domain and the name contain', async () => {
  // smtp-server would decode "xn--".
  let said = '';
  await using server = await startRawServer((chunk) => {
    said += chunk;
    if (!said.endsWith('\r\n')) return null;
    return said.endsWith('DATA\r\n') ? '354 go on' : '250 yes';
  });
  using mailer = mailerFor(`smtp://127.0.0.1:${server.port}`, {
    publicUrl: 'https://guide.example.com/x',
    mailFrom: { name: 'Übermut: ein Leitfaden', address: 'info&guide@exämple.com' },
  });
  assert.equal((await send(mailer, { to: 'leads&co@münchen' })).type, 'sent');
  assert.match(said, /^MAIL FROM:<info&guide@xn--exmple-cua\.com>\r\n/m);
  assert.match(said, /^RCPT TO:<leads&co@xn--mnchen-3ya>\r\n/m);
  assert.match(said, /^[\t\r\n\x20-\x7E]*$/);
});

it('mail is sent from the sender in MAIL_FROM', async () => {
  await using inbox = await startInbox();
  for (const name of [
    'Guide',
    'Acme: The Guide',
    'Tom: Guides;',
    'Acme (EU) Ltd.',
    '5" Guide \\ Co',
    'Acme, Inc.',
    'guide@example.org',
    'Anna’s “best” Führer: für alle, die noch nie einen Führer gelesen haben',
  ]) {
    const read = readConfig({ SMTP_URL: inbox.url, MAIL_FROM: `${name} <guide@example.com>` }, '/');
    assert(read.type === 'config', name);
    using mailer = mailerFor(inbox.url, read.config);
    await send(mailer);
    assert.deepEqual(inbox.mails.at(-1)?.parsed.from, { name, address: 'guide@example.com' });
  }
});

it('mail asks Exchange for no automatic reply except a bounce', async () => {
  await using inbox = await startInbox();
  using mailer = mailerFor(inbox.url);
  await send(mailer);
  const { value = '' } =
    inbox.mails[0]?.parsed.headers.find(({ key }) => key === 'x-auto-response-suppress') ?? {};
  // NDR, and All, which includes it, suppress bounces.
  assert.deepEqual(value.split(', ').toSorted(), ['AutoReply', 'DR', 'NRN', 'OOF', 'RN']);
});

it('mail is no longer sent once its delivery has been given up', async () => {
  const connected: unknown[] = [];
  await using server = await listening(createServer((socket) => connected.push(socket)));
  using mailer = mailerFor(`smtp://127.0.0.1:${server.port}`);
  const outcome = await send(mailer, {}, AbortSignal.abort());
  assert(outcome.type === 'failed for now');
  assert.equal(outcome.errorClass, 'stalled');
  assert.deepEqual(connected, []);
});

const EMAIL = 'ada@example.com';

it('the signed return path identifies each mail and does not change the visible sender', () =>
  withServer(
    { engine: 'sqlite', env: { BOUNCE_DOMAIN: 'bounces.example.com', GUIDE_EMAIL: 'link' } },
    async (server) => {
      await becomeLead(server, EMAIL);
      await server.inbox.waitForMail(EMAIL, 2);
      const mails = server.inbox.mailsTo(EMAIL);
      const rows = await server.database.db.selectFrom('outbox').select('id').execute();
      const named = mails.map(({ from, parsed, raw }) => {
        const [local = '', domain] = from.split('@');
        assert.equal(domain, 'bounces.example.com');
        assert.ok(local.length <= 64, local);
        assert.equal(local, local.toLowerCase());
        assert.equal(parsed.from?.address, 'guide@example.com');
        assert.doesNotMatch(raw, /bounces\.example\.com/);
        return readBounceAddress(server.service.secrets, from);
      });
      assert.deepEqual(named.toSorted(), rows.map(({ id }) => id).toSorted());
    },
  ));
