// Sessions of the desk: in the database for people who signed in, in this process for the person at the machine.
import { createHash, randomBytes } from 'node:crypto';

import { v7 as uuid } from 'uuid';

import type { Db } from '#server/db/engine/connect.ts';
import {
  deleteSession,
  findSession,
  insertSession,
  sessionsOf,
  type DeskSession,
} from '#server/db/tables/desk-sessions.ts';
import { signerOf, type Secrets } from '#server/secrets/secrets.ts';
import { DESK_SESSION_MS } from '#server/settings/fixed-limits.ts';

export type OpenSession = {
  readonly id: string;
  /** Null for the person at the machine. */
  readonly email: string | null;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  readonly endsAt: number;
  /** The network address that it began from. */
  readonly from: string;
  /** What the browser calls itself. */
  readonly browser: string;
};

/** Where a session begins. */
export type Place = { readonly from: string; readonly browser: string };

export type Sessions = {
  /** The session of a token; null when it has ended, or there never was one. */
  readonly find: (token: string, now: number) => Promise<OpenSession | null>;
  /** A person's sessions, the newest first. */
  readonly of: (email: string | null, now: number) => Promise<readonly OpenSession[]>;
  /** Ends a session of a person. @returns false when they have no such session */
  readonly end: (session: Pick<OpenSession, 'id' | 'email'>) => Promise<boolean>;
};

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
const newToken = (): string => randomBytes(32).toString('base64url');

/** What is signed in place of storing the token: nobody makes, renames or prolongs a session without APP_SECRET. */
const signedText = (
  { id, email, ends_at: endsAt }: Pick<DeskSession, 'id' | 'email' | 'ends_at'>,
  secret: string,
) => JSON.stringify([id, email, endsAt, secret]);

/** Makes the sessions of people who signed in. */
export function createStoredSessions(db: Db, secrets: Secrets): Sessions {
  const { verifies } = signerOf(secrets, 'desk session');
  return {
    find: async (token, now) => {
      const [id = '', secret = ''] = token.split('.');
      const row = await findSession(db, { id, now });
      return row !== undefined && verifies(signedText(row, secret), row.token_hash)
        ? openSessionOf(row)
        : null;
    },
    of: async (email, now) =>
      email === null ? [] : (await sessionsOf(db, { email, now })).map(openSessionOf),
    end: async ({ id, email }) => email !== null && deleteSession(db, { id, email }),
  };
}

/** Begins the session of a person. @returns its token, which is stored nowhere */
export async function beginSession(
  tx: Db,
  secrets: Secrets,
  { email, from, browser, now }: Place & { readonly email: string; readonly now: number },
): Promise<string> {
  const secret = newToken();
  const session = { id: uuid({ msecs: now }), email, ends_at: now + DESK_SESSION_MS };
  await insertSession(tx, {
    ...session,
    token_hash: signerOf(secrets, 'desk session').sign(signedText(session, secret)),
    begun_at: now,
    client_address: from,
    browser,
  });
  return `${session.id}.${secret}`;
}

const openSessionOf = (row: DeskSession): OpenSession => ({
  id: row.id,
  email: row.email,
  begunAt: row.begun_at,
  endsAt: row.ends_at,
  from: row.client_address,
  browser: row.browser,
});

export type MemorySessions = Sessions & {
  /** @returns the token */
  readonly begin: (place: Place, now: number) => string;
};

/** Makes the sessions of the person at the machine: they end with this process. */
export function createMemorySessions(): MemorySessions {
  const sessions = new Map<string, OpenSession>();
  return {
    begin: (place, now) => {
      const token = newToken();
      sessions.set(hashOf(token), {
        ...place,
        id: uuid({ msecs: now }),
        email: null,
        begunAt: now,
        endsAt: now + DESK_SESSION_MS,
      });
      return token;
    },
    find: async (token, now) => {
      const session = sessions.get(hashOf(token));
      return session !== undefined && session.endsAt > now ? session : null;
    },
    of: async (_email, now) => [...sessions.values()].filter(({ endsAt }) => endsAt > now).toReversed(),
    end: async ({ id }) => {
      const found = [...sessions].find(([, session]) => session.id === id);
      return found !== undefined && sessions.delete(found[0]);
    },
  };
}
