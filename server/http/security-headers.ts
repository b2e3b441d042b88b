import { createHash } from 'node:crypto';

import type { FastifyInstance } from 'fastify';

export type ResponseHeaders = Readonly<Record<string, string>>;

export type InlineHashes = { readonly scripts: readonly string[]; readonly styles: readonly string[] };

export const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const YEAR_SECONDS = 31_536_000;

/**
 * @param hashes of the inline code that the build wrote; other inline code is blocked
 * @param counter origin of the operator's visit counter (`analytics` in site.yaml), the only other host the page may contact
 */
export function contentSecurityPolicy(hashes: InlineHashes, secure: boolean, counter?: string): string {
  const counterSource = counter === undefined ? [] : [counter];
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes.scripts, ...counterSource].join(' '),
    `style-src 'self' ${hashes.styles.join(' ')}`.trimEnd(),
    "img-src 'self' data:",
    "font-src 'self' data:",
    "media-src 'self'",
    ["connect-src 'self'", ...counterSource].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(secure ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
}

const ALLOW_NOTHING = "default-src 'none'; frame-ancestors 'none'";

export const securityHeaders = (secure: boolean, policy = ALLOW_NOTHING): ResponseHeaders => ({
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), browsing-topics=()',
  // Neighbouring hosts may not support https, so includeSubDomains is absent.
  ...(secure && { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }),
});

/** Adds each header unless the response has its own, such as a page's policy. */
export function addSecurityHeaders(app: FastifyInstance, secure: boolean): void {
  const headers = Object.entries(securityHeaders(secure));
  app.addHook('onSend', (_request, reply, _payload, done) => {
    for (const [name, value] of headers) if (!reply.hasHeader(name)) void reply.header(name, value);
    done();
  });
}
