import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { readConfig, SETTING_NAMES, type Config } from '#server/config.ts';

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
      secure: false,
      database: { engine: 'sqlite', file: './data/leads.db' },
      mail: { kind: 'files' },
      mailFrom: null,
      appSecrets: [],
      trustProxy: false,
      logLevel: 'info',
      limits: { leadsPerIpPerHour: 100, leadsPerEmailPerHour: 5, verifyPerIpPerHour: 300, codeAttempts: 5 },
      codeTtlSeconds: 600,
      resendSeconds: 60,
      breaker: { codesPerMinute: 1000, unenteredPercent: 70 },
      operatorEmail: null,
      freeMail: 'off',
      disposableMail: 'off',
      metrics: null,
    });
  });

  it('are taken from the environment, empty ones count as unset', () => {
    const config = configOf({
      PORT: '8080',
      HOST: '',
      PUBLIC_URL: 'https://guide.example.com/',
      DATABASE_URL: 'postgres://user:secret@db/leads',
      SMTP_URL: 'smtps://user:secret@mail.example.com',
      MAIL_FROM: 'The Guide <guide@example.com>',
      APP_SECRET: `${'n'.repeat(32)}, ${'o'.repeat(40)}`,
      LEADS_PER_IP_PER_HOUR: '0',
      CODE_TTL_SECONDS: '300',
    });
    assert.equal(config.port, 8080);
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.publicUrl, 'https://guide.example.com');
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

  it('trust a number of proxies or a list of networks, and nobody by default', () => {
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

  it('demand a secret with PostgreSQL, where several processes must share it', () => {
    assert.match(complaintsOf({ DATABASE_URL: 'postgres://db/leads' }).join(), /^APP_SECRET must be set/);
  });

  it('never repeat a value in a complaint: it may be a password', () => {
    const text = complaintsOf({ APP_SECRET: 'hunter2', SMTP_URL: 'http://user:hunter2@mail' }).join();
    assert.doesNotMatch(text, /hunter2/);
  });

  it('are all in .env.example, with the defaults that hold', () => {
    const example = readFileSync(path.resolve(import.meta.dirname, '..', '.env.example'), 'utf8');
    const entries = Array.from(
      example.matchAll(/^#? ?([A-Z_]+)=(.*)$/gm),
      ([, name = '', value = '']) => [name, value] as const,
    );
    assert.deepEqual(entries.map(([name]) => name).toSorted(), SETTING_NAMES.toSorted());
    const defaults = Object.fromEntries(
      entries.filter(([name]) => !/URL|SECRET|FROM|DKIM|OPERATOR/.test(name)),
    );
    assert.deepEqual({ ...configOf(defaults) }, configOf({}));
  });
});
