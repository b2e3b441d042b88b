// Signs in with a mailed code. Every e-mail address gets the same response after the same statements: only a value in its row
// depends on DESK_PEOPLE and limits. Mail is queued later, so it cannot delay the response.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import { beginSession, type Client } from '#desk/server/auth/sessions.ts';
import {
  countFromNetwork,
  countUpTo,
  resetWrongAttempts,
  recordWrongAttempt,
  type TooMany,
} from '#desk/server/auth/attempts.ts';
import { isRecent } from '#server/platform/time.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { passkeysOf } from '#server/db/tables/desk-access.ts';
import { consumeAttemptById } from '#server/codes/challenges.ts';
import { markCodeUsed, endCodes } from '#server/codes/codes.ts';
import {
  insertSignIn,
  newestOpenSignIns,
  takeUnmailed,
  type DeskSignIn,
} from '#server/codes/desk-sign-ins.ts';
import { queueDeskCodeMail } from '#server/mail/templates/desk-code-mail.ts';
import { startWakeLoop } from '#server/platform/background-work.ts';
import type { Service } from '#server/startup/service.ts';
import { findCode } from '#server/codes/digits.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import { DESK_SIGN_IN } from '#desk/server/auth/limits.ts';
import { normaliseEmail } from '#shared/lead.ts';

type RequestOutcome = { readonly type: 'accepted'; readonly resendSeconds: number } | TooMany;

type EnterOutcome =
  | { readonly type: 'signed in'; readonly token: string; readonly email: string }
  | { readonly type: 'wrong code' }
  | { readonly type: 'no attempts left' }
  | TooMany;

export type SignIn = {
  readonly requestCode: (
    typed: string,
    client: { browserId: string; from: string },
  ) => Promise<RequestOutcome>;
  /**
   * Counts and commits the attempt before the comparison.
   * @param browserId null without a cookie
   */
  readonly enterCode: (code: string, client: Client & { browserId: string | null }) => Promise<EnterOutcome>;
  readonly stop: () => Promise<void>;
};

/** At most this many are read. A network may not request more, so these are all of a browser that stays in its network. */
const MAX_OPEN = DESK_SIGN_IN.asksFromNetwork;

/** In milliseconds; random, so the load caused by queueing reveals nothing about a request. */
const MAIL_DELAY_MS = { min: 100, max: 600 } as const;
const RETRY_MS = 10_000;

