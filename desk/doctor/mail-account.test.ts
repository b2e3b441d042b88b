import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import { readConfig } from '#server/settings/settings.ts';
import { examineMailAccount, sendSample } from '#desk/doctor/mail-account.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '#testing/certificate.ts';
import { freePort } from '#testing/free-port.ts';
import { startInbox, smtpError } from '#testing/inbox.ts';
import { listening } from '#testing/listening.ts';

async function withMailServer(
  options: SMTPServerOptions,
  test: (port: number) => Promise<void>,
): Promise<void> {
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    onAuth: ({ username, password }, _session, callback) => {
      if (password === 'right') callback(null, { user: username });
      else callback(smtpError(535, '5.7.8 no such user'));
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  try {
    await test((server.server.address() as AddressInfo).port);
  } finally {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }
}

const CLEAR: SMTPServerOptions = {
  hideSTARTTLS: true,
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
};

const states = async (url: string) => {
  const examined = await examineMailAccount(
    { kind: 'smtp', url, dkim: null },
    { publicUrl: 'https://guide.example.com', signal: new AbortController().signal },
  );
  return [examined].flat().map(({ state, sentence }) => `${state}: ${sentence}`);
};

describe('mail account checks', () => {
  const TLS: SMTPServerOptions = { key: TEST_KEY, cert: TEST_CERTIFICATE };
  const trusted = new URLSearchParams({ 'tls.servername': 'localhost', 'tls.ca': TEST_CERTIFICATE });

  for (const [title, options, url, ...sentences] of [
    [
      'the doctor accepts an unencrypted login to a local mail server',
      CLEAR,
      'smtp://user:right@127.0.0.1:PORT',
      /^note: The connection to 127\.0\.0\.1 is not encrypted, but it stays on this machine\.$/,
      /^ok: 127\.0\.0\.1 accepts the login in SMTP_URL\. To test whether it accepts mail from MAIL_FROM, run doctor --send ADDRESS\.$/,
    ],
    [
      'the doctor warns about an unencrypted login to another machine',
      CLEAR,
      'smtp://user:right@0.0.0.0:PORT?requireTLS=false',
      /^warning: The connection to 0\.0\.0\.0 is not encrypted, so user, password/,
      /^ok: /,
    ],
    [
      'the doctor only greets the mail server if SMTP_URL has no login',
      CLEAR,
      'smtp://127.0.0.1:PORT',
      /^note: /,
      /^note: 127\.0\.0\.1 responds\. No login was tried because SMTP_URL has no user/,
    ],
    [
      'the doctor reports a refused login without quoting the mail server',
      CLEAR,
      'smtp://user:wrong@127.0.0.1:PORT',
      /^problem: The mail server 127\.0\.0\.1 refused the login \(535\)\. Check user, password and port/,
    ],
    [
      'the doctor reports a mail server without STARTTLS',
      CLEAR,
      'smtp://user:right@0.0.0.0:PORT',
      /^problem: The mail server 0\.0\.0\.0 offers no trusted TLS connection \(ETLS\)/,
    ],
    [
      'the doctor reports a mail server with an untrusted certificate',
      TLS,
      'smtp://user:right@0.0.0.0:PORT',
      /offers no trusted TLS connection \(DEPTH\w+\)\. .* add \?tls\.rejectUnauthorized=false if/,
    ],
    [
      'the doctor warns if SMTP_URL allows any certificate',
      TLS,
      'smtp://user:right@0.0.0.0:PORT?tls.rejectUnauthorized=false',
      /^warning: The connection to 0\.0\.0\.0 is encrypted \(TLSv1\.3\), but the certificate/,
      /^ok: /,
    ],
    [
      'the doctor accepts a mail server with a trusted certificate',
      TLS,
      `smtp://user:right@0.0.0.0:PORT?${trusted}`,
      /^ok: The connection to 0\.0\.0\.0 is encrypted \(TLSv1\.3\), and its certificate is trusted\.$/,
      /^ok: /,
    ],
    [
      'the doctor says when a mail server expects smtp:// instead of smtps://',
      CLEAR,
      'smtps://127.0.0.1:PORT',
      /^problem: .+ does not use TLS from the start\. Write smtp:\/\/ instead/,
    ],
    [
      'the doctor says when a mail server expects smtps:// instead of smtp://',
      { ...TLS, secure: true },
      'smtp://user:right@127.0.0.1:PORT?greetingTimeout=500',
      /^problem: .+ sent no greeting\. If it uses TLS from the start .+ smtps:\/\//,
    ],
  ] as const)
    it(title, () =>
      withMailServer(options, async (port) => {
        const found = await states(url.replace('PORT', String(port)));
        assert.equal(found.length, sentences.length, found.join('\n'));
        for (const [at, sentence] of sentences.entries()) assert.match(found[at]!, sentence);
      }),
    );

  it('the doctor reports a mail server that does not respond or hangs up', async () => {
    const [away] = await states(`smtp://127.0.0.1:${await freePort()}`);
    assert.match(away ?? '', /^problem: The mail server 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)/);
    await using rude = await listening(createServer((socket) => socket.destroy()));
    const [hungUp] = await states(`smtp://127.0.0.1:${rude.port}`);
    assert.match(hungUp ?? '', /^problem: The mail server 127\.0\.0\.1:\d+ cannot be reached \(E[A-Z]+\)/);
  });
});

describe('sample mail', () => {
  const to = 'ada@example.com';
  const send = async (env: Readonly<Record<string, string>>, folder = '/no/such/folder') => {
    const read = readConfig({ MAIL_FROM: 'Guide <guide@example.com>', ...env }, '/');
    assert(read.type === 'config');
    const { signal } = new AbortController();
    const { state, sentence } = await sendSample(read.config, { to, title: 'Guide & Co', folder, signal });
    return `${state}: ${sentence}`;
  };

  it("the doctor sends the sample like a code mail and shows the mail server's reply", async () => {
    await using inbox = await startInbox();
    assert.match(
      await send({ SMTP_URL: inbox.url }),
      /^ok: The mail server accepted a sample for ada@example\.com with the reply “250 /,
    );
    const { parsed } = await inbox.waitForMail(to);
    assert.equal(inbox.mails.length, 1);
    assert.equal(parsed.from?.address, 'guide@example.com');
    assert.match(parsed.text ?? '', /^This is a test\. The operator of “Guide & Co” sent it/);
    assert.match(parsed.html ?? '', /“Guide &amp; Co”/);
  });

  it('the doctor quotes a mail server that refuses the sample', () =>
    withMailServer(
      {
        ...CLEAR,
        onMailFrom: (_address, _session, callback) => callback(smtpError(550, '5.7.1 sender not yours')),
      },
      async (port) =>
        assert.match(
          await send({ SMTP_URL: `smtp://127.0.0.1:${port}` }),
          /^problem: .*sample for ada@example\.com could not be sent: .*sender not yours/,
        ),
    ));

  it('the doctor reports that the recipient of the sample was refused', async () => {
    await using inbox = await startInbox({ onRecipient: () => smtpError(550, '5.1.1 no such mailbox') });
    assert.match(
      await send({ SMTP_URL: inbox.url }),
      /: The mail server refused the sample .*no such mailbox/,
    );
  });

  it('the doctor writes the sample to a file if no mail account is configured', () =>
    inFolder(async (folder) => {
      assert.match(await send({}, folder), /^note: /);
      assert.equal(readdirSync(path.join(folder, 'data/mail')).length, 1);
    }));
});
