import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { API } from '#shared/api.ts';
import { newestRelease } from '#server/http/releases.ts';
import { TEST_CAMPAIGN, TEST_DIST } from '#testing/built-site.ts';
import { inFolder } from '#testing/folder.ts';
import { startInbox } from '#testing/inbox.ts';
import { becomeLeadAt } from '#testing/post-json.ts';
import { SERVING_FLAGS, siteSettings, startSiteProcess } from '#testing/start-site.ts';

const PROJECT_FOLDER = path.resolve(import.meta.dirname, '..');
const DOCKERFILE = readFileSync(path.join(PROJECT_FOLDER, 'Dockerfile'), 'utf8');

type Package = Readonly<Record<string, unknown>> & {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly version: string;
};
const PACKAGE = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package.json'), 'utf8')) as Package;

function commandOf(beginning: string): string {
  const command = new RegExp(`(?:RUN|&&) (${beginning}(?:.*\\\\\\n)*.*)`).exec(DOCKERFILE)?.[1];
  assert.ok(command, beginning);
  return command.replaceAll('\\\n', '');
}

function makeApp(app: string): void {
  const { packages } = JSON.parse(readFileSync(path.join(PROJECT_FOLDER, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>;
  };
  const places = Object.entries(packages)
    .filter(
      ([place, { dev, devOptional }]) => place.lastIndexOf('node_modules') === 0 && !dev && !devOptional,
    )
    .map(([place]) => place);
  for (const folder of new Set(places.map((place) => path.dirname(place)))) {
    const names = places.filter((place) => path.dirname(place) === folder);
    mkdirSync(path.join(app, folder), { recursive: true });
    // Hard links instead of copies (100 MB), if the temporary folder is on the same disk.
    execFileSync(
      'sh',
      ['-c', 'cp -rl "$@" 2>/dev/null || cp -r "$@"', 'sh', ...names, path.join(app, folder)],
      {
        cwd: PROJECT_FOLDER,
      },
    );
  }
  for (const name of ['server', 'desk', 'shared'])
    cpSync(path.join(PROJECT_FOLDER, name), path.join(app, name), {
      recursive: true,
      filter: (file) => !file.endsWith('.test.ts'),
    });
  cpSync(TEST_CAMPAIGN, path.join(app, 'campaign'), { recursive: true });
  const release = newestRelease(TEST_DIST);
  assert.ok(release);
  cpSync(release.folder, path.join(app, 'dist', 'releases', release.name), { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(path.join(PROJECT_FOLDER, name), path.join(app, name));
  execFileSync('sh', ['-c', commandOf('find node_modules')], { cwd: app });
}

describe('Docker image', () => {
  it('the image contains what the page and the desk need, but no tests or build programs', () =>
    inFolder(async (folder) => {
      const app = path.join(folder, 'app');
      mkdirSync(app);
      makeApp(app);
      assert.deepEqual(globSync('node_modules/**/*.{map,ts,cts,mts}', { cwd: app }), []);
      assert.deepEqual(globSync('node_modules/{vite,react,node,typescript}', { cwd: app }), []);
      await using inbox = await startInbox();
      const env = siteSettings('file:./leads.db', inbox);
      const site = await startSiteProcess(env, folder, app);
      try {
        const page = await (await fetch(site.url)).text();
        assert.match(page, /Master AI-Powered Cold Outreach/);
        const script = /data-app="([^"]+)"/.exec(page)?.[1] ?? '';
        assert.equal((await fetch(site.url + script)).status, 200);
        const cookie = await becomeLeadAt(site.url, inbox);
        const article = await fetch(site.url + API.article, { headers: { cookie } });
        assert.match(await article.text(), /Response rate = ICP accuracy/);

        const desk = (...parameters: string[]) =>
          execFileSync(process.execPath, [path.join(app, 'desk', 'start.js'), ...parameters], {
            cwd: folder,
            env: { ...env, PATH: process.env['PATH'], INSTANCE_FOLDER: folder },
            encoding: 'utf8',
          });
        assert.match(desk('leads'), /ada@example\.com/);
        desk('report', '--out', path.join(folder, 'report.html'));
        assert.match(readFileSync(path.join(folder, 'report.html'), 'utf8'), /<svg/);
      } finally {
        await site.stop('SIGINT');
      }
    }));

  it('the image has the Node version and release version from package.json', () => {
    assert.match(
      DOCKERFILE,
      new RegExp(`^ARG NODE_IMAGE=\\S*/node:${PACKAGE.devDependencies['node']}-slim`, 'm'),
    );
    assert.match(DOCKERFILE, new RegExp(`image\\.version="${PACKAGE.version}"`));
  });

  it('the image starts the page with the same flags as npm start', () => {
    const [, command = '[]'] = /^CMD (.+)$/m.exec(DOCKERFILE) ?? [];
    assert.deepEqual(JSON.parse(command), ['node', ...SERVING_FLAGS, 'server/start.js']);
  });
});