export function createSignIn(service: Service, { url, people }: DeskConfig): SignIn {
  const { database, secrets, clock, config, limits, logger } = service;
  const { db } = database;
  const { host } = new URL(url);

  const recordRequest = async (
    tx: Db,
    { typed, browserId, from, now }: { typed: string; browserId: string; from: string; now: number },
  ): Promise<RequestOutcome> => {
    const email = normaliseEmail(typed);
    const [key] = pseudonymsOf(secrets, email);
    const { windowMs, dayMs, sendsToAddress, timesInADay, attempts } = DESK_SIGN_IN;
    const tooMany = await countFromNetwork(tx, 'asks', from, now);
    if (tooMany !== null) return tooMany;
    await acquireLocks(tx, email);
    const open = await newestOpenSignIns(tx, { browserId, limit: MAX_OPEN, now });
    const previous = open.find(({ address_key: other }) => other === key);
    const isExhausted = previous !== undefined && previous.wrong_attempts >= attempts;
    const accepted: RequestOutcome = { type: 'accepted', resendSeconds: config.resendSeconds };
    // After a code for another address, the earlier one is no longer compared.
    const isNewest = previous !== undefined && previous === open[0];
    if (isNewest && !isExhausted && isRecent(previous.created_at, limits.resendQuietMs, now)) return accepted;
    if (isExhausted) await endCodes(tx, 'desk_sign_ins', { browser_id: browserId, address_key: key }, now);
    // In this order, a stranger's request runs the same statements.
    const isAllowed = (await maySignInByCode(tx, email)) && people.has(email);
    const tooManySends = await countUpTo(
      tx,
      { key: `codes: ${key}` },
      [
        { limit: sendsToAddress, windowMs },
        { limit: sendsToAddress * timesInADay, windowMs: dayMs },
      ],
      now,
    );
    await insertSignIn(tx, {
      id: newIdAt(now),
      browser_id: browserId,
      address_key: key,
      email: isAllowed && tooManySends === null ? email : null,
      secret_id: secrets[0].id,
      // A new code continues the attempts, unless they are used up: how many codes are mailed is limited.
      wrong_attempts: previous === undefined || isExhausted ? 0 : previous.wrong_attempts,
      created_at: now,
      expires_at: now + config.codeTtlSeconds * 1000,
    });
    return accepted;
  };

  /** A user who may only sign in with passkeys still needs a code to add the first one. */
  const maySignInByCode = async (tx: Db, email: string): Promise<boolean> =>
    (await passkeysOf(tx, email)).length === 0 || people.get(email)?.passkeyOnly !== true;

  const queueMails = async (): Promise<void> => {
    const now = clock();
    await db.transaction().execute(async (tx) => {
      for (const { id: signInId, email } of await takeUnmailed(tx, now))
        await queueDeskCodeMail(tx, { id: newIdAt(now), email, signInId, host, now });
    });
    service.mail.wake();
  };

  /** Also sends the remaining codes of an earlier process. */
  let mayHaveUnmailed = true;
  const mailLoop = startWakeLoop({
    pollMs: RETRY_MS,
    work: async () => {
      if (!mayHaveUnmailed) return;
      await setTimeout(randomInt(MAIL_DELAY_MS.min, MAIL_DELAY_MS.max));
      mayHaveUnmailed = false;
      await queueMails().catch((error: unknown) => {
        mayHaveUnmailed = true;
        throw error;
      });
    },
    onError: (error) =>
      logger.error(
        { err: error },
        'A sign-in code for the desk could not be queued. The desk will try again soon.',
      ),
  });

  return {
    requestCode: async (typed, client) => {
      const request = { ...client, typed, now: clock() };
      const outcome = await db.transaction().execute((tx) => recordRequest(tx, request));
      mayHaveUnmailed = true;
      mailLoop.wake();
      return outcome;
    },

    enterCode: async (code, { browserId, from, browser }) => {
      const now = clock();
      const counted = await db.transaction().execute(async (tx) => {
        // Without a cookie, the same statement finds nothing.
        const open = await newestOpenSignIns(tx, {
          browserId: browserId ?? randomUUID(),
          limit: MAX_OPEN,
          now,
        });
        const [newest] = open;
        if (newest !== undefined) {
          const hasAttempts = await consumeAttemptById(tx, 'desk_sign_ins', {
            id: newest.id,
            maxAttempts: DESK_SIGN_IN.attempts,
          });
          return { type: 'counted', open, hasAttempts } as const;
        }
        if (browserId === null) {
          const tooMany = await countFromNetwork(tx, 'codes', from, now);
          return tooMany ?? ({ type: 'counted', open, hasAttempts: true } as const);
        }
        // The limit is the same as with a code, so the response does not reveal whether one exists. A new signed cookie needs
        // another request for a code, which each network may send only so often.
        const limit = { limit: DESK_SIGN_IN.attempts, windowMs: config.codeTtlSeconds * 1000 };
        const hasAttempts = (await countUpTo(tx, { key: `browser: ${browserId}` }, [limit], now)) === null;
        return { type: 'counted', open, hasAttempts } as const;
      });
      if (counted.type === 'too many') return counted;
      if (!counted.hasAttempts) return { type: 'no attempts left' };
      const [newest] = counted.open;
      const deskUserOf = ({ email }: DeskSignIn) => (email !== null && people.has(email) ? email : null);
      // Codes for other or removed e-mail addresses are not compared.
      const candidates = counted.open
        .flatMap((signIn) => {
          const deskUser = deskUserOf(signIn);
          return signIn.address_key === newest?.address_key && deskUser !== null
            ? [{ ...signIn, deskUser }]
            : [];
        })
        // findCode always takes the time of this many comparisons. More candidates would take longer.
        .slice(0, DESK_SIGN_IN.acceptedCodes);
      const found = findCode(secrets, candidates, code, DESK_SIGN_IN.acceptedCodes);
      if (found === null) {
        const email = newest === undefined ? null : deskUserOf(newest);
        await recordWrongAttempt(service, { email, from, with: 'code' });
        return { type: 'wrong code' };
      }
      const { deskUser: email } = found;
      return db.transaction().execute(async (tx): Promise<EnterOutcome> => {
        if (!(await maySignInByCode(tx, email)) || !(await markCodeUsed(tx, 'desk_sign_ins', found.id, now)))
          return { type: 'wrong code' };
        await endCodes(tx, 'desk_sign_ins', { browser_id: found.browser_id }, now);
        await resetWrongAttempts(tx, service, email);
        return {
          type: 'signed in',
          token: await beginSession(tx, secrets, { email, from, browser, now }),
          email,
        };
      });
    },

    stop: mailLoop.stop,
  };
}
