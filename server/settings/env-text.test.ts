import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';

import fc from 'fast-check';

import { describeMistake } from '#server/platform/mistakes.ts';
import { misspeltNames, readEnvText } from '#server/settings/env-file.ts';
import { words } from '#testing/words.ts';

const mistakesIn = (text: string): string[] => readEnvText(text).mistakes.map(describeMistake);
const misspeltIn = (env: Readonly<Record<string, string>>): string[] =>
  misspeltNames(env).map(describeMistake);

describe('misspelt settings', () => {
  it('a misspelt setting is reported with the right name', () => {
    for (const [misspelt, setting] of [
      ['SMPT_URL', 'SMTP_URL'],
      ['SMTP_UR', 'SMTP_URL'],
      ['smtp_url', 'SMTP_URL'],
      ['DATBASE_URL', 'DATABASE_URL'],
      ['APPSECRET', 'APP_SECRET'],
      ['LEADS_PER_IP_PER_HOURS', 'LEADS_PER_IP_PER_HOUR'],
    ] as const) {
      assert.deepEqual(misspeltIn({ [misspelt]: 'x' }), [
        `${misspelt} is not a setting. Did you mean ${setting}?`,
      ]);
    }
  });

  it('a misspelt setting is ignored if it may belong to another program', () => {
    const others = words(`
      PORT_X PORTS POST HOSTNAME HOST_IP GHOST HOME MAIL MAILTO PATH`);
    const more = words(`
      API_SECRET LOGLEVEL FTP_URL REDIS_URL npm_config_loglevel TERM LOGNAME SHELL`);
    for (const name of [...others, ...more]) assert.deepEqual(misspeltIn({ [name]: 'x' }), [], name);
    assert.deepEqual(misspeltIn({ SMPT_URL: 'x', SMTP_URL: 'smtp://host' }), [], 'the right one is there');
  });
});

const cutOff = (line: number, name: string) =>
  `.env:${line}: ${name} has a "#" or a quote that would cut off its value. Put the whole value on one line in a type of quotes that it does not contain.`;
const INVALID = 'is not a valid line. Write each setting as NAME=value, and begin comments with "#".';

const MISTAKES: readonly (readonly [text: string, ...mistakes: string[]])[] = [
  ['# Where\n\nexport PROT=3000', '.env:3: PROT is not a setting. Did you mean PORT?'],
  ...['PORT 3000', 'PORT: 3000', '=3000', '"PORT"=3000', 'export PORT'].map((text): [string, string] => [
    text,
    `.env:1: ${INVALID}`,
  ]),
  ['PORT=1\nHOST=::\n\nPORT=2', '.env:4: PORT is already set in line 1. Keep only one of the two lines.'],
  ['MAIL_FROM="Guide <guide@example.com>\nHOST=::\n', cutOff(1, 'MAIL_FROM')],
  ["PORT=1\nMAIL_FROM='Guide\nHOST='::'", cutOff(2, 'MAIL_FROM')],
  [`APP_SECRET='it's'`, cutOff(1, 'APP_SECRET')],
  ['APP_SECRET="a\\"b"', cutOff(1, 'APP_SECRET')],
  ...['abc#def', ' abc#def # why', '#abc', 'abc def# why'].map((value): [string, string] => [
    `APP_SECRET=${value}`,
    cutOff(1, 'APP_SECRET'),
  ]),
  [
    'PROT=1\nHOST\nPORT=1\nPORT="2',
    '.env:1: PROT is not a setting. Did you mean PORT?',
    `.env:2: ${INVALID}`,
    cutOff(4, 'PORT'),
    '.env:4: PORT is already set in line 3. Keep only one of the two lines.',
  ],
];

describe('syntax of .env', () => {
  it('all syntax mistakes in .env are reported at once with their lines', () => {
    for (const [text, ...mistakes] of MISTAKES) assert.deepEqual(mistakesIn(text), mistakes, text);
  });

  it('unambiguous lines in .env are not reported', () => {
    for (const text of [
      '\n  \n',
      'APP_SECRET=abc, def #a comment#',
      'APP_SECRET= # nothing yet',
      'APP_SECRET= \n\n  # not yet\nPORT=1',
      "APP_SECRET='abc#def' # quoted",
      'MAIL_FROM="It\'s `here`"',
      "MAIL_FROM=It's here",
      '# MAIL_FROM="Guide\nPORT=1 # MAIL_FROM="',
      'SOMEBODY_ELSES=1\nSOMEBODY_ELSES=2',
    ])
      assert.deepEqual(mistakesIn(text), [], text);
    assert.equal(readEnvText('MAIL_FROM= \n\nHOST=::').values['MAIL_FROM'], '');
  });

  it('values in .env stay verbatim if no mistake is reported', () => {
    const line = fc.tuple(
      fc.constantFrom('', ' ', 'export ', '# ', '"'),
      fc.constantFrom('PORT', 'HOST', 'OTHER', ''),
      fc.constantFrom('=', '=', '= ', ' = ', ' ', ''),
      fc.constantFrom('', '', 'x', '"', "'", '`', '#'),
      fc.constantFrom('', 'x', '"', "'", ' #"', '=x'),
    );
    let silent = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        const texts = lines.map((parts) => parts.join(''));
        const { mistakes, values } = readEnvText(texts.join('\n'));
        if (mistakes.length > 0) return;
        silent += 1;
        const read = texts.map((text) => parseEnv(text));
        for (const name of ['PORT', 'HOST'])
          assert.equal(
            values[name] ?? '',
            read.findLast((entry) => name in entry)?.[name] ?? '',
            texts.join('\n'),
          );
      }),
      { numRuns: 5_000 },
    );
    assert(silent > 250, 'enough files have no reported mistake');
  });
});
