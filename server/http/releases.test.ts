import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import {
  beginRelease,
  copyCampaign,
  distFolder,
  findRelease,
  newestRelease,
  publishRelease,
  readSources,
  removeOldReleases,
} from '#server/http/releases.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';
import { DEFAULT_CAMPAIGN, ensureBuilt } from '#testing/built-site.ts';
import { keptCompiledIn } from '#testing/environment.ts';
import { inFolder } from '#testing/folder.ts';
import { copyProject } from '#testing/project-copy.ts';
import { startSiteProcess } from '#testing/start-site.ts';
import { until } from '#testing/until.ts';

const PROJECT = path.resolve(import.meta.dirname, '..', '..');
const NOW = Date.UTC(2026, 10, 21, 12);

const withProject = (test: (project: string, dist: string) => void): Promise<void> =>
  inFolder((project) => {
    for (const [name, text] of [
      ['campaign/landing.yaml', 'headline: One'],
      ['campaign/emails/code.yaml', 'subject: One'],
      ['campaign/article/article.md', 'One'],
      ['web/app.tsx', 'one'],
      ['web/app.test.ts', 'one'],
      ['shared/api.ts', 'one'],
      ['build/build.ts', 'one'],
      ['package-lock.json', '{}'],
    ] as const)
      write(project, name, text);
    test(project, path.join(project, 'dist'));
  });

function write(project: string, name: string, text: string): void {
  mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
  writeFileSync(path.join(project, name), text);
}

function build(project: string, text: string, now = NOW, campaign = path.join(project, 'campaign')): string {
  const folder = beginRelease(distFolder(project, campaign), now);
  const builtFrom = readSources(project, campaign);
  const facts = { builtFrom, sitePath: '', inlineHashes: { scripts: [], styles: [] } };
  write(folder, 'release.json', JSON.stringify(facts));
  write(folder, 'pages/index.html', text);
  return folder;
}

const releasesIn = (dist: string): string[] => readdirSync(path.join(dist, 'releases')).toSorted();

it('a release is not stored twice if its files and their modes are identical', () =>
  withProject((project, dist) => {
    const first = publishRelease(dist, build(project, 'one'), NOW);
    const again = build(project, 'one');
    assert.equal(publishRelease(dist, again, NOW + HOUR_MS), first);
    assert.ok(!existsSync(again));
    assert.deepEqual(releasesIn(dist), [first]);

    const withOtherModes = build(project, 'one');
    chmodSync(path.join(withOtherModes, 'pages/index.html'), 0o600);
    const second = publishRelease(dist, withOtherModes, NOW + HOUR_MS);
    assert.deepEqual(releasesIn(dist), [first, second]);
  }));

it('the release published last is the newest, even after the clock was set back', () =>
  withProject((project, dist) => {
    const [one, two, three] = [build(project, 'one'), build(project, 'two'), build(project, 'three')];
    publishRelease(dist, one, NOW);
    const later = publishRelease(dist, three, NOW);
    assert.equal(newestRelease(dist)?.name, later);
    const last = publishRelease(dist, two, NOW - 400 * DAY_MS);
    assert.equal(newestRelease(dist)?.name, last);
    const newest = newestRelease(dist);
    assert.equal(readFileSync(path.join(newest?.folder ?? '', 'pages', 'index.html'), 'utf8'), 'two');
    assert.equal(releasesIn(dist).length, 3);
  }));

it('a release is kept for a day after its replacement', () =>
  withProject((project, dist) => {
    const first = publishRelease(dist, build(project, 'one'), NOW - 90 * DAY_MS);
    const second = publishRelease(dist, build(project, 'two'), NOW);
    removeOldReleases(dist, NOW + DAY_MS);
    assert.deepEqual(releasesIn(dist), [first, second]);
    removeOldReleases(dist, NOW + DAY_MS + 1);
    assert.deepEqual(releasesIn(dist), [second]);
    removeOldReleases(dist, NOW + 900 * DAY_MS);
    assert.deepEqual(releasesIn(dist), [second], 'the newest one always stays');
  }));

