// Creates the sign-in link for the person at the machine, which works once, within ten minutes.
import { randomBytes, timingSafeEqual } from 'node:crypto';

import { hashOf } from '#desk/server/auth/sessions.ts';
import { DESK_LINK_MS } from '#server/settings/fixed-limits.ts';

export type Link = {
  /** Part of the URL's fragment, which browsers do not send. */
  readonly token: string;
  /** @returns true if the token was valid; only one of two parallel calls succeeds */
  readonly take: (token: string, now: number) => boolean;
};

export function createLink(madeAt: number): Link {
  const token = randomBytes(32).toString('base64url');
  const expected = Buffer.from(hashOf(token));
  let isUsed = false;
  return {
    token,
    take: (given, now) => {
      const isRight = timingSafeEqual(Buffer.from(hashOf(given)), expected);
      if (!isRight || isUsed || now < madeAt || now >= madeAt + DESK_LINK_MS) return false;
      isUsed = true;
      return true;
    },
  };
}
