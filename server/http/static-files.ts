// The built site: pages from memory, everything else from dist/assets as the build left it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { contentSecurityPolicy, type InlineHashes } from '#server/http/security-headers.ts';

type Page = {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
};

/** The places in the built pages where the origin of the public page belongs. It is not known before the start. */
const ORIGIN_PLACEHOLDER = '__PUBLIC_URL__';

/** Reads a built page, fills in the origin and compresses it once. */
function readPage(file: string, type: string, publicUrl: string): Page {
  const plain = Buffer.from(readFileSync(file, 'utf8').replaceAll(ORIGIN_PLACEHOLDER, publicUrl));
  return {
    type,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    br: brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    gzip: gzipSync(plain, { level: 9 }),
  };
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  // Always revalidated: a new build shows at once, an unchanged one costs a 304.
  void reply.header('cache-control', 'no-cache').header('vary', 'accept-encoding').header('etag', page.etag);
  if (reply.statusCode === 200 && request.headers['if-none-match']?.includes(page.etag))
    return reply.code(304).send();
  const accepted = request.headers['accept-encoding'] ?? '';
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
  if (encoding) void reply.header('content-encoding', encoding);
  return reply.type(page.type).send(page[encoding ?? 'plain']);
}

export type Pages = { readonly sendNotFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply };

const HTML = 'text/html; charset=utf-8';
const HASHED_FILES = '/assets/';

/**
 * Serves the site that `npm run build` wrote.
 * @param folder dist
 * @returns how to answer an unknown path
 */
export function serveSite(
  app: FastifyInstance,
  { folder, publicUrl, secure }: { folder: string; publicUrl: string; secure: boolean },
): Pages {
  const hashes = JSON.parse(readFileSync(path.join(folder, 'inline-hashes.json'), 'utf8')) as InlineHashes;
  const policy = contentSecurityPolicy(hashes, secure);
  const page = (name: string, type: string) => readPage(path.join(folder, 'pages', name), type, publicUrl);

  const home = page('index.html', HTML);
  const notFound = page('404.html', HTML);
  app.get('/', (request, reply) => sendPage(request, reply.header('content-security-policy', policy), home));
  for (const [name, type] of [
    ['robots.txt', 'text/plain; charset=utf-8'],
    ['sitemap.xml', 'application/xml; charset=utf-8'],
    ['site.webmanifest', 'application/manifest+json'],
  ] as const) {
    const file = page(name, type);
    app.get(`/${name}`, (request, reply) => sendPage(request, reply, file));
  }

  void app.register(fastifyStatic, {
    root: path.resolve(folder, 'files'),
    prefix: '/',
    preCompressed: true,
    index: false,
    // Routes for the files that exist now and no others: an unknown path never reaches the disk.
    wildcard: false,
    cacheControl: false,
    setHeaders: (reply, file) => {
      const hashed = file.includes(HASHED_FILES);
      void reply.header(
        'cache-control',
        hashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      );
    },
  });

  return {
    sendNotFound: (request, reply) =>
      sendPage(
        request,
        reply.code(404).header('content-security-policy', policy).header('x-robots-tag', 'noindex'),
        notFound,
      ),
  };
}