it('a killed build is never mistaken for a release and is removed after an hour', () =>
  withProject((project, dist) => {
    const killed = build(project, 'one', NOW - HOUR_MS - 1);
    const underWay = build(project, 'two', NOW - HOUR_MS);
    write(dist, 'releases/.something else', '');
    assert.equal(newestRelease(dist), null);
    removeOldReleases(dist, NOW);
    assert.ok(!existsSync(killed));
    assert.ok(existsSync(underWay));
    assert.deepEqual(releasesIn(dist), ['.something else']);
  }));

it('a release keeps the owners and modes of its campaign, without unused and hidden files', () =>
  withProject((project) => {
    write(project, 'campaign/.git/config', '[core]');
    // A lock file of Emacs.
    symlinkSync('nowhere', path.join(project, 'campaign/.#landing.yaml'));
    write(project, 'campaign/article/article.md', 'Gated');
    write(project, 'campaign/unused/old.yaml', 'old');
    const article = path.join(project, 'campaign/article/article.md');
    chmodSync(article, 0o600);
    if (process.getuid?.() === 0) chownSync(article, 65_534, 65_534);
    chmodSync(path.dirname(article), 0o555);
    const release = path.join(project, 'release');
    copyCampaign(path.join(project, 'campaign'), release);
    const copy = statSync(path.join(release, 'campaign/article/article.md'));
    assert.deepEqual([copy.mode & 0o777, copy.uid], [0o600, statSync(article).uid]);
    const { mode } = statSync(path.join(release, 'campaign/article'));
    assert.equal(mode & 0o777, 0o755, 'so that a later build can remove it');
    assert.deepEqual(readdirSync(path.join(release, 'campaign')).toSorted(), [
      'article',
      'emails',
      'landing.yaml',
    ]);
  }));

it('a release is served only while its sources are unchanged', () =>
  withProject((project, dist) => {
    const mistake = (sitePath?: string) => {
      const found = findRelease(project, undefined, sitePath);
      return found.type === 'release' ? found.type : found.mistake;
    };
    assert.equal(
      mistake(),
      'The site has not been built yet. Run "npm run build" first, or use "npm start".',
    );
    publishRelease(dist, build(project, 'one'), NOW);
    assert.equal(mistake(), 'release');
    assert.equal(
      mistake('/guide'),
      'The site was built with no path, but PUBLIC_URL has the path /guide. Run "npm run build" again.',
    );
    write(project, 'campaign/emails/code.yaml', 'subject: Two');
    write(project, 'campaign/article/article.md', 'Two');
    write(project, 'web/app.test.ts', 'two');
    utimesSync(path.join(project, 'web', 'app.tsx'), 0, 0);
    assert.equal(mistake(), 'release');
    write(project, 'campaign/unused/landing.yaml', 'headline: Old');
    assert.equal(mistake(), 'release');
    write(project, 'campaign/landing.yaml', 'headline: Two');
    assert.equal(findRelease(project).type, 'outdated', 'because only words changed');
    assert.equal(
      mistake(),
      'The built site is outdated, because campaign/landing.yaml changed after the build. Run "npm run build" again.',
    );
    write(project, 'campaign/landing.yaml', 'headline: One');
    for (const name of ['campaign/new.yaml', 'web/deep/new.tsx', 'shared/new.ts']) {
      write(project, name, 'new');
      assert.match(mistake(), new RegExp(`outdated, because ${name} changed`));
      rmSync(path.join(project, name));
    }
    rmSync(path.join(project, 'web', 'app.tsx'));
    write(project, 'package-lock.json', '{"changed":true}');
    assert.match(mistake(), /outdated, because package-lock\.json and 1 more changed/);
    assert.equal(findRelease(project).type, 'unusable');
    write(project, 'package-lock.json', '{}');
    rmSync(path.join(project, 'web'), { recursive: true });
    assert.equal(mistake(), 'release');
  }));

