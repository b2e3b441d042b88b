// The headers every answer carries.
import type { FastifyInstance } from 'fastify';

/** Hashes of the inline scripts and styles of the built pages, as the CSP writes them: `'sha256-…'`. */
export type InlineHashes = { readonly scripts: readonly string[]; readonly styles: readonly string[] };

const YEAR_SECONDS = 31_536_000;

/**
 * The Content-Security-Policy of our pages, line by line.
 * @param hashes of what the build put inline; nothing else inline runs
 */
export function contentSecurityPolicy(hashes: InlineHashes, secure: boolean): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${hashes.scripts.join(' ')}`.trimEnd(),
    `style-src 'self' ${hashes.styles.join(' ')}`.trimEnd(),
    "img-src 'self' data:",
    // The letters of the headline stand in the page (build/build.ts).
    "font-src 'self' data:",
    "media-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    ...(secure ? ['upgrade-insecure-requests'] : []),
  ].join('; ');
}

/** Adds the headers that do not depend on what is served. */
export function addSecurityHeaders(app: FastifyInstance, secure: boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    void reply
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'strict-origin-when-cross-origin')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('cross-origin-resource-policy', 'same-origin')
      .header(
        'permissions-policy',
        'camera=(), geolocation=(), microphone=(), payment=(), browsing-topics=()',
      );
    // Without includeSubDomains: we speak for this host, not for its neighbours, some of which may not speak https.
    if (secure) void reply.header('strict-transport-security', `max-age=${YEAR_SECONDS}`);
    // Answers without a page of their own (errors, JSON) may load nothing at all.
    if (!reply.hasHeader('content-security-policy')) {
      void reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    }
  });
}
