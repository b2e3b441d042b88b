import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { parseEnv } from 'node:util';

import fc from 'fast-check';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaignFolder, readEnvText, readSettings, settingsText } from '#server/settings/env-file.ts';
import { environment } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { words } from '#testing/words.ts';

/** @returns the mistakes, or the warnings about valid settings */
async function read(content: string | Buffer, env = {}): Promise<readonly string[]> {
  let said: readonly string[] = [];
  await inFolder((folder) => {
    using _environment = environment({ ...env, INSTANCE_FOLDER: folder });
    const file = path.join(folder, '.env');
    writeFileSync(file, content);
    const settings = readSettings();
    const sentences = settings.type === 'mistakes' ? settings.mistakes : settings.warnings;
    said = sentences.map((sentence) => sentence.replaceAll(file, '.env'));
  });
  return said;
}

const NOT_A_PORT = 'PORT must be a whole number from 0 to 65535.';
const INVALID = 'is not a valid line. Write each setting as NAME=value, and begin comments with "#".';
const FOREIGN = 'is not encoded in UTF-8. Save the file as UTF-8 in your editor.';
const cutOff = (line: number, name: string) =>
  `.env:${line}: ${name} has a "#" or a quote that would cut off its value. Put the whole value on one line in a type of quotes that it does not contain.`;

type Row = readonly [text: string | Buffer, ...sentences: string[]];
const REPORTED: readonly Row[] = [
  [
    '# Here\nPORT=http\nHOST=::\n\nHOTS=x\nGUIDE_EMAIL=maybe\nPROT\nHOST="2',
    `.env:2: ${NOT_A_PORT}`,
    '.env:5: HOTS is not a setting. Did you mean HOST?',
    '.env:6: GUIDE_EMAIL must be off, link or attachment.',
    `.env:7: ${INVALID}`,
    cutOff(8, 'HOST'),
    '.env:8: HOST is already set in line 3. Keep only one of the two lines.',
  ],
  [
    'APP_SECRET=short\nDATABASE_URL=postgres://u:p@db.example.com/x\nDKIM_DOMAIN=example.com',
    '.env:1: APP_SECRET must have at least 32 random characters (separate several secrets with commas, newest first).',
    '.env:2: DATABASE_URL sends a password to another machine, so it must specify the encryption. Add ?sslmode=verify-full (TLS with certificate check), ?sslmode=no-verify (TLS with any certificate) or ?sslmode=disable (no encryption, only in your own network).',
    'DKIM_SELECTOR and DKIM_PRIVATE_KEY_FILE must also be set, because signing needs all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_PRIVATE_KEY_FILE.',
  ],
  [
    `POSTGRES_DB=x\nAPP_SECRET=${'s'.repeat(32)}\nDATABASE_URL=postgres://u:p@db/x?sslmode=disable`,
    '.env:1: POSTGRES_DB is not a known setting and is ignored. Remove the line if no other program needs it.',
    '.env:3: DATABASE_URL has sslmode=disable, so all data is sent to PostgreSQL without encryption. Set sslmode=verify-full unless the network is private.',
  ],
  ...['PORT 3000', 'PORT: 3000', '=3000', '"PORT"=3000', 'export PORT'].map((text): Row => [
    text,
    `.env:1: ${INVALID}`,
  ]),
  ...[
    `"Guide <guide@example.com>\nHOST=::`,
    `'Guide\nHOST='::'`,
    `'it's'`,
    '"a\\"b"',
    'abc#def',
    '#abc',
    'abc def# why',
  ].map((value): Row => [`PORT=1\nMETRICS_HOST=${value}`, cutOff(2, 'METRICS_HOST')]),
  ...['\n', '\r\n', '\r'].map((end): Row => [
    ['\uFEFFPORT=http', 'HOST="::"', 'METRICS_PORT=x', ''].join(end),
    `.env:1: ${NOT_A_PORT}`,
    `.env:3: METRICS_${NOT_A_PORT}`,
  ]),
  [Buffer.from('\uFEFFPORT=http', 'utf16le'), `.env:1: ${FOREIGN}`],
  [Buffer.from('PORT=1\nMAIL_FROM="Führer" <a@example.com>', 'latin1'), `.env:2: ${FOREIGN}`],
];

const SILENT = [
  '\n  \n',
  `APP_SECRET=${'a'.repeat(32)}, ${'b'.repeat(32)} #a comment#`,
  'APP_SECRET= # nothing yet',
  'APP_SECRET= \n\n  # not yet\nPORT=1',
  `APP_SECRET='${'abc#def'.repeat(5)}' # quoted`,
  'MAIL_FROM="It\'s `here` <a@example.com>"',
  "MAIL_FROM=It's here <a@example.com>",
  '# MAIL_FROM="Guide\nPORT=1 # MAIL_FROM="',
];

it('all mistakes in .env are reported at once with their lines', async () => {
  for (const [text, ...sentences] of REPORTED)
    assert.deepEqual(await read(text), sentences, JSON.stringify(text));
});

it('unambiguous lines in .env are not reported', async () => {
  for (const text of SILENT) assert.deepEqual(await read(text), [], text);
  assert.deepEqual(readEnvText('SOMEBODY_ELSES=1\nSOMEBODY_ELSES=2').mistakes, []);
  assert.equal(readEnvText('MAIL_FROM= \n\nHOST=::').values['MAIL_FROM'], '');
});

