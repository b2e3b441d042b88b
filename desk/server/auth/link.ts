// The sign-in link for the person at the machine works once, within ten minutes. Its session ends with the process.
import {
  hashOf,
  newToken,
  type OpenSession,
  type Client,
  type Sessions,
} from '#desk/server/auth/sessions.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { isEqual } from '#server/secrets/secrets.ts';
import { DESK_LINK_MS, DESK_SESSION_MS } from '#desk/server/auth/limits.ts';

export type Link = {
  /** Part of the URL's fragment, which browsers do not send. */
  readonly token: string;
  /** @returns the session's token, or null if the link's is not valid; only one of two parallel calls succeeds */
  readonly enter: (token: string, client: Client, now: number) => string | null;
  readonly sessions: Sessions;
};

export function createLink(madeAt: number): Link {
  const token = newToken();
  const expected = hashOf(token);
  let isUsed = false;
  let open: { readonly tokenHash: string; readonly session: OpenSession } | null = null;
  const openAt = (now: number) => (open !== null && open.session.endsAt > now ? open : null);
  return {
    token,
    enter: (candidate, client, now) => {
      if (!isEqual(expected, hashOf(candidate)) || isUsed || now < madeAt || now >= madeAt + DESK_LINK_MS)
        return null;
      isUsed = true;
      const sessionToken = newToken();
      const session = {
        ...client,
        id: newIdAt(now),
        email: null,
        begunAt: now,
        endsAt: now + DESK_SESSION_MS,
      };
      open = { tokenHash: hashOf(sessionToken), session };
      return sessionToken;
    },
    sessions: {
      find: async (sessionToken, now) => {
        const found = openAt(now);
        return found?.tokenHash === hashOf(sessionToken) ? found.session : null;
      },
      of: async (_email, now) => [openAt(now)?.session ?? []].flat(),
      end: async ({ id }) => {
        if (open?.session.id !== id) return false;
        open = null;
        return true;
      },
    },
  };
}
