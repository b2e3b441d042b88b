// Serves the files and pages of a release (one build in dist/) from memory, with PUBLIC_URL filled into the pages.
import { existsSync, globSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';

import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import mime from 'mime';

import type { SendError } from '#server/http/errors.ts';
import { filesFolder, releaseNames, variantPage, type Release } from '#server/http/releases.ts';
import {
  contentSecurityPolicy,
  securityHeaders,
  type ResponseHeaders,
} from '#server/http/security-headers.ts';
import { createResource, sendResource, textResource, type Resource } from '#server/http/send-resource.ts';
import { createChooseVariant, VARIANT_CACHE_CONTROL } from '#server/http/variant-choice.ts';
import type { Site } from '#shared/campaign-schema.ts';
import { orNull } from '#shared/or-null.ts';

export type SiteHandler = {
  /** Names the file in the request log and metrics. */
  readonly routeOf: (url: string) => string | null;
  readonly respond: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
};

export type SiteParts = {
  readonly release: Release;
  readonly words: Pick<Site, 'noindex' | 'analytics'>;
  /** None, or at least two. */
  readonly variants: readonly string[];
  readonly publicUrl: string;
  readonly secure: boolean;
  readonly sendError: SendError;
};

export function createSiteHandler(parts: SiteParts): SiteHandler {
  const { release, sendError } = parts;
  const { files, notFound, chooseVariant, headers } = readSite(parts);
  const findInOtherReleases = createOtherReleasesFinder(release, files, { headers });
  const find = (name: string, request: Pick<IncomingMessage, 'url' | 'headers'>): Resource | undefined =>
    chooseVariant !== null && name === HOME ? chooseVariant(request) : files.get(name);

  return {
    routeOf: (url) => {
      const name = fileNameIn(url);
      return name !== null && files.has(name) ? `/${name}` : null;
    },
    respond: (request, reply) => {
      const name = fileNameIn(request.url);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (name !== null && !isRead && files.has(name))
        return sendError(reply.header('allow', 'GET, HEAD'), 'method-not-allowed');
      const file =
        name !== null && isRead ? (find(name, request) ?? findInOtherReleases(name, request.log)) : undefined;
      return file
        ? sendResource(request, reply, file, sendError)
        : sendResource(request, reply.code(404).header('x-robots-tag', 'noindex'), notFound, sendError);
    },
  };
}

type Files = ReadonlyMap<string, Resource>;

/** The home page's name in Files. */
const HOME = '';

function fileNameIn(url: string): string | null {
  const [pathname = ''] = url.split('?', 1);
  if (!pathname.startsWith('/')) return null;
  return orNull(() => decodeURIComponent(pathname).slice(1));
}

/** Stands for PUBLIC_URL in built pages, because its host may change after the build. */
const PUBLIC_URL_PLACEHOLDER = '__PUBLIC_URL__';
const HTML = 'text/html; charset=utf-8';

function readSite({ release, words, variants, publicUrl, secure }: SiteParts) {
  const pagesFolder = path.join(release.folder, 'pages');
  const robotsHeader = words.noindex && { 'x-robots-tag': 'noindex' };
  const headers = { ...securityHeaders(secure), ...robotsHeader };
  const analyticsOrigin = words.analytics && new URL(words.analytics.script).origin;
  // The 404 page loads no analytics.
  const headersOf = (name: string): ResponseHeaders => ({
    ...securityHeaders(
      secure,
      contentSecurityPolicy(release.inlineHashes, secure, name === '404.html' ? undefined : analyticsOrigin),
    ),
    ...robotsHeader,
  });
  const page = (name: string, type: string, variant?: string): Resource =>
    textResource(
      readFileSync(path.join(pagesFolder, name), 'utf8').replaceAll(PUBLIC_URL_PLACEHOLDER, publicUrl),
      {
        type,
        // With `no-cache`, a new build is visible immediately, and an unchanged page costs a 304.
        cacheControl: variant === undefined ? 'no-cache' : VARIANT_CACHE_CONTROL,
        // By the tag, createChooseVariant recognises the variant that a browser has cached.
        etagPrefix: variant === undefined ? '' : `${variant}.`,
        headers: type === HTML ? headersOf(name) : headers,
      },
    );

  const [firstVariant, ...otherVariants] = variants;
  const home = page('index.html', HTML, firstVariant);
  const otherPages = otherVariants.map((name) => [name, page(variantPage(name), HTML, name)] as const);
  const files: Files = new Map([
    ...readFiles(filesFolder(release.dist, release.name), { headers }),
    [HOME, home],
    ['robots.txt', page('robots.txt', 'text/plain; charset=utf-8')],
    // Missing with `noindex`.
    ...(existsSync(path.join(pagesFolder, 'sitemap.xml'))
      ? ([['sitemap.xml', page('sitemap.xml', 'application/xml; charset=utf-8')]] as const)
      : []),
    ['site.webmanifest', page('site.webmanifest', 'application/manifest+json')],
  ]);
  return {
    files,
    notFound: page('404.html', HTML),
    chooseVariant:
      firstVariant === undefined ? null : createChooseVariant(new Map([[firstVariant, home], ...otherPages])),
    headers,
  };
}

/**
 * Finds files from other releases, for a page loaded before a restart or from another process. A requested name never becomes
 * a path.
 */
function createOtherReleasesFinder({ dist, name: own }: Release, ownFiles: Files, options: FileOptions) {
  let namesRead = '';
  let others: Files = new Map();

  function refresh(): void {
    // Runs for each unknown name, and blocks: listing a small folder takes less time than passing the work to a thread.
    const releases = releaseNames(dist).filter((release) => release !== own);
    if (releases.join() === namesRead) return;
    const found = new Map<string, Resource>();
    const newestFirst = releases.toReversed();
    for (const release of newestFirst) {
      const isMissing = (file: string) => !ownFiles.has(file) && !found.has(file);
      for (const [file, resource] of readFiles(filesFolder(dist, release), options, isMissing))
        found.set(file, resource);
    }
    others = found;
    namesRead = releases.join();
  }

  return (name: string, log: FastifyBaseLogger): Resource | undefined => {
    try {
      if (!others.has(name)) refresh();
    } catch (error) {
      // A build may be deleting a release. This server's own files are in memory.
      log.warn({ err: error }, 'Other releases in dist/ could not be read.');
    }
    return others.get(name);
  };
}

const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Some programs show it from our server instead of a copy. */
const LINK_PREVIEW = 'media/og.png';
const FOR_OTHER_SITES = { 'cross-origin-resource-policy': 'cross-origin' };

type FileOptions = {
  readonly headers: ResponseHeaders;
  /** For files without a hash in their name. */
  readonly cacheControl?: string;
};

const isHashed = (name: string): boolean => name.startsWith('assets/');

export function readFiles(
  folder: string,
  { headers, cacheControl = 'public, max-age=3600' }: FileOptions,
  isWanted: (name: string) => boolean = () => true,
): Files {
  const all = globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'));
  const names = new Set(all);
  const isCompressed = (name: string) =>
    COMPRESSED.some(([, suffix]) => name.endsWith(suffix) && names.has(name.slice(0, -suffix.length)));
  const read = (name: string) => readFileSync(path.join(folder, name));
  return new Map(
    all
      .filter((name) => !isCompressed(name) && isWanted(name))
      .map((name) => {
        const compressed = COMPRESSED.filter(([, suffix]) => names.has(name + suffix)).map(
          ([encoding, suffix]) => [encoding, read(name + suffix)] as const,
        );
        const file = createResource({
          type: contentType(name),
          cacheControl: isHashed(name) ? 'public, max-age=31536000, immutable' : cacheControl,
          headers: name === LINK_PREVIEW ? { ...headers, ...FOR_OTHER_SITES } : headers,
          bodies: { identity: read(name), ...Object.fromEntries(compressed) },
        });
        return [name, file];
      }),
  );
}

function contentType(name: string): string {
  const type = mime.getType(name) ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
