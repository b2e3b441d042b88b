import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { slipsInEnvFile, slipsInEnvironment } from '#server/setting-slips.ts';

describe('a name that is nearly right', () => {
  it('is told with the one it resembles', () => {
    for (const [slip, setting] of [
      ['SMPT_URL', 'SMTP_URL'],
      ['SMTP_UR', 'SMTP_URL'],
      ['smtp_url', 'SMTP_URL'],
      ['DATBASE_URL', 'DATABASE_URL'],
      ['APPSECRET', 'APP_SECRET'],
      ['LEADS_PER_IP_PER_HOURS', 'LEADS_PER_IP_PER_HOUR'],
    ] as const) {
      assert.deepEqual(slipsInEnvironment({ [slip]: 'x' }), [
        `${slip} is no setting. Did you mean ${setting}?`,
      ]);
    }
  });

  it('is let alone where it may belong to somebody else', () => {
    const others = [
      'PORT_X',
      'PORTS',
      'POST',
      'HOSTNAME',
      'HOST_IP',
      'GHOST',
      'HOME',
      'MAIL',
      'MAILTO',
      'PATH',
    ];
    const more = [
      'API_SECRET',
      'LOGLEVEL',
      'FTP_URL',
      'REDIS_URL',
      'npm_config_loglevel',
      'TERM',
      'LOGNAME',
      'SHELL',
    ];
    for (const name of [...others, ...more]) assert.deepEqual(slipsInEnvironment({ [name]: 'x' }), [], name);
    assert.deepEqual(
      slipsInEnvironment({ SMPT_URL: 'x', SMTP_URL: 'smtp://host' }),
      [],
      'the right one is there',
    );
  });
});

describe('.env', () => {
  it('is told every name that is none of ours; one that is nearly right must be mended', () => {
    assert.deepEqual(slipsInEnvFile('PROT=3000\nPOSTGRES_PASSWORD=x\nPORT=3000\n'), {
      complaints: ['PROT in .env is no setting. Did you mean PORT?'],
      warnings: ['POSTGRES_PASSWORD in .env is no setting of this page; it is ignored.'],
    });
  });

  it('is told where a comment sign cuts a value off', () => {
    const complaints = (text: string) => slipsInEnvFile(text).complaints.map((line) => line.slice(0, 40));
    for (const cut of [
      'APP_SECRET=abc#def',
      'export APP_SECRET = abc#def # why',
      'APP_SECRET=#abc',
      'A=1\r\nAPP_SECRET=a#b\r\n',
    ]) {
      assert.deepEqual(complaints(cut), ['APP_SECRET in .env is cut off at its "#"'], cut);
    }
    for (const whole of [
      'APP_SECRET=abc # a comment',
      'APP_SECRET= # nothing yet',
      'APP_SECRET="abc#def"',
      "APP_SECRET='abc#def' # quoted",
      'MAIL_FROM="Guide\nPORT=1#2"',
      '# APP_SECRET=abc#def',
      'SOMEBODY_ELSES=a#b',
      '\n  \n',
    ]) {
      assert.deepEqual(complaints(whole), [], whole);
    }
  });

  it('is told of a line that says nothing, and that it cannot say where it lies', () => {
    assert.deepEqual(slipsInEnvFile('PORT 3000').complaints, [
      'A line in .env is not understood. Write each setting as NAME=value.',
    ]);
    assert.match(
      slipsInEnvFile('INSTANCE_FOLDER=/srv').complaints.join(),
      /^INSTANCE_FOLDER cannot stand in \.env/,
    );
  });
});