it('a release is outdated once a file that the campaign links to changes', () =>
  withProject((project, dist) => {
    write(project, 'brand/site.yaml', 'title: One');
    symlinkSync('../brand/site.yaml', path.join(project, 'campaign/site.yaml'));
    publishRelease(dist, build(project, 'one'), NOW);
    write(project, 'brand/site.yaml', 'title: Two');
    assert.equal(findRelease(project).type, 'outdated');
  }));

it('a release lists every file of the build as a source', () => {
  const known = readSources(PROJECT, path.join(PROJECT, 'campaign'));
  const seen = new Set<string>();
  const notInThePage = /(?:article|campaign-warnings|sample)\.ts$/;
  const follow = (name: string) => {
    if (seen.has(name) || notInThePage.test(name)) return;
    seen.add(name);
    const code = readFileSync(path.join(PROJECT, name), 'utf8');
    for (const [, imported = ''] of code.matchAll(/from '#((?:build|server\/campaign)\/[^']+)'/g))
      follow(imported);
  };
  follow('build/build.ts');
  assert.ok(seen.size > 3);
  assert.deepEqual(
    Array.from(seen).filter((name) => !(name in known)),
    [],
  );
});

it('a release belongs to one campaign and must match its content', () =>
  withProject((project, dist) => {
    const other = path.join(project, 'examples', 'german');
    write(other, 'landing.yaml', 'headline: Eins');
    write(other, 'article/article.md', 'Eins');
    const mistake = (campaign?: string) => {
      const found = findRelease(project, campaign);
      return found.type === 'release' ? found.release.folder : found.mistake;
    };
    const own = publishRelease(dist, build(project, 'one'), NOW);
    assert.match(mistake(other), /^The site has not been built yet\./);
    const otherDist = distFolder(project, other);
    const release = publishRelease(otherDist, build(project, 'eins', NOW + 1, other), NOW + 1);
    assert.equal(mistake(other), path.join(otherDist, 'releases', release));
    assert.equal(mistake(), path.join(dist, 'releases', own), 'the first one is still the one to serve');
    write(other, 'article/article.md', 'Zwei');
    assert.equal(mistake(other), path.join(otherDist, 'releases', release));
    write(other, 'media/hero.avif', 'Zwei');
    assert.equal(
      mistake(other),
      'The built site is outdated, because examples/german/media/hero.avif changed after the build. Run "npm run build" again.',
    );
    assert.equal(mistake(), path.join(dist, 'releases', own));
    removeOldReleases(dist, NOW + 900 * DAY_MS);
    assert.ok(existsSync(path.join(otherDist, 'releases', release)));
  }));

const namedIn = (page: string): string[] => [...new Set(page.match(/\/(?:assets|media|fonts)\/[\w.-]+/g))];
const chunkIn = (page: string): string => /data-app="([^"]+)"/.exec(page)?.[1] ?? '';

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  assert.equal(response.status, 200, url);
  return text;
}

const VISIT_EVERY_MS = 1_000;

async function visit(url: string, signal: AbortSignal): Promise<number> {
  for (let visits = 1; ; visits += 1) {
    const page = await read(url);
    for (const name of namedIn(page)) await read(url + name);
    if (signal.aborted) return visits;
    await setTimeout(VISIT_EVERY_MS);
  }
}

const startBuild = (project: string): ChildProcess =>
  spawn(process.execPath, [path.join(project, 'build', 'build.ts')], {
    cwd: project,
    env: { ...process.env, ...keptCompiledIn(project) },
    stdio: 'inherit',
  });

async function ended(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? child.signalCode;
}

