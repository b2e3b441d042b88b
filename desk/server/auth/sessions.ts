import { createHash, randomBytes } from 'node:crypto';

import type { Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import {
  deleteOwn,
  findSession,
  insertSession,
  sessionsOf,
  type DeskSession,
} from '#server/db/tables/desk-access.ts';
import { signerOf, type Secrets } from '#server/secrets/secrets.ts';
import { DESK_SESSION_MS } from '#desk/server/auth/limits.ts';

export type OpenSession = {
  readonly id: string;
  /** Null for the person at the machine. */
  readonly email: string | null;
  /** Milliseconds since 1970. */
  readonly begunAt: number;
  readonly endsAt: number;
  /** The IP address at sign-in. */
  readonly from: string;
  readonly browser: string;
};

export type Client = { readonly from: string; readonly browser: string };

export type Sessions = {
  readonly find: (token: string, now: number) => Promise<OpenSession | null>;
  readonly of: (email: string | null, now: number) => Promise<readonly OpenSession[]>;
  readonly end: (session: Pick<OpenSession, 'id' | 'email'>) => Promise<boolean>;
};

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Signed, so nobody can create, reassign or extend a session without APP_SECRET. */
const signedText = (
  { id, email, ends_at: endsAt }: Pick<DeskSession, 'id' | 'email' | 'ends_at'>,
  secret: string,
) => JSON.stringify([id, email, endsAt, secret]);

export function createStoredSessions(db: Db, secrets: Secrets): Sessions {
  const { verifies } = signerOf(secrets, 'desk session');
  return {
    find: async (token, now) => {
      const [id = '', secret = ''] = token.split('.');
      const row = await findSession(db, id, now);
      return row !== undefined && verifies(signedText(row, secret), row.token_hash)
        ? openSessionOf(row)
        : null;
    },
    of: async (email, now) => (email === null ? [] : (await sessionsOf(db, email, now)).map(openSessionOf)),
    end: async ({ id, email }) => email !== null && deleteOwn(db, 'desk_sessions', { id, email }),
  };
}

/** @returns the token, which is never stored */
export async function beginSession(
  tx: Db,
  secrets: Secrets,
  { email, from, browser, now }: Client & { readonly email: string; readonly now: number },
): Promise<string> {
  const secret = newToken();
  const session = { id: newIdAt(now), email, ends_at: now + DESK_SESSION_MS };
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
