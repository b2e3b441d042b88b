// The cookies of the desk: one ties a browser to the codes it asked for, one to the challenge of a passkey, one is the session. No other
// site's request carries them, and no script reads them.
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import { DESK_SESSION_MS } from '#server/settings/tries-and-rates.ts';

export type DeskCookies = {
  /** The token of the session; null without one. */
  readonly readSession: (request: FastifyRequest) => string | null;
  readonly setSession: (reply: FastifyReply, token: string) => void;
  readonly clearSession: (reply: FastifyReply) => void;
  /** The browser's id; null without one, or with one that we did not sign. */
  readonly readBrowserId: (request: FastifyRequest) => string | null;
  readonly setBrowserId: (reply: FastifyReply, browserId: string) => void;
  readonly clearBrowserId: (reply: FastifyReply) => void;
  /** The challenge of a passkey, signed (passkeys.ts). */
  readonly readChallenge: (request: FastifyRequest) => string | undefined;
  readonly setChallenge: (reply: FastifyReply, challenge: string) => void;
  readonly clearChallenge: (reply: FastifyReply) => void;
};

const PURPOSE = 'desk-sign-in:';

/** @param url origin of the desk. On plain http, which is on this machine, names carry the port: cookies do not keep ports apart */
export function createDeskCookies(secrets: Secrets, url: string): DeskCookies {
  const { protocol, port } = new URL(url);
  const secure = protocol === 'https:';
  const name = (plain: string) => (secure ? `__Host-${plain}` : `${plain}-${port}`);
  const session = name('desk');
  const browser = name('desk-sign-in');
  const challenge = name('desk-passkey');
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'strict', secure };
  return {
    readSession: ({ cookies }) => cookies[session] ?? null,
    setSession: (reply, token) =>
      void reply.setCookie(session, token, { ...attributes, maxAge: DESK_SESSION_MS / 1000 }),
    clearSession: (reply) => void reply.clearCookie(session, attributes),
    readBrowserId: ({ cookies }) => {
      const value = unsign(secrets, cookies[browser] ?? '');
      return value?.startsWith(PURPOSE) ? value.slice(PURPOSE.length) : null;
    },
    setBrowserId: (reply, browserId) =>
      void reply.setCookie(browser, sign(secrets, PURPOSE + browserId), attributes),
    clearBrowserId: (reply) => void reply.clearCookie(browser, attributes),
    readChallenge: ({ cookies }) => cookies[challenge],
    setChallenge: (reply, value) => void reply.setCookie(challenge, value, attributes),
    clearChallenge: (reply) => void reply.clearCookie(challenge, attributes),
  };
}