it('a setting in .env counts with any white space around its name', () => {
  for (const text of ['PORT\u00A0=3001', 'export\tPORT=3001', '\u3000export\u00A0PORT=3001'])
    assert.equal(readEnvText(text).values['PORT'], '3001', JSON.stringify(text));
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
      const entries = texts.map((text) => parseEnv(text));
      for (const name of ['PORT', 'HOST'])
        assert.equal(
          values[name] ?? '',
          entries.findLast((entry) => name in entry)?.[name] ?? '',
          texts.join('\n'),
        );
    }),
    { numRuns: 5_000 },
  );
  assert(silent > 250, 'enough files have no reported mistake');
});

it('INSTANCE_FOLDER in .env is refused each time the settings are read', () => {
  using _environment = environment({});
  const first = readSettings('INSTANCE_FOLDER=/srv');
  const sentence =
    'INSTANCE_FOLDER cannot be set here, because it determines the location of .env. Set it in the environment.';
  assert.deepEqual(first, { type: 'mistakes', mistakes: [`.env:1: ${sentence}`] });
  assert.deepEqual(readSettings('INSTANCE_FOLDER=/srv'), first);
  assert.equal(process.env['INSTANCE_FOLDER'], undefined);
});

it('settings in the environment override .env, and their errors name no line', async () => {
  assert.deepEqual(await read('PORT=3001', { PORT: 'http' }), [NOT_A_PORT]);
  assert.deepEqual(await read('PORT=http', { PORT: '3001' }), []);
  assert.deepEqual(await read('PROT=1', { SMPT_URL: 'x' }), [
    '.env:1: PROT is not a setting. Did you mean PORT?',
    'SMPT_URL is not a setting. Did you mean SMTP_URL?',
  ]);
});

it('a misspelt setting is reported with the right name, unless it may belong to another program', async () => {
  for (const [misspelt, setting] of [
    ['SMTP_UR', 'SMTP_URL'],
    ['DATBASE_URL', 'DATABASE_URL'],
    ['APPSECRET', 'APP_SECRET'],
    ['LEADS_PER_IP_PER_HOURS', 'LEADS_PER_IP_PER_HOUR'],
  ] as const)
    assert.deepEqual(await read('', { [misspelt]: 'x' }), [
      `${misspelt} is not a setting. Did you mean ${setting}?`,
    ]);
  const others = words(`
      PORT_X PORTS POST HOSTNAME HOST_IP GHOST HOME MAIL MAILTO PATH API_SECRET LOGLEVEL FTP_URL REDIS_URL
      npm_config_loglevel TERM LOGNAME SHELL`);
  assert.deepEqual(await read('', Object.fromEntries(others.map((name) => [name, 'x']))), []);
  assert.deepEqual(await read('', { SMPT_URL: 'x', SMTP_URL: 'smtp://host' }), [], 'the right one is there');
});

it('settings in the environment can be written to .env, or are named', () =>
  inFolder((folder) => {
    for (const [MAIL_FROM, written] of [
      ['Ada <a@example.com>', `'Ada <a@example.com>'`],
      ["Ada's #1", `"Ada's #1"`],
      [String.raw`Ada's \n`, `\`${String.raw`Ada's \n`}\``],
      ["Ada's\n", String.raw`"Ada's\n"`],
      [String.raw`'"Ada`, `\`'"Ada\``],
      ['\'"`', null],
      ['a\r\nb', null],
    ] as const) {
      using _environment = environment({ INSTANCE_FOLDER: folder, MAIL_FROM, PORT: '1' });
      assert.deepEqual(
        settingsText(),
        written === null
          ? { type: 'unwritable', names: ['MAIL_FROM'] }
          : { type: 'text', text: `# From the environment:\nPORT='1'\nMAIL_FROM=${written}\n` },
      );
    }
  }));

it("CAMPAIGN_FOLDER is relative to .env and defaults to the project's campaign", () =>
  inFolder((instance) => {
    writeFileSync(path.join(instance, '.env'), 'PORT=none\nCAMPAIGN_FOLDER="words"\n');
    const INSTANCE_FOLDER = instance;
    const blank = path.join(instance, 'blank');
    mkdirSync(blank);
    writeFileSync(path.join(blank, '.env'), 'CAMPAIGN_FOLDER= \nPORT=3000\n');
    for (const [env, folder] of [
      [{}, path.join(PROJECT_FOLDER, 'campaign')],
      [{ CAMPAIGN_FOLDER: ' ' }, path.join(PROJECT_FOLDER, 'campaign')],
      [{ CAMPAIGN_FOLDER: 'examples/german' }, path.join(PROJECT_FOLDER, 'examples', 'german')],
      [{ INSTANCE_FOLDER: path.join(instance, 'empty') }, path.join(PROJECT_FOLDER, 'campaign')],
      [{ INSTANCE_FOLDER: blank }, path.join(PROJECT_FOLDER, 'campaign')],
      [{ INSTANCE_FOLDER }, path.join(instance, 'words')],
      [{ INSTANCE_FOLDER, CAMPAIGN_FOLDER: '/srv/words' }, '/srv/words'],
    ] as const) {
      using _environment = environment(env);
      assert.equal(readCampaignFolder(), folder, JSON.stringify(env));
    }
  }));
