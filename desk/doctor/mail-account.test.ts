// The mail account, tried on real mail servers that behave and misbehave; and the sample.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { describe, it } from 'node:test';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import { readConfig, type Config } from '#server/settings/settings.ts';
import { examineMailAccount } from '#desk/doctor/mail-account.ts';
import { sendSample } from '#desk/doctor/sample.ts';
import { inFolder } from '#testing/folder.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '#testing/certificate.ts';
import { startInbox } from '#testing/inbox.ts';

const NOW = Date.UTC(2026, 10, 20);
const never = () => new AbortController().signal;

/** Runs a test against a mail server, and stops it whatever happens. @param test receives its port */
async function withMailServer(
  options: SMTPServerOptions,
  test: (port: number) => Promise<void>,
): Promise<void> {
  const server = new SMTPServer({
    disableReverseLookup: true,
    authOptional: true,
    onAuth: ({ username, password }, _session, callback) => {
      if (password === 'right') callback(null, { user: username });
      else callback(Object.assign(new Error('5.7.8 no such user'), { responseCode: 535 }));
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

const states = async (url: string, signal = never()) => {
  const findings = await examineMailAccount(url, {
    publicUrl: 'https://guide.example.com',
    now: NOW,
    signal,
  });
  return findings.map(({ state, sentence }) => `${state}: ${sentence}`);
};

describe('the mail account', () => {
  it('is well when the login is taken, and says whether the connection is encrypted', () =>
    withMailServer(CLEAR, async (port) => {
      assert.deepEqual(await states(`smtp://user:right@127.0.0.1:${port}`), [
        'note: The connection to 127.0.0.1 is not encrypted; it stays on this machine.',
        'ok: 127.0.0.1 takes the login of SMTP_URL. Whether it takes mail from MAIL_FROM, doctor --send ADDRESS tries.',
      ]);
      // This machine under an address that is none of its loopback's: any other machine, as far as anybody can tell.
      const [elsewhere] = await states(`smtp://user:right@0.0.0.0:${port}?requireTLS=false`);
      assert.match(
        elsewhere ?? '',
        /^warning: The connection to 0\.0\.0\.0 is not encrypted, and user, password/,
      );
      const [, noLogin] = await states(`smtp://127.0.0.1:${port}`);
      assert.match(noLogin ?? '', /^note: 127\.0\.0\.1 greets us\. SMTP_URL has no user/);
    }));

  it('is a problem when the login is refused, in a sentence without the words of the server', () =>
    withMailServer(CLEAR, async (port) => {
      const [found, ...others] = await states(`smtp://user:wrong@127.0.0.1:${port}`);
      assert.match(
        found ?? '',
        /^problem: The mail server 127\.0\.0\.1 refused the login: check user and password/,
      );
      assert.deepEqual(others, []);
    }));

  it('is a problem when the login would have to go in clear: no STARTTLS is offered', () =>
    withMailServer(CLEAR, async (port) => {
      const [found] = await states(`smtp://user:right@0.0.0.0:${port}`);
      assert.match(
        found ?? '',
        /^problem: The mail server 0\.0\.0\.0 offers no TLS that can be trusted \(ETLS\)/,
      );
    }));

  it('is a problem when the certificate is not trusted, and a warning where SMTP_URL allows that', () =>
    withMailServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, async (port) => {
      const url = `smtp://user:right@0.0.0.0:${port}`;
      const [untrusted] = await states(url);
      assert.match(untrusted ?? '', /^problem: The mail server 0\.0\.0\.0 offers no TLS that can be trusted/);
      const [encrypted, login] = await states(`${url}?tls.rejectUnauthorized=false`);
      assert.match(
        encrypted ?? '',
        /^warning: The connection to 0\.0\.0\.0 is encrypted \(TLSv1\.3\), but its certificate/,
      );
      assert.match(login ?? '', /^ok: /);
    }));

  it('is well when the connection is encrypted with a certificate that is trusted, and a warning when that ends soon', () =>
    withMailServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, async (port) => {
      const trusted = new URLSearchParams({ 'tls.servername': 'localhost', 'tls.ca': TEST_CERTIFICATE });
      const url = `smtp://user:right@0.0.0.0:${port}?${trusted}`;
      assert.equal(
        (await states(url))[0],
        'ok: The connection to 0.0.0.0 is encrypted (TLSv1.3), with a certificate that can be trusted.',
      );
      const [ending] = await examineMailAccount(url, {
        publicUrl: 'https://guide.example.com',
        now: Date.UTC(2119, 11, 25),
        signal: never(),
      });
      assert.equal(ending?.state, 'warning');
      assert.match(ending.sentence, /Its certificate ends in 7 days/);
    }));

  it('is a problem when no server answers, or the server hangs up', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.on('connection', (socket: Socket) => socket.destroy());
    const [hungUp] = await states(`smtp://127.0.0.1:${port}`);
    assert.match(hungUp ?? '', /^problem: The mail server 127\.0\.0\.1:\d+ cannot be used \(E[A-Z]+\)/);
    gone.close();
    await once(gone, 'close');
    const [away] = await states(`smtp://127.0.0.1:${port}`);
    assert.match(away ?? '', /^problem: The mail server 127\.0\.0\.1:\d+ cannot be used \(ECONNREFUSED\)/);
  });

  it('that says nothing is given up when the time is over, and the connection is closed', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const limit = new AbortController();
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    const examined = states(`smtp://127.0.0.1:${port}`, limit.signal);
    const [socket] = await connected;
    socket.on('error', () => {});
    const closed = once(socket.resume(), 'close');
    limit.abort();
    const [found] = await examined;
    assert.match(found ?? '', /^problem: The mail server .* cannot be used \(ETIMEDOUT\)/);
    await closed;
    silent.close();
  });
});

