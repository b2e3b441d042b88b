// The link with which the person at the machine comes in: it works once, and for ten minutes.
import { randomBytes, timingSafeEqual } from 'node:crypto';

import { hashOf } from '#desk/server/auth/sessions.ts';
import { DESK_LINK_MS } from '#server/settings/fixed-limits.ts';

export type Link = {
  /** What stands behind the # of its address, which no browser sends. */
  readonly token: string;
  /** Uses it up. @returns whether it was the right one, and in time. Of two calls at once, one is let in */
  readonly take: (token: string, now: number) => boolean;
};

/** @param madeAt milliseconds since 1970 */
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
