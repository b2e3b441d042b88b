// Owns dist/: publishes, finds and removes releases of the built site. Knows nothing of HTTP. The project's own campaign is built into
// dist/ itself, any other into dist/campaigns/NAME/, so that no site replaces another one's.
//   building/NAME/   a build under way, or one that was killed
//   releases/NAME/   a release: complete, because one rename brings it here, and never changed afterwards
//     release.json   what it was built from, and what the Content-Security-Policy allows inline
//     pages/         the prerendered pages, in which the server fills in PUBLIC_URL
//     files/         what is served as it is, hashed names under assets/, each compressible file with its .br and .gz
//     desk/          the desk in a browser, for an address of its own: index.html, and its files under assets/ as above
// A name is the time of the build, so the last one in order is the one to serve.
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';

import type { InlineHashes } from '#server/http/security-headers.ts';
import { DAY_MS, HOUR_MS } from '#server/platform/time.ts';

/** The file of pages/ with the page of a variant; the campaign's own is index.html. */
export const variantPage = (variant: string): string => `variant-${variant}.html`;

/** The digest of each source by its path in the project. The campaign counts as campaign/, wherever it is. */
export type Sources = Readonly<Record<string, string>>;
/** What release.json holds. */
export type ReleaseFacts = {
  readonly builtFrom: Sources;
  /** The path of PUBLIC_URL that every address in it begins with; empty at the root of a host. */
  readonly sitePath: string;
  readonly inlineHashes: InlineHashes;
};
export type Release = ReleaseFacts & {
  readonly name: string;
  readonly folder: string;
  /** The dist/ it stands in. */
  readonly dist: string;
};

/** For this long, a page that was loaded before its release was replaced still finds its files. */
const GRACE_MS = DAY_MS;
/** A build takes seconds; an older one was killed. */
const ABANDONED_MS = HOUR_MS;

/** The files that a built site is made from. Tests, e-mails and the article do not show in it. */
const SOURCES = [
  'web/**/*',
  'desk/{endpoints,web}/**/*',
  'shared/**/*.ts',
  'build/{build,browsers,headline-font,vite-*}.ts',
  'server/campaign/{campaign,campaign-folder,icon-set,media-files,own-form,variants,words-and-files,words-file,yaml-mistakes}.ts',
  'server/http/releases.ts',
  'package-lock.json',
  'tsconfig.base.json',
];
const NOT_SOURCES = ['**/*.test.ts', 'desk/web/tsconfig.json'];
const NOT_IN_THE_PAGE = ['{article,emails}/**', 'free-mail-domains.txt'];

const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('base64url');

function digests(folder: string, wanted: readonly string[], unwanted: readonly string[]): Sources {
  const files = globSync(wanted, { cwd: folder, exclude: unwanted, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => path.join(file.parentPath, file.name));
  return Object.fromEntries(
    paths
      .toSorted()
      .map((file) => [path.relative(folder, file).replaceAll(path.sep, '/'), digest(file)] as const),
  );
}

const CAMPAIGN = 'campaign/';
const ownCampaign = (project: string): string => path.join(project, 'campaign');

/** Reads the digests of the files that a site would be built from now. */
export function readSources(project: string, campaign: string): Sources {
  const words = Object.entries(digests(campaign, ['**/*'], NOT_IN_THE_PAGE));
  return {
    ...Object.fromEntries(words.map(([name, value]) => [CAMPAIGN + name, value])),
    ...digests(project, SOURCES, NOT_SOURCES),
  };
}

/** Which sources differ; those of a room that is not installed at all are not missed. */
function changedSources(project: string, before: Sources, now: Sources): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (name) =>
      before[name] !== now[name] &&
      (name.startsWith(CAMPAIGN) || existsSync(path.join(project, name.split('/', 1)[0] ?? ''))),
  );
}

/** A source as the operator knows it. */
function placeOf(source: string, project: string, campaign: string): string {
  if (!source.startsWith(CAMPAIGN)) return source;
  return path.relative(project, path.join(campaign, source.slice(CAMPAIGN.length))).replaceAll(path.sep, '/');
}

/**
 * Where the releases of a campaign stand.
 * @param project whose code it is built with
 * @param campaign the campaign folder, in full
 */
export function distFolder(project: string, campaign: string): string {
  const dist = path.join(project, 'dist');
  if (campaign === ownCampaign(project)) return dist;
  const id = createHash('sha256').update(campaign).digest('hex').slice(0, 8);
  return path.join(dist, 'campaigns', `${path.basename(campaign)}-${id}`);
}

const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)-[0-9a-f]{8}$/;

const newName = (time: number): string =>
  `${new Date(time).toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}`;

/** When a release or a build of this name began to exist, in milliseconds since 1970. */
const timeOf = (name: string): number => Date.parse(name.replace(NAME, '$1T$2:$3:$4'));

/** What stands in releases/ or building/, oldest first. */
function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .toSorted();
}

/** The names of the releases that are there, oldest first. */
export const releaseNames = (dist: string): string[] => namesIn(path.join(dist, 'releases'));

