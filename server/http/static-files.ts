// Serves the built site from memory: until it ends, a server serves the release it started with, whatever a build does meanwhile.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import mime from 'mime';
import { existsSync, globSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';

import type { SendError } from '#server/http/errors.ts';
import type { HeaderList } from '#server/http/header-list.ts';
import { createChoosePage, VARIANT_CACHE_CONTROL } from '#server/http/page-variants.ts';
import { filesFolder, releaseNames, variantPage, type Release } from '#server/http/releases.ts';
import type { Site as SiteWords } from '#shared/campaign-schema.ts';
import {
  contentSecurityPolicy,
  hashOf,
  securityHeaders,
  type InlineHashes,
} from '#server/http/security-headers.ts';
import { createResource, sendResource, textResource, type Resource } from '#server/http/send-resource.ts';
import type { SitePath } from '#server/http/site-path.ts';

/** Stands in the built pages for the address of the public page, which is known only at the start. */
const ADDRESS_PLACEHOLDER = '__PUBLIC_URL__';

/** Reads a built page and fills in its address. */
const readPage = (file: string, { publicUrl, sitePath }: { publicUrl: string; sitePath: SitePath }): string =>
  sitePath.inText(readFileSync(file, 'utf8')).replaceAll(ADDRESS_PLACEHOLDER, publicUrl);

/** What stands inline in pages whose addresses got a path. JSON for search engines never runs. */
function hashesIn(pages: readonly string[]): InlineHashes {
  const contents = (element: RegExp) => [
    ...new Set(pages.flatMap((page) => Array.from(page.matchAll(element), ([, text = '']) => hashOf(text)))),
  ];
  return {
    scripts: contents(/<script(?![^>]*ld\+json)[^>]*>(.*?)<\/script>/gs),
    styles: contents(/<style>(.*?)<\/style>/gs),
  };
}

/** Files by their names, which are paths without the first slash. */
type Files = ReadonlyMap<string, Resource>;

/** Endings of the compressed copies that the build puts beside a file. */
const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** Files that name others by their addresses. */
const NAMES_OTHERS = /\.(?:js|css)$/;

const isHashed = (name: string): boolean => name.startsWith('assets/');

/**
 * Reads the files of a folder of a release.
 * @param always headers of every answer
 * @param otherwise Cache-Control of files whose names have no hash
 * @param sitePath put before the addresses in scripts and style sheets, which are compressed anew when they are first asked for
 * @param wanted selects the names to read
 */
export function readFiles(
  folder: string,
  {
    always,
    sitePath,
    otherwise = 'public, max-age=3600',
  }: { always: HeaderList; sitePath: SitePath; otherwise?: string },
  wanted: (name: string) => boolean = () => true,
): Files {
  const all = globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'));
  const names = new Set(all);
  const isCompressed = (name: string) =>
    COMPRESSED.some(([, end]) => name.endsWith(end) && names.has(name.slice(0, -end.length)));
  const read = (name: string) => readFileSync(path.join(folder, name));
  return new Map(
    all
      .filter((name) => !isCompressed(name) && wanted(name))
      .map((name) => {
        const parts = {
          type: contentType(name),
          cacheControl: isHashed(name) ? 'public, max-age=31536000, immutable' : otherwise,
          always,
        };
        if (sitePath.path !== '' && NAMES_OTHERS.test(name))
          return [name, textResource(sitePath.inText(read(name).toString()), parts)];
        const compressed = COMPRESSED.filter(([, end]) => names.has(name + end)).map(
          ([encoding, end]) => [encoding, read(name + end)] as const,
        );
        const bodies = { identity: read(name), ...Object.fromEntries(compressed) };
        return [name, createResource({ ...parts, bodies })];
      }),
  );
}

function contentType(name: string): string {
  const type = mime.getType(name) ?? 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

/**
 * Finds files of the other releases in dist/, for a page that was loaded before a change, or from a process that already has another
 * release. It knows only names that it listed from the folders; a name in a request never becomes a path.
 */
function createOthers(
  { dist, name: own }: Release,
  ownFiles: Files,
  served: Parameters<typeof readFiles>[1],
) {
  let seen = '';
  let others: Files = new Map();

  function look(): void {
    // Synchronous: listing a folder of a few names takes less time than handing it to another thread.
    const releases = releaseNames(dist).filter((release) => release !== own);
    // Releases never change, so there is something new to read only when their list has changed.
    if (seen === releases.join()) return;
    const found = new Map<string, Resource>();
    for (const release of releases.toReversed()) {
      const wanted = (file: string) => !ownFiles.has(file) && !found.has(file);
      for (const [file, resource] of readFiles(filesFolder(dist, release), served, wanted))
        found.set(file, resource);
    }
    others = found;
    seen = releases.join();
  }

  return (name: string, log: FastifyBaseLogger): Resource | undefined => {
    try {
      if (!others.has(name)) look();
    } catch (error) {
      // A build may be removing one just now. This server answers in any case: its own files are in memory.
      log.warn({ err: error }, 'The other releases in dist/ could not be read.');
    }
    return others.get(name);
  };
}

export type Site = {
  /** The pages and files of the release, by their addresses. */
  readonly resources: ReadonlyMap<string, Resource>;
  /** The page for a request; null where there is one page for all. */
  readonly choosePage: ((request: IncomingMessage) => Resource) | null;
  /** Answers a request that no route takes: with a file of another release, 405, or the 404 page. */
  readonly answerUnknown: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
};

const HTML = 'text/html; charset=utf-8';
/** The router would read these as a pattern; such files are found by name. */
const PATTERN = /[:*?]/;

/**
 * Serves a release of the site.
 * @param words of the campaign: whether search engines may list the page, and which visit counter it asks
 * @param variants names of the pages that are compared, the campaign's own first; none: there is one page
 * @param publicUrl address, to be filled into its pages
 * @param secure whether visitors come over https
 */
export function serveSite(
  app: FastifyInstance,
  {
    release,
    words: { noindex, analytics },
    variants,
    random,
    publicUrl,
    sitePath,
    secure,
    sendError,
  }: {
    release: Release;
    words: Pick<SiteWords, 'noindex' | 'analytics'>;
    variants: readonly string[];
    /** From 0 up to 1. */
    random: () => number;
    publicUrl: string;
    sitePath: SitePath;
    secure: boolean;
    sendError: SendError;
  },
): Site {
  // Pictures and scripts too: a search engine lists them beside pages.
  const unlisted = noindex ? ['x-robots-tag', 'noindex'] : [];
  const always = [...securityHeaders(secure), ...unlisted];
  const read = (name: string): string =>
    readPage(path.join(release.folder, 'pages', name), { publicUrl, sitePath });
  const hashes =
    sitePath.path === ''
      ? release.inlineHashes
      : hashesIn(globSync('*.html', { cwd: path.join(release.folder, 'pages') }).map(read));
  const counter = analytics && new URL(analytics.script).origin;
  // The 404 page asks no counter.
  const headersOf = (name: string): string[] => [
    ...securityHeaders(
      secure,
      contentSecurityPolicy(hashes, secure, name === '404.html' ? undefined : counter),
    ),
    ...unlisted,
  ];
  const page = (name: string, type: string, variant?: string): Resource =>
    textResource(read(name), {
      type,
      // Always revalidated: a new build shows at once, an unchanged one costs a 304.
      cacheControl: variant === undefined ? 'no-cache' : VARIANT_CACHE_CONTROL,
      mark: variant === undefined ? '' : `${variant}.`,
      always: type === HTML ? headersOf(name) : always,
    });

  const notFound = page('404.html', HTML);
  const [ownPage, ...others] = variants;
  const home = page('index.html', HTML, ownPage);
  const pages = others.map((name) => [name, page(variantPage(name), HTML, name)] as const);
  const choosePage =
    ownPage === undefined ? null : createChoosePage(new Map([[ownPage, home], ...pages]), random);
  const files: Files = new Map([
    ...readFiles(filesFolder(release.dist, release.name), { always, sitePath }),
    ['', home],
    ['robots.txt', page('robots.txt', 'text/plain; charset=utf-8')],
    // There is none of a page that search engines are not to list.
    ...(existsSync(path.join(release.folder, 'pages', 'sitemap.xml'))
      ? ([['sitemap.xml', page('sitemap.xml', 'application/xml; charset=utf-8')]] as const)
      : []),
    ['site.webmanifest', page('site.webmanifest', 'application/manifest+json')],
  ]);
  // What got the path is compressed here, for half a second, and not while the first visitor waits for it.
  if (sitePath.path !== '')
    for (const resource of [...files.values(), ...pages.map(([, variant]) => variant)])
      for (const encoding of ['br', 'gzip']) resource.representationFor(encoding);
  for (const [name, file] of files) {
    if (PATTERN.test(name)) continue;
    // Not Fastify's own HEAD, which gives a 304 the length 0.
    app.route({
      method: ['GET', 'HEAD'],
      url: `/${name}`,
      handler: (request, reply) =>
        sendResource(request, reply, name === '' ? (choosePage?.(request) ?? file) : file, sendError),
    });
  }

  const findOther = createOthers(release, files, { always, sitePath });
  return {
    resources: new Map(Array.from(files, ([name, file]) => [`/${name}`, file])),
    choosePage,
    answerUnknown: (request, reply) => {
      const name = nameIn(request.url);
      if (name === null) return sendNotFound(request, reply);
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return files.has(name)
          ? sendError(reply.header('allow', 'GET, HEAD'), 'method-not-allowed')
          : sendNotFound(request, reply);
      }
      const file = files.get(name) ?? findOther(name, request.log);
      return file ? sendResource(request, reply, file, sendError) : sendNotFound(request, reply);
    },
  };

  function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return sendResource(request, reply.code(404).header('x-robots-tag', 'noindex'), notFound, sendError);
  }
}

/** The name of the file that a URL asks for; null when it cannot be one. */
function nameIn(url: string): string | null {
  const [address = ''] = url.split('?', 1);
  if (!address.startsWith('/')) return null;
  try {
    return decodeURIComponent(address).slice(1);
  } catch {
    return null;
  }
}
