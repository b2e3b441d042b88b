// Names, finds, publishes and removes releases, the results of builds. A server reads its release into memory, so removing the
// folder does no harm (decision 0011).
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

import { copyFiles } from '#server/campaign/campaign-folder.ts';
import type { InlineHashes } from '#server/http/security-headers.ts';
import { flushToDisk } from '#server/platform/files.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';

/**
 * Maps the path of each source file to its digest. The campaign's path is recorded as campaign/, wherever the campaign is
 * stored.
 */
export type Sources = Readonly<Record<string, string>>;
export type ReleaseFacts = {
  readonly builtFrom: Sources;
  readonly sitePath: string;
  readonly inlineHashes: InlineHashes;
};
/**
 * A folder in releases/ that never changes. It contains release.json, pages/ with PUBLIC_URL filled in, files/, desk/ and a
 * copy of the campaign, and is renamed from building/ when complete. Names are times, so the last one is the newest.
 */
export type Release = ReleaseFacts & {
  readonly name: string;
  readonly folder: string;
  readonly dist: string;
};

/** A page loaded from a replaced release still finds its files for this long. */
const GRACE_MS = DAY_MS;
/** Builds take seconds, so an older unfinished one must have been killed. */
const ABANDONED_AFTER_MS = HOUR_MS;

/** Every file that a build reads, as a test checks. */
const SOURCES = [
  'web/**/*',
  'desk/{endpoints,web}/**/*',
  'shared/**/*.ts',
  'build/{build,browsers,headline-font,pages,vite-*}.ts',
  'build/*.woff2',
  'server/campaign/{campaign,campaign-folder,own-form,pictures,words-and-files,words-file,words-mistakes,yaml-mistakes}.ts',
  'server/http/releases.ts',
  'package-lock.json',
  'tsconfig.base.json',
];
const NOT_SOURCES = ['**/*.test.ts', 'desk/web/tsconfig.json'];
/** The article and e-mails do not affect the built site. */
const NOT_IN_THE_PAGE = ['{article,emails,unused}/**', 'free-mail-domains.txt'];

const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('base64url');

function digestFiles(folder: string, include: readonly string[], exclude: readonly string[]): Sources {
  return Object.fromEntries(
    globSync(include, { cwd: folder, exclude })
      .toSorted()
      // Follows links.
      .filter((name) => statSync(path.join(folder, name), { throwIfNoEntry: false })?.isFile())
      .map((name) => [name.replaceAll(path.sep, '/'), digest(path.join(folder, name))] as const),
  );
}

const CAMPAIGN = 'campaign/';
const defaultCampaign = (project: string): string => path.join(project, 'campaign');

export function readSources(project: string, campaign: string): Sources {
  const campaignFiles = Object.entries(digestFiles(campaign, ['**/*'], NOT_IN_THE_PAGE));
  return {
    ...Object.fromEntries(campaignFiles.map(([name, value]) => [CAMPAIGN + name, value])),
    ...digestFiles(project, SOURCES, NOT_SOURCES),
  };
}

function changedSources(project: string, before: Sources, now: Sources): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) =>
      before[name] !== now[name] &&
      // The container image lacks web/, build/ and other parts that only a build needs.
      (name.startsWith(CAMPAIGN) || existsSync(path.join(project, name.split('/', 1)[0] ?? ''))),
  );
}

function pathFromProject(source: string, project: string, campaign: string): string {
  if (!source.startsWith(CAMPAIGN)) return source;
  return path.relative(project, path.join(campaign, source.slice(CAMPAIGN.length))).replaceAll(path.sep, '/');
}

export function distFolder(project: string, campaign: string): string {
  const dist = path.join(project, 'dist');
  if (campaign === defaultCampaign(project)) return dist;
  const id = createHash('sha256').update(campaign).digest('hex').slice(0, 8);
  return path.join(dist, 'campaigns', `${path.basename(campaign)}-${id}`);
}

const RELEASE_NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-[0-9a-f]{8}$/;

const newName = (time: number): string =>
  `${new Date(time).toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}`;

const timeOf = (name: string): number => Date.parse(name.replace(RELEASE_NAME, '$1T$2:$3:$4'));

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => RELEASE_NAME.test(name))
    .toSorted();
}

export const releaseNames = (dist: string): string[] => namesIn(path.join(dist, 'releases'));

export const variantPage = (variant: string): string => `variant-${variant}.html`;

export const filesFolder = (dist: string, name: string): string => path.join(dist, 'releases', name, 'files');

export function newestRelease(dist: string): Release | null {
  const name = releaseNames(dist).at(-1);
  if (name === undefined) return null;
  const folder = path.join(dist, 'releases', name);
  const facts = JSON.parse(readFileSync(path.join(folder, 'release.json'), 'utf8')) as ReleaseFacts;
  return { ...facts, name, folder, dist };
}