/** Where the files of a release lie that are served as they are. */
export const filesFolder = (dist: string, name: string): string => path.join(dist, 'releases', name, 'files');

/** The release that the next start serves; null if nothing is built. */
export function newestRelease(dist: string): Release | null {
  const name = releaseNames(dist).at(-1);
  if (name === undefined) return null;
  const folder = path.join(dist, 'releases', name);
  const facts = JSON.parse(readFileSync(path.join(folder, 'release.json'), 'utf8')) as ReleaseFacts;
  return { ...facts, name, folder, dist };
}

/**
 * Finds a built desk of the same code, in the releases of any campaign: the desk contains no words of a campaign.
 * @returns its folder
 */
export function findBuiltDesk(project: string, builtFrom: Sources): string | undefined {
  const codeOf = (sources: Sources) =>
    JSON.stringify(Object.entries(sources).filter(([name]) => !name.startsWith(CAMPAIGN)));
  const dist = path.join(project, 'dist');
  return [dist, ...globSync('campaigns/*', { cwd: dist }).map((name) => path.join(dist, name))]
    .flatMap((folder) => newestRelease(folder) ?? [])
    .filter((release) => codeOf(release.builtFrom) === codeOf(builtFrom))
    .map(({ folder }) => path.join(folder, 'desk'))
    .find((desk) => existsSync(desk));
}

export type FoundRelease =
  | { readonly type: 'release'; readonly release: Release }
  | { readonly type: 'complaint'; readonly complaint: string };

/**
 * Finds the release to serve.
 * @param project whose dist/ it is, and whose sources it has to fit
 * @param campaign whose words it has to fit: the campaign folder, in full
 * @param sitePath the path of PUBLIC_URL that it has to fit; null: any
 * @returns the newest one, or one sentence about why it cannot be served
 */
export function findRelease(
  project: string,
  campaign = ownCampaign(project),
  sitePath: string | null = null,
): FoundRelease {
  const release = newestRelease(distFolder(project, campaign));
  if (release === null) {
    return {
      type: 'complaint',
      complaint: 'The site is not built yet. Run "npm start", or "npm run build" first.',
    };
  }
  const [first, ...others] = changedSources(project, release.builtFrom, readSources(project, campaign));
  if (first === undefined && sitePath !== null && sitePath !== release.sitePath)
    return {
      type: 'complaint',
      complaint: `The site was built for ${sayPath(release.sitePath)}, but PUBLIC_URL has ${sayPath(sitePath)}. Run "npm run build".`,
    };
  if (first === undefined) return { type: 'release', release };
  const place = placeOf(first, project, campaign);
  const what = others.length > 0 ? `${place} and ${others.length} more` : place;
  return {
    type: 'complaint',
    complaint: `The built site does not fit ${what}, changed since the build. Run "npm run build".`,
  };
}

const sayPath = (sitePath: string): string => (sitePath === '' ? 'no path' : `the path ${sitePath}`);

/** Makes the folder in which a release is built; no server reads it. */
export function beginRelease(dist: string, now = Date.now()): string {
  const folder = path.join(dist, 'building', newName(now));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Makes a finished build the one that the next start serves. Servers that run are not touched: they hold what they serve.
 * @param folder from beginRelease
 * @returns the name of the release: that of the newest one if this one is the same to the byte
 */
export function publishRelease(dist: string, folder: string, now = Date.now()): string {
  const newest = releaseNames(dist).at(-1);
  if (newest !== undefined && isSame(folder, path.join(dist, 'releases', newest))) {
    rmSync(folder, { recursive: true });
    return newest;
  }
  // If the power fails after the rename, the contents are on the disk and not only the names.
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    flush(path.join(folder, file));
  flush(folder);
  mkdirSync(path.join(dist, 'releases'), { recursive: true });
  // Whatever a clock does, the newest release is the last in order.
  const name = newName(Math.max(now, newest === undefined ? 0 : timeOf(newest) + 1));
  renameSync(folder, path.join(dist, 'releases', name));
  flush(path.join(dist, 'releases'));
  return name;
}

function isSame(one: string, other: string): boolean {
  return JSON.stringify(digests(one, ['**/*'], [])) === JSON.stringify(digests(other, ['**/*'], []));
}

function flush(fileOrFolder: string): void {
  const handle = openSync(fileOrFolder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

/** Removes releases that were replaced more than a day ago, and builds that were killed. */
export function removeOldReleases(dist: string, now = Date.now()): void {
  const releases = releaseNames(dist);
  for (const [index, name] of releases.entries()) {
    const successor = releases[index + 1];
    if (successor !== undefined && timeOf(successor) < now - GRACE_MS)
      rmSync(path.join(dist, 'releases', name), { recursive: true, force: true });
  }
  for (const name of namesIn(path.join(dist, 'building'))) {
    if (timeOf(name) < now - ABANDONED_MS)
      rmSync(path.join(dist, 'building', name), { recursive: true, force: true });
  }
}