it(
  'a build while a server runs keeps the files of both releases available',
  { timeout: 300_000 },
  async () => {
    using copy = copyProject();
    const project = copy.path;
    const [main, words] = [
      path.join(project, 'server', 'startup', 'main.ts'),
      path.join(project, 'campaign', 'site.yaml'),
    ];
    const [dist, building] = [path.join(project, 'dist'), path.join(project, 'dist', 'building')];
    const start = () => {
      const folder = mkdtempSync(path.join(project, 'data-'));
      return startSiteProcess({ LOG_LEVEL: 'fatal', PUBLIC_URL: 'http://localhost' }, folder, project);
    };
    const refusal = () =>
      spawnSync(process.execPath, [main], {
        cwd: project,
        encoding: 'utf8',
        env: { PORT: '0', ...keptCompiledIn(project) },
      });
    const stops: (() => Promise<unknown>)[] = [];
    try {
      assert.match(
        refusal().stderr,
        /^The server cannot start:\n {2}- The site has not been built yet\. [^\n]*\n$/,
      );
      ensureBuilt(DEFAULT_CAMPAIGN);
      const ours = newestRelease(distFolder(PROJECT, DEFAULT_CAMPAIGN));
      assert.ok(ours);
      cpSync(ours.folder, path.join(dist, 'releases', ours.name), { recursive: true });
      mkdirSync(building);
      const old = await start();
      stops.push(() => old.stop('SIGINT'));
      const oldPage = await read(old.url);

      const over = new AbortController();
      const visits = visit(old.url, over.signal);
      // Awaited later; an earlier failure must not be hidden by its rejection.
      visits.catch(() => {});
      const changed = readFileSync(words, 'utf8').replace(
        /^pageTitle: .*$/m,
        'pageTitle: Another Guide {year}',
      );
      for (const unfinished of ['title: [', changed]) {
        writeFileSync(words, unfinished);
        const late = await start();
        assert.equal(await read(late.url), oldPage, 'unfinished words do not stop the site');
        await late.stop('SIGINT');
      }

      write(project, 'campaign/media/originals/sign.svg', '<svg viewBox="0 0 1 1"/>');
      chmodSync(path.join(project, 'campaign/media/og.png'), 0o600);
      chmodSync(path.join(project, 'campaign/media'), 0o700);
      const usual = process.umask(0o077);
      const [killed, whole] = [startBuild(project), startBuild(project)];
      process.umask(usual);
      const hasFiles = () =>
        readdirSync(building).some((name) => existsSync(path.join(building, name, 'release', 'files')));
      await until(hasFiles, 60_000, 2);
      killed.kill('SIGKILL');
      assert.equal(await ended(killed), 'SIGKILL');
      assert.equal(await ended(whole), 0);
      assert.equal(releasesIn(dist).length, 2);
      const fresh = await start();
      stops.push(() => fresh.stop('SIGINT'));
      over.abort();
      assert.ok((await visits) > 1);

      const [, built = ''] = releasesIn(dist);
      for (const [name, mode] of [
        ['og.png', 0o644],
        ['originals/sign.svg', 0o644],
        ['originals', 0o755],
        ['', 0o755],
        ['../../pages/index.html', 0o644],
        ['../..', 0o755],
      ] as const) {
        const file = statSync(path.join(dist, 'releases', built, 'files/media', name));
        assert.equal(file.mode & 0o777, mode, `media/${name} is readable, even if the campaign is private`);
      }
      const freshPage = await read(fresh.url);
      assert.match(freshPage, /<title>Another Guide \d{4}<\/title>/);
      assert.equal(await read(old.url), oldPage);
      assert.notEqual(chunkIn(freshPage), chunkIn(oldPage));
      for (const { url } of [old, fresh]) {
        for (const page of [oldPage, freshPage]) {
          for (const name of namedIn(page)) await read(url + name);
          assert.equal((await fetch(url + chunkIn(page))).status, 200);
        }
        assert.equal((await fetch(`${url}/assets/app-never-was.js`)).status, 404);
      }
      rmSync(dist, { recursive: true });
      for (const { url } of [old, fresh]) {
        const page = await read(url);
        for (const name of namedIn(page)) await read(url + name);
        assert.equal((await fetch(`${url}/assets/app-never-was.js`)).status, 404);
      }
    } finally {
      for (const stop of stops) await stop();
    }
  },
);