describe('the sample', () => {
  const settings = (env: Readonly<Record<string, string>>): Config => {
    const read = readConfig({ MAIL_FROM: 'Guide <guide@example.com>', ...env });
    assert(read.type === 'config');
    return read.config;
  };
  const to = 'ada@example.com';
  const parts = { to, title: 'Guide & Co', folder: '/no/such/folder' };

  it('goes the way of the codes, says that it is a test, and shows the mail server’s answer', async () => {
    const inbox = await startInbox();
    try {
      const [found] = await sendSample(settings({ SMTP_URL: inbox.url }), { ...parts, signal: never() });
      assert.equal(found?.state, 'ok', found?.sentence);
      assert.match(found.sentence, /^The mail server took a sample for ada@example\.com and said “250 /);
      const { parsed } = await inbox.waitForMail(to);
      assert.equal(inbox.mails.length, 1);
      assert.equal(parsed.from?.address, 'guide@example.com');
      assert.match(parsed.text ?? '', /^This is a test\. The operator of “Guide & Co” asked for it/);
      assert.match(parsed.html ?? '', /“Guide &amp; Co”/);
    } finally {
      await inbox.close();
    }
  });

  it('that is refused is a problem, with the words of the mail server', () =>
    withMailServer(
      {
        ...CLEAR,
        onMailFrom: (_address, _session, callback) =>
          callback(Object.assign(new Error('5.7.1 sender not yours'), { responseCode: 550 })),
      },
      async (port) => {
        const config = settings({ SMTP_URL: `smtp://127.0.0.1:${port}` });
        const [found] = await sendSample(config, { ...parts, signal: never() });
        assert.equal(found?.state, 'problem');
        assert.match(found.sentence, /sample for ada@example\.com could not be sent: .*sender not yours/);
      },
    ));

  it('that finds its recipient refused says so', async () => {
    const inbox = await startInbox({
      onRecipient: () => Object.assign(new Error('5.1.1 no such mailbox'), { responseCode: 550 }),
    });
    try {
      const [found] = await sendSample(settings({ SMTP_URL: inbox.url }), { ...parts, signal: never() });
      assert.match(found?.sentence ?? '', /^The mail server refused the sample .*no such mailbox/);
    } finally {
      await inbox.close();
    }
  });

  it('that hangs is given up when the time is over', async () => {
    const limit = new AbortController();
    const { promise: goOn, resolve: end } = Promise.withResolvers<null>();
    const inbox = await startInbox({
      onMessage: () => {
        limit.abort();
        return goOn;
      },
    });
    try {
      const [found] = await sendSample(settings({ SMTP_URL: inbox.url }), { ...parts, signal: limit.signal });
      assert.equal(found?.state, 'problem');
      assert.match(found.sentence, /could not be sent/);
    } finally {
      end(null);
      await inbox.close();
    }
  });

  it('is a file where there is no mail account, and is not sent with a key that does not sign', () =>
    inFolder(async (folder) => {
      const [file] = await sendSample(settings({}), { ...parts, folder, signal: never() });
      assert.equal(file?.state, 'note');
      assert.equal(readdirSync(path.join(folder, 'data/mail')).length, 1);
      const inbox = await startInbox();
      try {
        const unsigned = settings({
          SMTP_URL: inbox.url,
          DKIM_DOMAIN: 'example.com',
          DKIM_SELECTOR: 'guide',
          DKIM_PRIVATE_KEY_FILE: path.join(folder, 'no-such.pem'),
        });
        const [found] = await sendSample(unsigned, { ...parts, signal: never() });
        assert.match(found?.sentence ?? '', /^No sample was sent: DKIM_PRIVATE_KEY_FILE/);
        assert.deepEqual(inbox.mails, []);
        assert(!existsSync('/no/such/folder'));
      } finally {
        await inbox.close();
      }
    }));
});
