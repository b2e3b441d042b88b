// The headers that every answer carries.
import { createHash } from 'node:crypto';

import type { FastifyInstance, FastifyReply } from 'fastify';

/** Names and values, alternating, as Node's `writeHead` takes them: headers that never change are put together once. */
export type HeaderList = readonly string[];

/** Adds headers to a reply; they replace headers of the same names. */
export function addHeaders(reply: FastifyReply, headers: HeaderList): FastifyReply {
  for (let at = 0; at + 1 < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1]);
  return reply;
}

/** Hashes of the inline scripts and styles of the built pages, as the CSP writes them: `'sha256-…'`. */
export type InlineHashes = { readonly scripts: readonly string[]; readonly styles: readonly string[] };

/** An inline script or style, as the policy names it. */
export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const YEAR_SECONDS = 31_536_000;

/**
 * The Content-Security-Policy of our pages, line by line.
 * @param hashes of what the build put inline; nothing else inline runs
 * @param counter the origin of the operator's visit counter (`analytics` in site.yaml), the one other host that the page may ask
 */
export function contentSecurityPolicy(hashes: InlineHashes, secure: boolean, counter?: string): string {
  const also = counter === undefined ? [] : [counter];
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes.scripts, ...also].join(' '),
    `style-src 'self' ${hashes.styles.join(' ')}`.trimEnd(),
    "img-src 'self' data:",
    // The letters of the headline stand in the page (build/build.ts).
    "font-src 'self' data:",
    "media-src 'self'",
    ["connect-src 'self'", ...also].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(secure ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
}

/** For answers that are no page (errors, JSON): they may load nothing. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/**
 * The headers that every answer carries.
 * @param secure whether visitors come over https
 * @param policy the Content-Security-Policy of a page
 */
export const securityHeaders = (secure: boolean, policy = NOTHING): HeaderList =>
  Object.entries({
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), browsing-topics=()',
    // Without includeSubDomains: we speak for this host, not for its neighbours, some of which may not speak https.
    ...(secure && { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }),
  }).flat();

/** Adds them to each answer of Fastify. What an answer has set itself stays, such as the policy of a page. */
export function addSecurityHeaders(app: FastifyInstance, secure: boolean): void {
  const headers = securityHeaders(secure);
  app.addHook('onSend', (_request, reply, _payload, done) => {
    for (let at = 0; at + 1 < headers.length; at += 2)
      if (!reply.hasHeader(headers[at]!)) void reply.header(headers[at]!, headers[at + 1]);
    done();
  });
}
