// Sets and reads the two cookies: one ties a browser to the codes it asked for, one opens the article. Both are signed, HttpOnly, and
// end with the browser's session.
import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { SESSION_LIFE_MS } from '#server/settings/fixed-limits.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Cookies = {
  /** The browser's id from its challenge cookie; null without one, or with one we did not sign. */
  readonly readBrowserId: (request: FastifyRequest) => string | null;
  /** Sets the challenge cookie. */
  readonly setBrowserId: (reply: FastifyReply, browserId: string) => void;
  /** The lead whose session this is; null without one. */
  readonly readSession: (request: FastifyRequest, now: number) => string | null;
  /** Whether this session was opened by a link in a mail alone, as a program that checks links does, too. */
  readonly cameByLink: (request: FastifyRequest) => boolean;
  /** Opens a session. The challenge cookie stays: the browser may still wait for a code of another address. */
  readonly openSession: (reply: FastifyReply, leadId: string, now: number, way?: 'code' | 'link') => void;
};

/**
 * @param config secure: whether the public page is https. The cookies become Secure and carry the `__Host-` prefix, which
 *   keeps other sites under the same domain from planting one (RFC 6265bis, section 4.1.3.2). That prefix needs the path `/`, so under
 *   a path they carry `__Secure-`: they stay with their page, and two pages of one host do not take each other's
 */
export function createCookies(
  secrets: Secrets,
  { secure, basePath }: Pick<Config, 'secure' | 'basePath'>,
): Cookies {
  const prefix = basePath === '' ? '__Host-' : '__Secure-';
  const name = (plain: string) => (secure ? prefix + plain : plain);
  const challengeCookie = name('challenge');
  const sessionCookie = name('session');
  const attributes = { path: basePath || '/', httpOnly: true, sameSite: 'lax', secure } as const;

  // The purpose is part of what is signed, so that one kind of cookie never passes for the other.
  const read = (request: FastifyRequest, cookie: string, purpose: string): string | null => {
    const value = unsign(secrets, request.cookies[cookie] ?? '');
    return value?.startsWith(`${purpose}:`) ? value.slice(purpose.length + 1) : null;
  };

  return {
    readBrowserId: (request) => read(request, challengeCookie, 'challenge'),
    setBrowserId: (reply, browserId) => {
      void reply.setCookie(challengeCookie, sign(secrets, `challenge:${browserId}`), attributes);
    },
    readSession: (request, now) => {
      const [leadId, openedAt] = read(request, sessionCookie, 'session')?.split(':') ?? [];
      if (leadId === undefined || openedAt === undefined) return null;
      // Opened in the future: the clock was set back. That must not sign the visitor out, nor prolong the session for ever.
      return Math.abs(now - Number(openedAt)) < SESSION_LIFE_MS ? leadId : null;
    },
    cameByLink: (request) => read(request, sessionCookie, 'session')?.endsWith(':link') ?? false,
    openSession: (reply, leadId, now, way = 'code') => {
      const end = way === 'link' ? ':link' : '';
      void reply.setCookie(sessionCookie, sign(secrets, `session:${leadId}:${now}${end}`), attributes);
    },
  };
}
