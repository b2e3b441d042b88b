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

const MISTAKES: readonly (readonly [text: string, ...mistakes: string[]])[] = [
  ['PROT=3000\nPORT=3000\n', '.env:1: PROT is not a setting. Did you mean PORT?'],
  ['# Where\n\nexport PROT=3000', '.env:3: PROT is not a setting. Did you mean PORT?'],
  ['"PORT"=3000', '.env:1: "PORT" is not a setting. Did you mean PORT?'],
  [
    'INSTANCE_FOLDER=/srv',
    '.env:1: INSTANCE_FOLDER cannot be set here, because it determines the location of .env. Set it in the environment.',
  ],
  ...['PORT 3000', 'PORT: 3000', '=3000', 'HOST=::\nexport PORT'].map((text): [string, string] => [
    text,
    `.env:${text.split('\n').length}: is not a valid line. Write each setting as NAME=value, and begin comments with "#".`,
  ]),
  ['PORT=1\nHOST=::\n\nPORT=2', '.env:4: PORT is already set in line 1. Keep only one of the two lines.'],
  [
    'PORT=1\nPORT=1\nPORT=1',
    '.env:2: PORT is already set in line 1. Keep only one of the two lines.',
    '.env:3: PORT is already set in line 1. Keep only one of the two lines.',
  ],
  [
    'MAIL_FROM= \n\nHOST=::',
    '.env:1: MAIL_FROM has only spaces after its "=", so the next line becomes its value. Remove the spaces.',
  ],
  [
    'PORT=1\nMAIL_FROM="Guide <guide@example.com>\nHOST=::\n',
    '.env:2: MAIL_FROM has an opening quote (") without a closing quote on the same line. Add the closing quote.',
  ],
  [
    "MAIL_FROM='Guide\nHOST='::'\nPORT=1",
    ".env:1: MAIL_FROM has an opening quote (') without a closing quote on the same line. Add the closing quote.",
  ],
  [
    'SOMEBODY_ELSES="a\nPORT=1\nHOST="::"',
    '.env:1: SOMEBODY_ELSES has an opening quote (") without a closing quote on the same line. Add the closing quote.',
  ],
  [
    `APP_SECRET='it's'`,
    ".env:1: APP_SECRET has text after the closing quote ('), which would be ignored. Put the whole value in a different type of quotes.",
  ],
  [
    'APP_SECRET="a\\"b"',
    '.env:1: APP_SECRET has text after the closing quote ("), which would be ignored. Put the whole value in a different type of quotes.',
  ],
  ...[
    'APP_SECRET=abc#def',
    'export APP_SECRET = abc#def # why',
    'APP_SECRET=#abc',
    'APP_SECRET=abc, def#ghi',
    'APP_SECRET=abc def# why',
    'PORT=1\nAPP_SECRET=a#b\n',
  ].map((text): [string, string] => [
    text,
    `.env:${text.trimEnd().split('\n').length}: APP_SECRET is cut off at the "#", which begins a comment. Put the value in quotes or, in a URL, write %23.`,
  ]),
  [
    'PROT=1\nHOST\nPORT=1\nPORT="2',
    '.env:1: PROT is not a setting. Did you mean PORT?',
    '.env:2: is not a valid line. Write each setting as NAME=value, and begin comments with "#".',
    '.env:4: PORT has an opening quote (") without a closing quote on the same line. Add the closing quote.',
    '.env:4: PORT is already set in line 3. Keep only one of the two lines.',
  ],
];

describe('syntax of .env', () => {
  it('all syntax mistakes in .env are reported at once with their lines', () => {
    for (const [text, ...mistakes] of MISTAKES) assert.deepEqual(mistakesIn(text), mistakes, text);
  });

  it('unambiguous lines in .env are not reported', () => {
    for (const text of [
      '',
      '\n  \n',
      'APP_SECRET=abc # a comment',
      'APP_SECRET=abc, def #a comment#',
      'APP_SECRET= # nothing yet',
      'APP_SECRET=\nPORT=1',
      'APP_SECRET= \n',
      'APP_SECRET= \n\n  # not yet\nPORT=1',
      'APP_SECRET="abc#def"',
      "APP_SECRET='abc#def' # quoted",
      'MAIL_FROM="It\'s `here`"',
      "MAIL_FROM=It's here",
      '# MAIL_FROM="Guide\nPORT=1',
      '# APP_SECRET=abc#def\nPORT=1 # MAIL_FROM="',
      'SOMEBODY_ELSES=a#b',
      'SOMEBODY_ELSES="-----BEGIN KEY-----\nabc=\n-----END KEY-----"\nPORT=1',
      'SOMEBODY_ELSES=1\nSOMEBODY_ELSES=2',
    ])
      assert.deepEqual(mistakesIn(text), [], text);
  });

  it('unknown names in .env are reported with their lines', () => {
    assert.deepEqual(
      readEnvText('PORT=3000\nPOSTGRES_PASSWORD=x\n', '/srv/.env').warnings.map(describeMistake),
      [
        '/srv/.env:2: POSTGRES_PASSWORD is not a known setting and is ignored. Remove the line if no other program needs it.',
      ],
    );
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
