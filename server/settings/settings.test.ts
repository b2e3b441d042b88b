import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { SETTING_NAMES } from '#server/settings/setting-rules.ts';
import { readConfig, resolvePaths, type Config } from '#server/settings/settings.ts';
import { needsTls } from '#server/platform/smtp-url.ts';
import { BLOCKED_PORTS } from '#server/settings/addresses-in-settings.ts';

const configOf = (env: Record<string, string>): Config => {
  const result = readConfig(env);
  assert(result.type === 'config', JSON.stringify(result));
  return result.config;
};

const complaintsOf = (env: Record<string, string>): readonly string[] => {
  const result = readConfig(env);
  assert(result.type === 'complaints');
  return result.complaints;
};

describe('settings', () => {
  it('need none: the defaults run the site here, with a file database and no mail account', () => {
    assert.deepEqual(configOf({}), {
      port: 3000,
      host: '127.0.0.1',
      publicUrl: 'http://localhost:3000',
      basePath: '',
      secure: false,
      database: { engine: 'sqlite', file: './data/leads.db' },
      mail: { kind: 'files' },
      mailFrom: null,
      bounceDomain: null,
      mailEvents: { sesTopic: null, postmarkLogin: null, mailgunKey: null, sendgridKey: null },
      appSecrets: [],
      trustProxy: false,
      logLevel: 'info',
      limits: { leadsPerIpPerHour: 100, leadsPerEmailPerHour: 5, verifyPerIpPerHour: 300, codeAttempts: 5 },
      codeTtlSeconds: 600,
      resendSeconds: 60,
      breaker: { codesPerMinute: 1000, unenteredPercent: 70 },
      retention: { unverifiedDays: 30, mailDays: 30 },
      funnelCounting: true,
      operatorEmail: null,
      guideEmail: 'off',
      newLeadEmail: 'off',
      newLeadEmailAtMs: 7 * 3_600_000,
      freeMail: 'off',
      disposableMail: 'off',
      webhooks: { urls: [], secrets: [], allowPrivate: false },
      desk: null,
      metrics: null,
    });
  });

  it('take a domain for return paths, and what providers sign events with, only as they are', () => {
    assert.equal(configOf({ BOUNCE_DOMAIN: 'Bounces.Example.com' }).bounceDomain, 'bounces.example.com');
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const other = generateKeyPairSync('ed25519').publicKey;
    const base64Of = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64');
    const right = {
      MAIL_EVENTS_SES_TOPIC: 'arn:aws:sns:eu-west-1:123456789012:guide-mail',
      MAIL_EVENTS_POSTMARK_LOGIN: 'postmark:0123456789abcdef',
      MAIL_EVENTS_MAILGUN_KEY: '0123456789abcdef',
      MAIL_EVENTS_SENDGRID_KEY: base64Of(publicKey),
    };
    assert.deepEqual(configOf(right).mailEvents, {
      sesTopic: right.MAIL_EVENTS_SES_TOPIC,
      postmarkLogin: right.MAIL_EVENTS_POSTMARK_LOGIN,
      mailgunKey: right.MAIL_EVENTS_MAILGUN_KEY,
      sendgridKey: right.MAIL_EVENTS_SENDGRID_KEY,
    });
    for (const [name, wrong, sentence] of [
      ['BOUNCE_DOMAIN', 'bounces@example.com', /must be a domain alone/],
      ['BOUNCE_DOMAIN', 'localhost', /must be a domain alone/],
      ['BOUNCE_DOMAIN', `${'a.'.repeat(100)}example.com`, /must be a domain alone/],
      ['MAIL_EVENTS_SES_TOPIC', 'guide-mail', /must be the ARN/],
      ['MAIL_EVENTS_SES_TOPIC', 'arn:aws:sns:evil.example/x:123456789012:guide', /must be the ARN/],
      ['MAIL_EVENTS_POSTMARK_LOGIN', 'postmark:short', /must be a user and a password of 16/],
      ['MAIL_EVENTS_POSTMARK_LOGIN', '0123456789abcdef0123', /must be a user and a password of 16/],
      ['MAIL_EVENTS_MAILGUN_KEY', 'short', /must be the HTTP webhook signing key/],
      ['MAIL_EVENTS_SENDGRID_KEY', base64Of(other), /must be the verification key/],
      ['MAIL_EVENTS_SENDGRID_KEY', 'nonsense', /must be the verification key/],
    ] as const) {
      const [complaint = '', ...others] = complaintsOf({ [name]: wrong });
      assert.deepEqual(others, []);
      assert.match(complaint, sentence);
      assert.ok(complaint.startsWith(name), complaint);
    }
  });

  it('keep no mail for longer than its code, and nothing for a time that the breaker looks back on', () => {
    assert.deepEqual(configOf({ RETENTION_DAYS: '9' }).retention, { unverifiedDays: 9, mailDays: 9 });
    assert.deepEqual(configOf({ RETENTION_DAYS: '0', MAIL_RETENTION_DAYS: '10' }).retention, {
      unverifiedDays: 0,
      mailDays: 10,
    });
    for (const days of ['8', '-1', '30.5', 'a month'])
      assert.deepEqual(complaintsOf({ RETENTION_DAYS: days }), [
        'RETENTION_DAYS must be a whole number of days from 9, or 0 for ever: limits and the breaker look back so far.',
      ]);
    for (const days of ['31', '0'])
      assert.deepEqual(complaintsOf({ MAIL_RETENTION_DAYS: days }), [
        'MAIL_RETENTION_DAYS must not be more than RETENTION_DAYS: a mail is not kept for longer than its code.',
      ]);
  });

  it('are taken from the environment, empty ones count as unset', () => {
    const config = configOf({
      PORT: '8080',
      HOST: '',
      PUBLIC_URL: 'https://guide.example.com/',
      DATABASE_URL: 'postgres://user:secret@db/leads?sslmode=verify-full',
      SMTP_URL: 'smtps://user:secret@mail.example.com',
      MAIL_FROM: 'The Guide <guide@example.com>',
      APP_SECRET: `${'n'.repeat(32)}, ${'o'.repeat(40)}`,
      LEADS_PER_IP_PER_HOUR: '0',
      CODE_TTL_SECONDS: '300',
    });
    assert.equal(config.port, 8080);
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.publicUrl, 'https://guide.example.com');
    assert.equal(config.basePath, '');
    assert.equal(config.secure, true);
    assert.deepEqual(config.appSecrets, ['n'.repeat(32), 'o'.repeat(40)]);
    assert.equal(config.limits.leadsPerIpPerHour, 0);
    assert.equal(config.codeTtlSeconds, 300);
    assert.equal(config.database.engine, 'postgres');
  });

  it('open one server, where the name of this machine would open two', () => {
    assert.equal(configOf({ HOST: 'localhost' }).host, '127.0.0.1');
    assert.equal(configOf({ HOST: '::1' }).host, '::1');
  });

  it('say where a file database lies', () => {
    const fileOf = (url: string) => {
      const { database } = configOf({ DATABASE_URL: url });
      return database.engine === 'sqlite' ? database.file : null;
    };
    assert.equal(fileOf('file:./data/leads.db'), './data/leads.db');
    assert.equal(fileOf('file:leads.db'), 'leads.db');
    assert.equal(fileOf('file:/var/lib/leads.db'), '/var/lib/leads.db');
    assert.equal(fileOf('file:///var/lib/leads.db'), '/var/lib/leads.db');
  });

  it('listen on two ports, of which one is for visitors', () => {
    const both = { PORT: '3000', METRICS_PORT: '3000' };
    const same = 'METRICS_PORT must be another number than PORT: both would listen on 3000.';
    for (const env of [
      { METRICS_PORT: '3000' },
      both,
      { ...both, HOST: 'localhost', METRICS_HOST: '127.0.0.1' },
      { ...both, HOST: '0.0.0.0' },
      { ...both, METRICS_HOST: '::' },
      { ...both, HOST: '::1', METRICS_HOST: '0:0::1' },
      { ...both, HOST: '192.0.2.1', METRICS_HOST: '::ffff:192.0.2.1' },
      { ...both, HOST: 'page.example.com', METRICS_HOST: 'Page.example.com' },
    ])
      assert.deepEqual(complaintsOf(env), [same], JSON.stringify(env));
    for (const env of [
      { ...both, METRICS_HOST: '10.0.0.1' },
      { ...both, HOST: '0.0.0.0', METRICS_HOST: '::1' },
      { PORT: '0', METRICS_PORT: '0' },
      // systemd listens in the place of PORT.
      { ...both, LISTEN_FDS: '1' },
    ])
      configOf(env);
  });

  it('are where browsers go, whatever else listens elsewhere', () => {
    assert.deepEqual(complaintsOf({ PORT: '6000' }), [
      'PORT must not be 6000, which no browser opens. Set another; behind a proxy, set PUBLIC_URL to the address that visitors use.',
    ]);
    assert.deepEqual(complaintsOf({ PUBLIC_URL: 'http://guide.example.com:10080' }), [
      'PUBLIC_URL must not name port 10080, which no browser opens.',
    ]);
    configOf({ PORT: '6000', PUBLIC_URL: 'https://guide.example.com', METRICS_PORT: '4190' });
    configOf({ PORT: '6000', LISTEN_FDS: '1' });
  });

  it('may have a path, of which there is one way to write it', () => {
    for (const end of ['', '/']) {
      const { publicUrl, basePath } = configOf({ PUBLIC_URL: `https://example.com/en/ai-guide_2.0${end}` });
      assert.equal(publicUrl, 'https://example.com/en/ai-guide_2.0');
      assert.equal(basePath, '/en/ai-guide_2.0');
    }
    for (const end of [
      '//',
      '//guide',
      '/a//b',
      '/guide?x',
      '/guide#x',
      '?x',
      '/a/../b',
      '/.',
      '/gu%69de',
      '/führer',
      '/a b',
    ])
      assert.match(
        complaintsOf({ PUBLIC_URL: `https://example.com${end}` }).join(),
        /^PUBLIC_URL must be the address of the page alone/,
        end,
      );
  });

  it('know the ports that browsers do not open, as Node knows them', async () => {
    // Asked of each, and answered before anything is sent.
    const dispatcher = {
      dispatch: () => {
        throw new Error('good port');
      },
    };
    const above = Math.max(...BLOCKED_PORTS) + 100;
    const refused = await Promise.all(
      Array.from({ length: above }, async (_, index) => {
        const error = (await fetch(`http://127.0.0.1:${index + 1}`, { dispatcher } as object).catch(
          (thrown: unknown) => thrown,
        )) as Error;
        const { message } = error.cause as Error;
        assert.match(message, /^(?:good|bad) port$/);
        return message === 'bad port' ? [index + 1] : [];
      }),
    );
    assert.deepEqual([...BLOCKED_PORTS], refused.flat());
  });

  it('trust a number of proxies or a list of networks, and none by default', () => {
    const trusted = (text: string) => configOf({ TRUST_PROXY: text }).trustProxy;
    assert.equal(trusted('off'), false);
    assert.equal(trusted('0'), false);
    assert.equal(trusted('2'), 2);
    assert.deepEqual(trusted('10.0.0.0/8, 2001:db8::/32,127.0.0.1,loopback'), [
      '10.0.0.0/8',
      '2001:db8::/32',
      '127.0.0.1',
      'loopback',
    ]);
    for (const bad of ['true', '10.0.0.0/33', '10.0.0/8', '::/129', '-1', 'example.com', '1,2']) {
      assert.match(
        complaintsOf({ TRUST_PROXY: bad }).join(),
        /^TRUST_PROXY must be a number of proxies/,
        bad,
      );
    }
  });

  it('name the address that mail about new leads goes to, and its time of day', () => {
    assert.deepEqual(complaintsOf({ NEW_LEAD_EMAIL: 'each' }), [
      'OPERATOR_EMAIL must be set too: NEW_LEAD_EMAIL says when new leads are reported to it.',
    ]);
    const daily = { NEW_LEAD_EMAIL: 'daily', OPERATOR_EMAIL: 'you@example.com' };
    assert.equal(configOf({ ...daily, NEW_LEAD_EMAIL_AT: '18:05' }).newLeadEmailAtMs, 65_100_000);
    for (const bad of ['7:00', '24:00', '07:60', '7 am'])
      assert.deepEqual(complaintsOf({ ...daily, NEW_LEAD_EMAIL_AT: bad }), [
        'NEW_LEAD_EMAIL_AT must be a time of day in UTC, such as 07:00.',
      ]);
    assert.match(
      complaintsOf({ NEW_LEAD_EMAIL: 'monthly' }).join(),
      /^NEW_LEAD_EMAIL must be off, each, daily or weekly/,
    );
  });

  it('complain about everything at once, a sentence each', () => {
    const complaints = complaintsOf({
      PORT: '70000',
      PUBLIC_URL: 'guide.example.com',
      DATABASE_URL: 'mysql://db/leads',
      SMTP_URL: 'mail.example.com',
      MAIL_FROM: 'nobody',
      APP_SECRET: 'short',
      LEADS_PER_IP_PER_HOUR: '-1',
      CODE_TTL_SECONDS: '10 minutes',
      DKIM_DOMAIN: 'example.com',
      LOG_LEVEL: 'loud',
    });
    const named = new Set(complaints.map((complaint) => /^[A-Z_]+/.exec(complaint)?.[0]));
    for (const name of [
      'PORT',
      'PUBLIC_URL',
      'DATABASE_URL',
      'SMTP_URL',
      'MAIL_FROM',
      'APP_SECRET',
      'LEADS_PER_IP_PER_HOUR',
      'CODE_TTL_SECONDS',
      'DKIM_SELECTOR',
      'LOG_LEVEL',
    ]) {
      assert.ok(named.has(name), `${name} in ${complaints.join('\n')}`);
    }
    for (const complaint of complaints) assert.match(complaint, /^[A-Z_]+ .+\.$/);
  });

  it('take one e-mail address where mail comes from and where it goes to, and say what to write', () => {
    for (const [text, name, address] of [
      ['guide@example.com', '', 'guide@example.com'],
      ['<guide@example.com>', '', 'guide@example.com'],
      ['Acme: The Guide <guide@example.com>', 'Acme: The Guide', 'guide@example.com'],
      ['"Acme, \\"Inc.\\"" <guide@example.com>', 'Acme, "Inc."', 'guide@example.com'],
      ['Anna’s “best” guide <anna+news@exämple.com>', 'Anna’s “best” guide', 'anna+news@exämple.com'],
      ['root@localhost', '', 'root@localhost'],
    ] as const) {
      assert.deepEqual(configOf({ MAIL_FROM: text }).mailFrom, { name, address }, text);
      if (name === '' && text === address)
        assert.equal(configOf({ OPERATOR_EMAIL: text }).operatorEmail, address);
    }
    for (const wrong of [
      'guide@example.com;',
      'mailto:guide@example.com',
      'guide@example..com',
      '.guide@example.com',
      'guide@-example.com',
      'guide@[192.0.2.1]',
      'a@example.com, b@example.com',
      'guide@example.com Guide',
      'nobody',
      '@example.com',
    ])
      for (const setting of [
        { MAIL_FROM: wrong },
        { MAIL_FROM: `Guide <${wrong}>` },
        { OPERATOR_EMAIL: wrong },
      ])
        assert.match(
          complaintsOf(setting).join(),
          /^(?:MAIL_FROM|OPERATOR_EMAIL) must be one e-mail address.*, such as \S+@example\.com.*no "mailto:", no ";"\.$/,
          JSON.stringify(setting),
        );
    for (const curly of [
      '“Guide” <guide@example.com>',
      '“Guide <guide@example.com>”',
      '‘Guide’ <guide@example.com>',
    ])
      assert.deepEqual(complaintsOf({ MAIL_FROM: curly }), [
        'MAIL_FROM has curly quotes around it. Write the name without quotes: Guide <guide@example.com>.',
      ]);
  });

  it('demand a secret with PostgreSQL, where several processes must share it', () => {
    assert.match(complaintsOf({ DATABASE_URL: 'postgres://db/leads' }).join(), /^APP_SECRET must be set/);
  });

  it('demand a word about TLS before a password goes to PostgreSQL on another machine', () => {
    const APP_SECRET = 's'.repeat(32);
    const ask = (DATABASE_URL: string, env: Record<string, string> = {}) =>
      readConfig({ DATABASE_URL, APP_SECRET, ...env });
    for (const [url, env] of [
      ['postgres://user:pass@db/leads'],
      ['postgres://user:pass@db.example.com:5433/leads?application_name=page'],
      ['postgres://user@db/leads?password=pass'],
      ['postgres://user@db/leads', { PGPASSWORD: 'pass' }],
      ['postgres://user:pass@localhost/leads?host=db'],
      ['postgres:///leads?host=db&password=pass'],
    ] as const) {
      const result = ask(url, env);
      assert(result.type === 'complaints', url);
      assert.match(
        result.complaints.join('\n'),
        /^DATABASE_URL sends a password.+sslmode=verify-full.+$/,
        url,
      );
    }
    for (const [url, env] of [
      ['postgres://user:pass@db/leads?sslmode=no-verify'],
      ['postgres://user:pass@db/leads', { PGSSLMODE: 'require' }],
      ['postgres://user:pass@127.0.0.1/leads'],
      ['postgres://user:pass@%2Frun%2Fpostgresql/leads'],
      ['postgres:///leads?host=/run/postgresql&password=pass'],
      ['postgres://user@db/leads'],
      ['postgres://user:pass@127.0.0.1:5432/leads?target_session_attrs=read-write'],
      ['postgres://user:pass@[2001:db8::5]:5433/leads?sslmode=verify-full'],
    ] as const) {
      const result = ask(url, env);
      assert(result.type === 'config', `${url} ${JSON.stringify(result)}`);
      assert.deepEqual(result.warnings, [], url);
    }
    const inClear = ask('postgres://user:pass@db/leads?sslmode=disable');
    assert(inClear.type === 'config');
    assert.match(inClear.warnings.join('\n'), /^DATABASE_URL sends all data to PostgreSQL in clear/);
  });

  it('warn of parameters of DATABASE_URL that do nothing', () => {
    const warningsOf = (query: string) => {
      const read = readConfig({ APP_SECRET: 's'.repeat(32), DATABASE_URL: `postgres://db/leads?${query}` });
      assert(read.type === 'config');
      return read.warnings;
    };
    assert.deepEqual(warningsOf('sslmode=verify-full&options=-c%20search_path%3Dx&application_name=y'), []);
    assert.match(
      warningsOf('channel_binding=require&schema=leads').join(),
      /^DATABASE_URL has channel_binding and schema, which this page does not know and leaves out\. .*options=-c%20search_path/,
    );
  });

  it('name one PostgreSQL host, which takes writes', () => {
    const APP_SECRET = 's'.repeat(32);
    const ask = (DATABASE_URL: string) => complaintsOf({ DATABASE_URL, APP_SECRET }).join('\n');
    assert.match(ask('postgres://user@a:port/leads'), /^DATABASE_URL must be an address such as/);
    for (const several of ['postgres://user@a:5432,b:5433/leads', 'postgres:///leads?host=a,b'])
      assert.match(ask(several), /^DATABASE_URL names several hosts\. Name one: /, several);
    assert.equal(
      ask('postgres://user@a/leads?target_session_attrs=prefer-standby'),
      'DATABASE_URL asks for a host to read from (target_session_attrs=prefer-standby), and this page writes. Make it read-write.',
    );
    const DATABASE_URL = 'postgres://user@a:5433/leads?sslmode=verify-full&sslrootcert=ca.pem';
    const { database } = resolvePaths(configOf({ DATABASE_URL, APP_SECRET }), '/srv/page');
    assert.deepEqual(database, {
      engine: 'postgres',
      url: 'postgres://user@a:5433/leads?sslmode=verify-full&sslrootcert=%2Fsrv%2Fpage%2Fca.pem',
    });
  });

  it('let a mail login go in clear only where the address says so, and warn of it', () => {
    const warningsOf = (SMTP_URL: string) => {
      const result = readConfig({ SMTP_URL });
      assert(result.type === 'config', JSON.stringify(result));
      return result.warnings.join('\n');
    };
    assert.equal(needsTls('smtp://user:pass@mail.example.com:587'), true);
    assert.equal(needsTls('smtp://user:pass@mail.example.com?requireTLS=true&ignoreTLS=true'), true);
    for (const url of [
      'smtps://user:pass@mail.example.com',
      'smtp://mail.example.com',
      'smtp://user:pass@localhost',
    ]) {
      assert.equal(needsTls(url), false, url);
      assert.equal(warningsOf(url), '', url);
    }
    for (const word of ['requireTLS=false', 'ignoreTLS=true', 'opportunisticTLS=true']) {
      const url = `smtp://user:pass@mail.example.com?${word}`;
      assert.equal(needsTls(url), false, url);
      assert.match(warningsOf(url), /^SMTP_URL lets user and password go to the mail server in clear/, url);
    }
    assert.match(
      warningsOf('smtps://user:pass@mail.example.com?tls.rejectUnauthorized=false'),
      /^SMTP_URL does not check the certificate/,
    );
    assert.match(
      warningsOf('smtps://user:pass@mail.example.com?proxy=http%3A%2F%2F127.0.0.1%3A3128'),
      /^SMTP_URL names a proxy, and mail does not go through one/,
    );
  });

  it('say how to write a password that cuts an address in two', () => {
    for (const name of ['SMTP_URL', 'DATABASE_URL']) {
      const protocol = name === 'SMTP_URL' ? 'smtp' : 'postgres';
      const complaints = complaintsOf({
        [name]: `${protocol}://user:p#ss@127.0.0.1/x`,
        APP_SECRET: 's'.repeat(32),
      });
      assert.equal(complaints.length, 1, complaints.join('\n'));
      assert.match(complaints[0] ?? '', new RegExp(`^${name} has a "#" in its user or password.+%23`));
    }
    assert.match(complaintsOf({ SMTP_URL: 'smtp://user:100%@host' }).join(), /^SMTP_URL has a "%".+%25/);
    const result = readConfig({ SMTP_URL: 'smtps://me@example.com:pass@host' });
    assert(result.type === 'config');
    assert.match(result.warnings.join(), /^SMTP_URL has an "@".+%40/);
  });

  it('name files in full, from the folder of the instance', () => {
    const DKIM = { DKIM_DOMAIN: 'example.com', DKIM_SELECTOR: 's', DKIM_PRIVATE_KEY_FILE: 'dkim.pem' };
    const config = resolvePaths(configOf({ SMTP_URL: 'smtp://localhost', ...DKIM }), '/srv/page');
    assert.deepEqual(config.database, { engine: 'sqlite', file: '/srv/page/data/leads.db' });
    assert.equal(config.mail.kind === 'smtp' && config.mail.dkim?.privateKeyFile, '/srv/page/dkim.pem');
    const elsewhere = resolvePaths(configOf({ DATABASE_URL: 'file:/var/lib/leads.db' }), '/srv/page');
    assert.deepEqual(elsewhere.database, { engine: 'sqlite', file: '/var/lib/leads.db' });
    const DATABASE_URL = 'postgres://db/leads?sslmode=verify-full&sslrootcert=ca.pem';
    const { database } = resolvePaths(configOf({ DATABASE_URL, APP_SECRET: 's'.repeat(32) }), '/srv/page');
    assert.equal(
      database.engine === 'postgres' && new URL(database.url).searchParams.get('sslrootcert'),
      '/srv/page/ca.pem',
    );
  });

  it('name webhooks, with what signs their events; in clear or at home only where that is allowed', () => {
    const secret = `whsec_${Buffer.from('s'.repeat(24)).toString('base64')}`;
    assert.deepEqual(
      configOf({
        WEBHOOK_URLS:
          'https://hooks.example.com/a,  https://user:pass@b.example\thttps://hooks.example.com/a',
        WEBHOOK_SECRET: `${secret},${secret}`,
      }).webhooks,
      {
        urls: ['https://hooks.example.com/a', 'https://user:pass@b.example/'],
        secrets: [secret, secret],
        allowPrivate: false,
      },
    );
    const allowed = {
      WEBHOOK_URLS: 'http://10.0.0.1:5678/x http://n8n:5678/x',
      WEBHOOK_ALLOW_PRIVATE: 'yes',
    };
    assert.equal(configOf(allowed).webhooks.urls.length, 2);
    for (const [env, complaint] of [
      [{ WEBHOOK_URLS: 'hooks.example.com/hunter2' }, /^WEBHOOK_URLS must be addresses such as https:/],
      [{ WEBHOOK_URLS: 'ftp://hooks.example.com/hunter2' }, /^WEBHOOK_URLS must be addresses such as https:/],
      [{ WEBHOOK_URLS: 'https://a.example http://b.example/hunter2' }, /^WEBHOOK_URLS must begin with https/],
      [
        { WEBHOOK_URLS: 'https://[::ffff:10.0.0.1]/hunter2' },
        /^WEBHOOK_URLS names an address that is not called/,
      ],
      [{ ...allowed, WEBHOOK_URLS: 'http://169.254.169.254/' }, /^WEBHOOK_URLS names an address that is not/],
      [{ WEBHOOK_SECRET: 'whsec_hunter2' }, /^WEBHOOK_SECRET must be whsec_ and 24 to 64 random bytes/],
      [{ WEBHOOK_ALLOW_PRIVATE: 'true' }, /^WEBHOOK_ALLOW_PRIVATE must be yes or no/],
    ] as const) {
      const complaints = complaintsOf(env);
      assert.equal(complaints.length, 1, complaints.join());
      assert.match(complaints[0]!, complaint);
      assert.doesNotMatch(complaints[0]!, /hunter2/);
    }
  });

  it('never repeat a value in a complaint: it may be a password', () => {
    const text = complaintsOf({ APP_SECRET: 'hunter2', SMTP_URL: 'http://user:hunter2@mail' }).join();
    assert.doesNotMatch(text, /hunter2/);
  });

  it('serve the desk in a browser at an origin and a port of its own, for the people who are listed', () => {
    const env = {
      DESK_URL: 'https://Desk.example.com/',
      DESK_PEOPLE: 'Ada@Example.com:all,  bob@bücher.example',
      TRUST_PROXY: '1',
    };
    assert.deepEqual(configOf(env).desk, {
      url: 'https://desk.example.com',
      port: 3001,
      people: new Map([
        ['ada@example.com', 'all'],
        ['bob@xn--bcher-kva.example', 'read'],
      ]),
      passkeyOnly: new Set(),
    });
    const only = { ...env, DESK_PEOPLE: 'ada@example.com:all:passkey, bob@example.com:passkey' };
    assert.deepEqual(configOf(only).desk?.people.get('bob@example.com'), 'read');
    assert.deepEqual(configOf(only).desk?.passkeyOnly, new Set(['ada@example.com', 'bob@example.com']));
    const page = 'https://guide.example.com';
    for (const [changes, complaint] of [
      [{ DESK_PEOPLE: '' }, /^DESK_PEOPLE must be set too: the addresses that may sign in/],
      [{ TRUST_PROXY: '' }, /^TRUST_PROXY must be set when DESK_URL is https: .* Set TRUST_PROXY=1, or/],
      [{ TRUST_PROXY: 'off' }, /^TRUST_PROXY must be set when DESK_URL is https/],
      [{ DESK_PEOPLE: 'ada' }, /^DESK_PEOPLE must be addresses, each once, such as ada@example\.com:all/],
      [{ DESK_PEOPLE: 'ada@example.com:admin' }, /^DESK_PEOPLE must be addresses.*: entry 1 is not one\./],
      [
        { DESK_PEOPLE: 'ada@example.com:passkey:all' },
        /^DESK_PEOPLE must be addresses.*: entry 1 is not one\./,
      ],
      [{ DESK_PEOPLE: 'ada@example.com, bob.example.com' }, /^DESK_PEOPLE must be .*: entry 2 is not one\./],
      [
        { DESK_PEOPLE: 'bob@example.com, ada@example.com, ADA@example.com:all' },
        /^DESK_PEOPLE must be addresses, each once.*: entry 3 repeats one\./,
      ],
      [{ DESK_PEOPLE: ',' }, /^DESK_PEOPLE must be addresses, each once.*\(who may only read\)\./],
      [{ DESK_URL: 'desk.example.com' }, /^DESK_URL must be an address such as https:\/\/desk\.example\.com/],
      [{ DESK_URL: 'https://example.com/desk' }, /^DESK_URL must be the address of a host alone/],
      [{ DESK_URL: 'https://ada:x@desk.example.com' }, /^DESK_URL must be the address of a host alone/],
      [{ DESK_URL: 'http://desk.example.com' }, /^DESK_URL must begin with https/],
      [{ DESK_URL: 'https://desk.example.com:6000' }, /^DESK_URL must not name port 6000/],
      [
        { PUBLIC_URL: `${page}/guide`, DESK_URL: page },
        /^DESK_URL must be another host than that of PUBLIC_URL/,
      ],
      [{ DESK_URL: 'http://localhost:3000' }, /^DESK_URL must be another host than that of PUBLIC_URL/],
      [
        { PUBLIC_URL: page, DESK_URL: `${page}:8443` },
        /^DESK_URL must be another host than that of PUBLIC_URL: .* whatever the port/,
      ],
      [{ DESK_PORT: '3000' }, /^DESK_PORT must be another number than PORT: both would listen on 3000/],
      [
        { METRICS_PORT: '3001' },
        /^DESK_PORT must be another number than METRICS_PORT: both would listen on 3001/,
      ],
      [{ DESK_URL: '' }, /^DESK_URL must be set too: DESK_PEOPLE means nothing without it/],
    ] as const) {
      const complaints = complaintsOf({ ...env, ...changes });
      assert.equal(complaints.length, 1, complaints.join());
      assert.match(complaints[0]!, complaint);
    }
    const here = { DESK_URL: 'http://127.0.0.1:3001', DESK_PEOPLE: 'ada@example.com' };
    assert.equal(configOf(here).desk?.url, 'http://127.0.0.1:3001');
    assert.equal(configOf({ ...env, METRICS_PORT: '3001', METRICS_HOST: '10.0.0.1' }).desk?.port, 3001);
  });

  it('are all in .env.example, with the defaults that hold', () => {
    const example = readFileSync(path.join(PROJECT_FOLDER, '.env.example'), 'utf8');
    const entries = Array.from(
      example.matchAll(/^#? ?([A-Z_]+)=(.*)$/gm),
      ([, name = '', value = '']) => [name, value] as const,
    );
    assert.deepEqual(entries.map(([name]) => name).toSorted(), SETTING_NAMES.toSorted());
    const defaults = Object.fromEntries(
      entries.filter(
        ([name]) => !/URL|SECRET|FROM|DKIM|OPERATOR|INSTANCE|BOUNCE|MAIL_EVENTS|DESK_/.test(name),
      ),
    );
    assert.deepEqual({ ...configOf(defaults) }, configOf({}));
  });
});
