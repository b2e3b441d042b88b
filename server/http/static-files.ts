// Serves the built site from memory: until it ends, a server serves the release it started with, whatever a build does meanwhile.
// A request for the page or a file is answered before Fastify, which would do nothing for it: of the requests a second that plain
// node:http answers with the same bytes, the page had 0.26 within Fastify and has 0.83 here. What is unusual in any way (a refusal, an
// unknown address, another release's file) goes on to Fastify, and comes back to the same function from there.
import { randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import '@fastify/under-pressure';
import mime from 'mime';

import { isPage, type Answered } from '#server/http/answered-requests.ts';
import type { SendError } from '#server/http/errors.ts';
import { namesItsHost } from '#server/http/host.ts';
import { filesFolder, releaseNames, variantPage, type Release } from '#server/http/releases.ts';
import { contentSecurityPolicy, securityHeaders, type HeaderList } from '#server/http/security-headers.ts';
import {
  answerFor,
  createResource,
  sendResource,
  textResource,
  type Resource,
} from '#server/http/send-resource.ts';
import type { Site as SiteWords } from '#shared/campaign-schema.ts';
import { variantAskedFor } from '#shared/variants.ts';

/** Stands in the built pages for PUBLIC_URL, which may name another host than at the build. */
const ADDRESS_PLACEHOLDER = '__PUBLIC_URL__';

/** Files by their names, which are paths without the first slash. */
type Files = ReadonlyMap<string, Resource>;

/** Endings of the compressed copies that the build puts beside a file. */
const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const isHashed = (name: string): boolean => name.startsWith('assets/');

/**
 * Reads the files of a folder of a release.
 * @param always headers of every answer
 * @param otherwise Cache-Control of files whose names have no hash
 * @param wanted selects the names to read
 */
export function readFiles(
  folder: string,
  { always, otherwise = 'public, max-age=3600' }: { always: HeaderList; otherwise?: string },
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
        const compressed = COMPRESSED.filter(([, end]) => names.has(name + end)).map(
          ([encoding, end]) => [encoding, read(name + end)] as const,
        );
        const file = createResource({
          type: contentType(name),
          cacheControl: isHashed(name) ? 'public, max-age=31536000, immutable' : otherwise,
          always,
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
  /** The address of a page or file as metrics name it, without its query; null when there is none. */
  readonly routeOf: (url: string) => string | null;
  /** Answers a request that no route takes: with a page or file, 405, or the 404 page. */
  readonly answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
};

export type SiteParts = {
  readonly release: Release;
  /** Whether search engines may list the page, and which visit counter it asks. */
  readonly words: Pick<SiteWords, 'noindex' | 'analytics'>;
  /** Names of the pages that are compared, the campaign's own first; none: there is one page. */
  readonly variants: readonly string[];
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Filled into the pages. */
  readonly publicUrl: string;
  /** Its path; only what is under it is answered here. */
  readonly basePath: string;
  /** Whether visitors come over https. */
  readonly secure: boolean;
  readonly sendError: SendError;
  /** Whether a request for the page is redirected (host.ts). */
  readonly hasOtherName: (request: IncomingMessage) => boolean;
  /** A longer address is left to Fastify. */
  readonly urlMaxLength: number;
  /** Headers of one answer with this request id. */
  readonly ownHeaders: (requestId: string) => HeaderList;
  /** Called for each request that is answered before Fastify. */
  readonly onRequest: (headers: IncomingHttpHeaders) => void;
  /** Called once the answer was sent. */
  readonly onAnswered: (answered: Answered) => void;
  /** Called once the page was handed to the connection: a visitor who leaves before its end counts, too. */
  readonly onPageSeen: (request: IncomingMessage) => void;
};

/** Serves a release of the site. Call it before anything else listens to the server's requests. */
export function serveSite(app: FastifyInstance, parts: SiteParts): Site {
  const { release, basePath, hasOtherName, urlMaxLength, sendError, ownHeaders } = parts;
  const { onRequest, onAnswered, onPageSeen } = parts;
  const root = `${basePath}/`;
  const { files, notFound, choosePage, always } = readSite(parts);
  const findOther = createOthers(release, files, { always });
  const find = (name: string, request: Pick<IncomingMessage, 'url' | 'headers'>): Resource | undefined =>
    choosePage !== null && name === '' ? choosePage(request) : files.get(name);

  app.server.removeAllListeners('request');
  app.server.on('request', (request, response) => {
    if (!answerNow(request, response)) app.routing(request, response);
  });

  /** @returns whether it was answered; if not, nothing was done */
  function answerNow(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    if ((method !== 'GET' && method !== 'HEAD') || url.length > urlMaxLength || app.isUnderPressure())
      return false;
    const query = url.indexOf('?');
    const address = query === -1 ? url : url.slice(0, query);
    if (!address.startsWith(root)) return false;
    const name = address.slice(root.length);
    const resource = find(name, request);
    if (resource === undefined || !namesItsHost(request) || (name === '' && hasOtherName(request)))
      return false;
    const found = answerFor(request, resource);
    if (found.type === 'refusal') return false;
    const { status, headers, body } = found;
    const route = `/${name}`;
    const begun = performance.now();
    onRequest(request.headers);
    response
      .writeHead(status, [...headers, ...ownHeaders(randomUUID())])
      .end(method === 'GET' ? body : undefined);
    const noteAnswered = () => onAnswered({ method, route, status, ms: performance.now() - begun });
    // Nearly always: the system has taken the whole answer. To listen for that cost a twentieth of an answer's processor time.
    if (response.writableLength === 0) noteAnswered();
    else response.on('finish', noteAnswered);
    if (isPage({ method, route, status })) onPageSeen(request);
    return true;
  }

  return {
    routeOf: (url) => {
      const name = nameIn(url);
      return name !== null && files.has(name) ? `/${name}` : null;
    },
    answer: (request, reply) => {
      const name = nameIn(request.url);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (name !== null && !isRead && files.has(name))
        return sendError(reply.header('allow', 'GET, HEAD'), 'method-not-allowed');
      const file =
        name !== null && isRead ? (find(name, request) ?? findOther(name, request.log)) : undefined;
      return file
        ? sendResource(request, reply, file, sendError)
        : sendResource(request, reply.code(404).header('x-robots-tag', 'noindex'), notFound, sendError);
    },
  };
}

const HTML = 'text/html; charset=utf-8';

/** Reads pages and files of a release. */
function readSite({ release, words, variants, random, publicUrl, secure }: SiteParts) {
  const pagesFolder = path.join(release.folder, 'pages');
  // Pictures and scripts too: a search engine lists them beside pages.
  const unlisted = words.noindex ? ['x-robots-tag', 'noindex'] : [];
  const always = [...securityHeaders(secure), ...unlisted];
  const counter = words.analytics && new URL(words.analytics.script).origin;
  // The 404 page asks no counter.
  const headersOf = (name: string): string[] => [
    ...securityHeaders(
      secure,
      contentSecurityPolicy(release.inlineHashes, secure, name === '404.html' ? undefined : counter),
    ),
    ...unlisted,
  ];
  const page = (name: string, type: string, variant?: string): Resource =>
    textResource(
      readFileSync(path.join(pagesFolder, name), 'utf8').replaceAll(ADDRESS_PLACEHOLDER, publicUrl),
      {
        type,
        // Always revalidated: a new build shows at once, an unchanged one costs a 304.
        cacheControl: variant === undefined ? 'no-cache' : VARIANT_CACHE_CONTROL,
        mark: variant === undefined ? '' : `${variant}.`,
        always: type === HTML ? headersOf(name) : always,
      },
    );

  const [ownPage, ...others] = variants;
  const home = page('index.html', HTML, ownPage);
  const pages = others.map((name) => [name, page(variantPage(name), HTML, name)] as const);
  const files: Files = new Map([
    ...readFiles(filesFolder(release.dist, release.name), { always }),
    ['', home],
    ['robots.txt', page('robots.txt', 'text/plain; charset=utf-8')],
    // There is none of a page that search engines are not to list.
    ...(existsSync(path.join(pagesFolder, 'sitemap.xml'))
      ? ([['sitemap.xml', page('sitemap.xml', 'application/xml; charset=utf-8')]] as const)
      : []),
    ['site.webmanifest', page('site.webmanifest', 'application/manifest+json')],
  ]);
  return {
    files,
    notFound: page('404.html', HTML),
    choosePage: ownPage === undefined ? null : createChoosePage(new Map([[ownPage, home], ...pages]), random),
    always,
  };
}

/** For one browser alone: a cache that is shared would give everyone behind it the same variant. Always revalidated. */
const VARIANT_CACHE_CONTROL = 'private, no-cache';

/**
 * Makes the function that chooses a variant of the page for a request. It is drawn at random, and kept without a cookie: a browser
 * that has the page says so with its entity tag, which begins with the name of the variant, also after another build. An address that was
 * not opened before has no tag; there the page itself asks for the variant it knows (web/keep-variant.ts).
 * @param pages by the names of their variants, two or more
 * @param random from 0 up to 1
 */
function createChoosePage(
  pages: ReadonlyMap<string, Resource>,
  random: () => number,
): (request: Pick<IncomingMessage, 'url' | 'headers'>) => Resource {
  const all = [...pages.values()];
  return ({ url = '', headers }) => {
    const asked = pages.get(variantAskedFor(url) ?? '');
    if (asked !== undefined) return asked;
    // Such as W/"b.Kx7…": the copy that this browser would like to use again.
    for (const [, name = ''] of (headers['if-none-match'] ?? '').slice(0, 500).matchAll(/"([a-z0-9-]+)\./g)) {
      const kept = pages.get(name);
      if (kept !== undefined) return kept;
    }
    return all[Math.floor(random() * all.length)]!;
  };
}

/** The name of the file that a URL asks for; null when it cannot be one. */
function nameIn(url: string): string | null {
  // A proxy's client names the host as well.
  const [address = ''] = url.replace(/^https?:\/\/[^/?]+/, '').split('?', 1);
  if (!address.startsWith('/')) return null;
  try {
    return decodeURIComponent(address).slice(1);
  } catch {
    return null;
  }
}
