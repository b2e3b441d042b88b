// Stores session token, browser ID and passkey challenge in cookies. Ports share cookies, so on plain http the page stores them in
// sessionStorage and sends them in headers.
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { COOKIE_HEADERS } from '#desk/endpoints/auth.ts';
import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import { DESK_SESSION_MS } from '#desk/server/auth/limits.ts';

type DeskCookie = {
  /** Null if missing; for the browser ID, also if not signed by us. */
  readonly read: (request: FastifyRequest) => string | null;
  readonly set: (reply: FastifyReply, value: string) => void;
  readonly clear: (reply: FastifyReply) => void;
};

export type DeskCookies = {
  readonly session: DeskCookie;
  readonly browserId: DeskCookie;
  readonly challenge: DeskCookie;
};

const PURPOSE = 'desk-sign-in:';

export function createDeskCookies(secrets: Secrets, url: string): DeskCookies {
  const cookie = url.startsWith('https:') ? inCookie : inHeader;
  const browser = cookie('signIn');
  return {
    session: cookie('session', DESK_SESSION_MS / 1000),
    browserId: {
      ...browser,
      read: (request) => unsign(secrets, PURPOSE, browser.read(request) ?? ''),
      set: (reply, browserId) => browser.set(reply, sign(secrets, PURPOSE + browserId)),
    },
    challenge: cookie('passkey'),
  };
}

const COOKIE_NAMES = {
  session: '__Host-desk',
  signIn: '__Host-desk-sign-in',
  passkey: '__Host-desk-passkey',
} as const;

function inCookie(what: keyof typeof COOKIE_NAMES, maxAge?: number): DeskCookie {
  const name = COOKIE_NAMES[what];
  const attributes: CookieSerializeOptions = { path: '/', httpOnly: true, sameSite: 'strict', secure: true };
  return {
    read: ({ cookies }) => cookies[name] ?? null,
    set: (reply, value) =>
      void reply.setCookie(name, value, maxAge === undefined ? attributes : { ...attributes, maxAge }),
    clear: (reply) => void reply.clearCookie(name, attributes),
  };
}

function inHeader(what: keyof typeof COOKIE_HEADERS): DeskCookie {
  const name = COOKIE_HEADERS[what];
  return {
    read: ({ headers }) => {
      const value = headers[name];
      return typeof value === 'string' ? value : null;
    },
    set: (reply, value) => void reply.header(name, value),
    clear: (reply) => void reply.header(name, ''),
  };
}
