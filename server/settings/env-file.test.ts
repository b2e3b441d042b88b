import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { readCampaignFolder, readSettings, settingsText } from '#server/settings/env-file.ts';
import { environment } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';

describe('CAMPAIGN_FOLDER setting', () => {
  it("CAMPAIGN_FOLDER is relative to .env and defaults to the project's campaign", () =>
    inFolder((instance) => {
      const folderWith = (env: Readonly<Record<string, string>>) => {
        using _environment = environment(env);
        return readCampaignFolder();
      };
      const own = path.join(PROJECT_FOLDER, 'campaign');
      const INSTANCE_FOLDER = instance;
      assert.equal(folderWith({}), own);
      assert.equal(folderWith({ CAMPAIGN_FOLDER: ' ' }), own);
      assert.equal(
        folderWith({ CAMPAIGN_FOLDER: 'examples/german' }),
        path.join(PROJECT_FOLDER, 'examples', 'german'),
      );
      assert.equal(folderWith({ INSTANCE_FOLDER }), own);
      writeFileSync(path.join(instance, '.env'), 'PORT=none\nCAMPAIGN_FOLDER="words"\n');
      assert.equal(folderWith({ INSTANCE_FOLDER }), path.join(instance, 'words'));
      assert.equal(
        folderWith({ INSTANCE_FOLDER, CAMPAIGN_FOLDER: '/srv/words' }),
        '/srv/words',
        'the environment wins over .env',
      );
    }));
});

describe('settings in .env', () => {
  const read = (content: string | Buffer, env = {}) => {
    let said: readonly string[] = [];
    return inFolder((folder) => {
      using _environment = environment({ ...env, INSTANCE_FOLDER: folder });
      const file = path.join(folder, '.env');
      writeFileSync(file, content);
      const settings = readSettings();
      const sentences = settings.type === 'mistakes' ? settings.mistakes : settings.warnings;
      said = sentences.map((sentence) => sentence.replaceAll(file, '.env'));
    }).then(() => said);
  };
  const SECRET = 's'.repeat(32);

  it('all mistakes in .env are reported at once with their lines', async () => {
    assert.deepEqual(await read('# Here\nPORT=http\nHOST=::\n\nHOTS=x\nGUIDE_EMAIL=maybe\nPROT\n'), [
      '.env:2: PORT must be a whole number from 0 to 65535.',
      '.env:5: HOTS is not a setting. Did you mean HOST?',
      '.env:6: GUIDE_EMAIL must be off, link or attachment.',
      '.env:7: is not a valid line. Write each setting as NAME=value, and begin comments with "#".',
    ]);
    assert.deepEqual(
      await read('APP_SECRET=short\nDATABASE_URL=postgres://u:p@db.example.com/x\nDKIM_DOMAIN=example.com'),
      [
        `.env:1: APP_SECRET must have at least 32 random characters (separate several secrets with commas, newest first).`,
        '.env:2: DATABASE_URL sends a password to another machine, so it must specify the encryption. Add ?sslmode=verify-full (TLS with certificate check), ?sslmode=no-verify (TLS with any certificate) or ?sslmode=disable (no encryption, only in your own network).',
        'DKIM_SELECTOR and DKIM_PRIVATE_KEY_FILE must also be set, because signing needs all of DKIM_DOMAIN, DKIM_SELECTOR, DKIM_PRIVATE_KEY_FILE.',
      ],
    );
    assert.deepEqual(
      await read(`POSTGRES_DB=x\nAPP_SECRET=${SECRET}\nDATABASE_URL=postgres://u:p@db/x?sslmode=disable`),
      [
        '.env:1: POSTGRES_DB is not a known setting and is ignored. Remove the line if no other program needs it.',
        '.env:3: DATABASE_URL has sslmode=disable, so all data is sent to PostgreSQL without encryption. Set sslmode=verify-full unless the network is private.',
      ],
    );
  });

  it('settings in the environment override .env, and their errors name no line', async () => {
    assert.deepEqual(await read('PORT=3001', { PORT: 'http' }), [
      'PORT must be a whole number from 0 to 65535.',
    ]);
    assert.deepEqual(await read('PORT=http', { PORT: '3001' }), []);
    assert.deepEqual(await read('PROT=1', { SMPT_URL: 'x' }), [
      '.env:1: PROT is not a setting. Did you mean PORT?',
      'SMPT_URL is not a setting. Did you mean SMTP_URL?',
    ]);
  });

  it('INSTANCE_FOLDER in .env is refused each time the settings are read', () =>
    inFolder((other) => {
      using _environment = environment({});
      const text = `INSTANCE_FOLDER=${other}`;
      const first = readSettings(text);
      assert.match(
        JSON.stringify(first),
        /\.env:1: INSTANCE_FOLDER cannot be set here, because it determines the location of \.env\. Set it in the environment\."/,
      );
      assert.deepEqual(readSettings(text), first);
      assert.equal(process.env['INSTANCE_FOLDER'], undefined);
    }));

  it('settings in the environment can be written to .env, or are named', () =>
    inFolder((folder) => {
      const INSTANCE_FOLDER = folder;
      for (const [MAIL_FROM, written] of [
        ['Ada <a@example.com>', `'Ada <a@example.com>'`],
        ["Ada's #1", `"Ada's #1"`],
        [String.raw`Ada's \n`, `\`${String.raw`Ada's \n`}\``],
        ["Ada's\n", String.raw`"Ada's\n"`],
        [String.raw`'"Ada`, `\`'"Ada\``],
        ['\'"`', null],
        ['a\r\nb', null],
      ] as const) {
        using _environment = environment({ INSTANCE_FOLDER, MAIL_FROM, PORT: '1' });
        assert.deepEqual(
          settingsText(),
          written === null
            ? { type: 'unwritable', names: ['MAIL_FROM'] }
            : { type: 'text', text: `# From the environment:\nPORT='1'\nMAIL_FROM=${written}\n` },
        );
      }
    }));

  it('.env may have any line endings and a byte order mark, but must be UTF-8', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      assert.deepEqual(
        await read(['\uFEFFPORT=http', 'HOST="::"', 'METRICS_PORT=x', ''].join(end)),
        [
          '.env:1: PORT must be a whole number from 0 to 65535.',
          '.env:3: METRICS_PORT must be a whole number from 0 to 65535.',
        ],
        JSON.stringify(end),
      );
    const foreign = 'is not encoded in UTF-8. Save the file as UTF-8 in your editor.';
    assert.deepEqual(await read(Buffer.from('\uFEFFPORT=http', 'utf16le')), [`.env:1: ${foreign}`]);
    assert.deepEqual(await read(Buffer.from('PORT=1\nMAIL_FROM="Führer" <a@example.com>', 'latin1')), [
      `.env:2: ${foreign}`,
    ]);
  });
});