/** Searches the newest releases of all campaigns, because a desk contains no campaign words, only code. */
export function findBuiltDesk(project: string, builtFrom: Sources): string | undefined {
  const codeIn = (sources: Sources) =>
    JSON.stringify(Object.entries(sources).filter(([name]) => !name.startsWith(CAMPAIGN)));
  const dist = path.join(project, 'dist');
  return [dist, ...globSync('campaigns/*', { cwd: dist }).map((name) => path.join(dist, name))]
    .flatMap((folder) => newestRelease(folder) ?? [])
    .filter((release) => codeIn(release.builtFrom) === codeIn(builtFrom))
    .map(({ folder }) => path.join(folder, 'desk'))
    .find((desk) => existsSync(desk));
}

const OWNER_MAY_WRITE = 0o200;

export const campaignFolderOf = ({ folder }: Pick<Release, 'folder'>): string =>
  path.join(folder, 'campaign');

/**
 * Keeps owners and modes, because root may build for another user, and not every user may read the article. But the owner may write
 * to all folders, because otherwise nobody could remove the release.
 */
export function copyCampaign(campaign: string, releaseFolder: string): void {
  const copy = campaignFolderOf({ folder: releaseFolder });
  copyFiles(campaign, copy);
  for (const name of ['', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    const original = statSync(path.join(campaign, name));
    const { mode, uid, gid } = original;
    chmodSync(path.join(copy, name), original.isDirectory() ? mode | OWNER_MAY_WRITE : mode);
    if (process.getuid?.() === 0) chownSync(path.join(copy, name), uid, gid);
  }
}

export type FoundRelease =
  | { readonly type: 'release'; readonly release: Release }
  /** Only the campaign has changed since the build, so the release still works with its own copy. */
  | { readonly type: 'outdated'; readonly release: Release; readonly mistake: string }
  | { readonly type: 'unusable'; readonly mistake: string };

/**
 * @param sitePath the path of PUBLIC_URL that the release must match; null for any
 * @returns the newest release, or a sentence that explains why it cannot be served
 */
export function findRelease(
  project: string,
  campaign = defaultCampaign(project),
  sitePath: string | null = null,
): FoundRelease {
  const release = newestRelease(distFolder(project, campaign));
  if (release === null) {
    return {
      type: 'unusable',
      mistake: 'The site has not been built yet. Run "npm run build" first, or use "npm start".',
    };
  }
  const changed = changedSources(project, release.builtFrom, readSources(project, campaign));
  const [first, ...others] = changed;
  const hasSameCode = changed.every((name) => name.startsWith(CAMPAIGN));
  if (hasSameCode && sitePath !== null && sitePath !== release.sitePath)
    return {
      type: 'unusable',
      mistake: `The site was built with ${describePath(release.sitePath)}, but PUBLIC_URL has ${describePath(sitePath)}. Run "npm run build" again.`,
    };
  if (first === undefined) return { type: 'release', release };
  const firstPath = pathFromProject(first, project, campaign);
  const files = others.length > 0 ? `${firstPath} and ${others.length} more` : firstPath;
  const mistake = `The built site is outdated, because ${files} changed after the build. Run "npm run build" again.`;
  return hasSameCode ? { type: 'outdated', release, mistake } : { type: 'unusable', mistake };
}

const describePath = (sitePath: string): string => (sitePath === '' ? 'no path' : `the path ${sitePath}`);

export function beginRelease(dist: string, now = Date.now()): string {
  const folder = path.join(dist, 'building', newName(now));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Publishes a finished build for the next start; running servers keep their release.
 * @returns the name of the release, or of the newest one if its files, owners and modes are identical
 */
export function publishRelease(dist: string, folder: string, now = Date.now()): string {
  const newest = releaseNames(dist).at(-1);
  if (newest !== undefined && haveSameFiles(folder, path.join(dist, 'releases', newest))) {
    rmSync(folder, { recursive: true });
    return newest;
  }
  // Flushes the files first; otherwise a power failure could leave a release with empty files.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    flushToDisk(path.join(folder, file));
  flushToDisk(folder);
  mkdirSync(path.join(dist, 'releases'), { recursive: true });
  // The newest release must sort last even if the clock was set back.
  const name = newName(Math.max(now, newest === undefined ? 0 : timeOf(newest) + 1));
  renameSync(folder, path.join(dist, 'releases', name));
  flushToDisk(path.join(dist, 'releases'));
  return name;
}

const haveSameFiles = (one: string, other: string): boolean => describeFiles(one) === describeFiles(other);

function describeFiles(folder: string): string {
  const permissions = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { mode, uid, gid } = statSync(path.join(folder, name));
      return [name, mode, uid, gid];
    });
  return JSON.stringify([digestFiles(folder, ['**/*'], []), permissions]);
}

export function removeOldReleases(dist: string, now = Date.now()): void {
  const releases = releaseNames(dist);
  for (const [index, name] of releases.entries()) {
    const successor = releases[index + 1];
    if (successor !== undefined && timeOf(successor) < now - GRACE_MS)
      rmSync(path.join(dist, 'releases', name), { recursive: true, force: true });
  }
  for (const name of namesIn(path.join(dist, 'building'))) {
    if (timeOf(name) < now - ABANDONED_AFTER_MS)
      rmSync(path.join(dist, 'building', name), { recursive: true, force: true });
  }
}
