import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { SESSION_LIFE_MS } from '#server/settings/fixed-limits.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Cookies = {
  readonly readBrowserId: (request: FastifyRequest) => string | null;
  readonly setBrowserId: (reply: FastifyReply, browserId: string) => void;
  readonly readSession: (request: FastifyRequest, now: number) => string | null;
  /** True if the session was opened by a link in a mail, which link scanners open too, and not by a code. */
  readonly wasOpenedByLink: (request: FastifyRequest) => boolean;
  /** Keeps the challenge cookie, because the browser may still be waiting for a code sent to another e-mail address. */
  readonly openSession: (reply: FastifyReply, leadId: string, now: number, by?: 'code' | 'link') => void;
};

/**
 * @param config secure: on https, cookies are Secure and have the prefix `__Host-`, so sibling domains cannot set them (RFC
 * 6265bis, section 4.1.3.2). Under a path the prefix is `__Secure-`, because `__Host-` requires the path `/`
 */
export function createCookies(
  secrets: Secrets,
  { secure, basePath }: Pick<Config, 'secure' | 'basePath'>,
): Cookies {
  const prefix = basePath === '' ? '__Host-' : '__Secure-';
  const name = (bareName: string) => (secure ? prefix + bareName : bareName);
  const challengeCookie = name('challenge');
  const sessionCookie = name('session');
  const attributes = { path: basePath || '/', httpOnly: true, sameSite: 'lax', secure } as const;

  const read = (request: FastifyRequest, cookie: string, purpose: string): string | null =>
    unsign(secrets, `${purpose}:`, request.cookies[cookie] ?? '');

  return {
    readBrowserId: (request) => read(request, challengeCookie, 'challenge'),
    setBrowserId: (reply, browserId) => {
      void reply.setCookie(challengeCookie, sign(secrets, `challenge:${browserId}`), attributes);
    },
    readSession: (request, now) => {
      const [leadId, openedAt] = read(request, sessionCookie, 'session')?.split(':') ?? [];
      if (leadId === undefined || openedAt === undefined) return null;
      // Math.abs limits the life of a session opened in the future, in case the clock was set back.
      return Math.abs(now - Number(openedAt)) < SESSION_LIFE_MS ? leadId : null;
    },
    wasOpenedByLink: (request) => read(request, sessionCookie, 'session')?.endsWith(':link') ?? false,
    openSession: (reply, leadId, now, by = 'code') => {
      const suffix = by === 'link' ? ':link' : '';
      void reply.setCookie(sessionCookie, sign(secrets, `session:${leadId}:${now}${suffix}`), attributes);
    },
  };
}
