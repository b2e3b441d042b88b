import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { explainSystemFailure, explainWriteFailure } from '#server/platform/system-errors.ts';
import { distFolder, newestRelease } from '#server/http/releases.ts';
import { copyCampaign } from '#testing/campaign-copy.ts';
import { inFolder } from '#testing/folder.ts';

function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(PROJECT_FOLDER, file), ...args], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

async function withCampaign(
  changes: Parameters<typeof copyCampaign>[1],
  test: (campaign: string, dist: string) => Promise<void> | void,
): Promise<void> {
  await inFolder(async (folder) => {
    const campaign = copyCampaign(folder, changes);
    const dist = distFolder(PROJECT_FOLDER, campaign);
    try {
      await test(campaign, dist);
    } finally {
      rmSync(dist, { recursive: true, force: true });
    }
  });
}

const failing = (code: string, syscall: string, rest = {}) =>
  Object.assign(new Error(`${code}: words of the system`), { code, syscall, ...rest });

it('an error of the operating system is explained with the file and the action', () => {
  for (const [error, sentence] of [
    [
      failing('ENOSPC', 'write'),
      'A file cannot be written: the disk is full. Free some space, or choose another place.',
    ],
    [
      failing('EROFS', 'open', { path: '/a' }),
      '/a cannot be opened: the disk is read-only. Choose another place.',
    ],
    [
      failing('EIO', 'read'),
      'A file cannot be read: the disk reports an error. Check the disk, or choose another place.',
    ],
    [
      failing('EDQUOT', 'mkdir', { path: '/a' }),
      '/a cannot be written: the disk quota of this user is used up. Free some space, or choose another place.',
    ],
    [
      new AggregateError([failing('EMFILE', 'open', { path: '/a' })]),
      '/a cannot be opened: too many files are open. Raise the limit (ulimit -n), and try again.',
    ],
    [failing('ENOENT', 'open', { path: '/a' }), null],
    [failing('EACCES', 'listen'), null],
    [failing('EPERM', 'kill'), null],
    [Object.assign(new TypeError('x'), { code: 'ERR_INVALID_ARG_TYPE' }), null],
    ['ENOSPC', null],
  ] as const)
    assert.equal(explainSystemFailure(error), sentence);
  assert.equal(
    explainWriteFailure(failing('EFBIG', 'write'), 'x.csv'),
    'x.csv cannot be written: it would be larger than this user or this disk allows. Raise the limit (ulimit -f), or choose another place.',
  );
});

it('npm run build first reports that a campaign with mistakes changes nothing', () =>
  withCampaign({ 'consent.yaml': 'txet: Yes\n' }, (campaign, dist) => {
    const build = () => run('build/build.ts', [], { CAMPAIGN_FOLDER: campaign }).stderr.split('\n', 2);
    const mistake = `  - ${campaign}/consent.yaml:1: text: is missing.`;
    const correct = 'Correct these 2 mistakes, and run the build again:';
    assert.deepEqual(build(), [`The site was not built. ${correct}`, mistake]);
    const release = path.join(dist, 'releases', '2026-01-01T00-00-00.000Z-00000000');
    mkdirSync(release, { recursive: true });
    writeFileSync(path.join(release, 'release.json'), '{"builtFrom":{}}');
    assert.deepEqual(build(), [
      `Nothing was changed: the site goes on with the words of its last build. ${correct}`,
      mistake,
    ]);
  }));

it('npm run build refuses a campaign without the words for a setting', () =>
  inFolder((folder) => {
    const campaign = copyCampaign(folder);
    const built = run('build/build.ts', [], { CAMPAIGN_FOLDER: campaign, GUIDE_EMAIL: 'attachment' });
    assert.equal(built.status, 1);
    assert.match(built.stderr, /^ {2}- GUIDE_EMAIL is attachment, but emails\/guide\.yaml names no file\./m);
  }));

it('npm run build and npm run picture refuse a missing INSTANCE_FOLDER and an unreadable .env', () =>
  inFolder((folder) => {
    const missing = path.join(folder, 'sprnig');
    mkdirSync(path.join(folder, '.env'));
    for (const [file, ...args] of [
      ['build/build.ts'],
      ['studio/make-media.ts', 'hero', 'photo.jpg'],
    ] as const)
      for (const [instance, sentence] of [
        [
          missing,
          'INSTANCE_FOLDER names a folder that does not exist. Create the folder, or correct the setting.',
        ],
        [folder, `The file ${folder}/.env cannot be read (EISDIR). Grant this user read permission.`],
      ] as const) {
        const { status, stderr } = run(file, args, { INSTANCE_FOLDER: instance });
        assert.equal(status, 1);
        assert.ok(stderr.endsWith(`${sentence}\n`), stderr);
      }
  }));

it('npm run build publishes the site even if the reader of its warnings stops early', () =>
  withCampaign({ 'media/unused.webp': '' }, async (campaign, dist) => {
    const build = spawn(process.execPath, [path.join(PROJECT_FOLDER, 'build/build.ts')], {
      env: { PATH: process.env['PATH'], CAMPAIGN_FOLDER: campaign },
    });
    build.stdout.destroy();
    const ended = once(build, 'exit') as Promise<[number]>;
    const [errors, [status]] = await Promise.all([text(build.stderr), ended]);
    assert.deepEqual([status, errors], [0, '']);
    assert.ok(newestRelease(dist));
  }));

it('npm run build explains why the bundler cannot write a file', () =>
  withCampaign({}, (campaign) => {
    // With the first limit, a copied font is too large; with the second, the application.
    for (const [blocks, file] of [
      [20, /\/fonts\/[\w-]+\.woff2/],
      [300, /\/app-[\w-]+\.js/],
    ] as const) {
      const command = `trap '' XFSZ; ulimit -f ${blocks}; exec '${process.execPath}' build/build.ts`;
      const { status, stderr } = spawnSync('sh', ['-c', command], {
        cwd: PROJECT_FOLDER,
        env: { PATH: process.env['PATH'], CAMPAIGN_FOLDER: campaign },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      const sentence = ' cannot be written: it would be larger than this user or this disk allows.';
      assert.match(stderr, new RegExp(`\\n\\S+${file.source}${sentence}`));
      assert.doesNotMatch(stderr, /bug/);
    }
  }));
