// Signs in with a mailed code. Every e-mail address gets the same response after the same statements: only a value in its row depends on
// DESK_PEOPLE and limits. Mail is queued later, so it cannot delay the response.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import { beginSession, type Place } from '#desk/server/auth/sessions.ts';
import {
  countFrom,
  countUpTo,
  forgiveWrongAttempts,
  noteWrongAttempt,
  type TooMany,
} from '#desk/server/auth/attempts.ts';
import { isRecent } from '#server/platform/time.ts';
import { lockNames, type Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { passkeysOf } from '#server/db/tables/desk-access.ts';
import { countAttemptById } from '#server/codes/challenges.ts';
import { acceptCode, endCodes } from '#server/codes/codes.ts';
import { insertSignIn, openSignIns, takeUnmailed, type DeskSignIn } from '#server/codes/desk-sign-ins.ts';
import { queueDeskCodeMail } from '#server/mail/templates/desk-code-mail.ts';
import { startWakeLoop } from '#server/platform/background-work.ts';
import type { Service } from '#server/startup/service.ts';
import { findCode } from '#server/codes/digits.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import { DESK_SIGN_IN } from '#server/settings/fixed-limits.ts';
import { normaliseEmail } from '#shared/lead.ts';

type AskOutcome = { readonly type: 'asked'; readonly resendSeconds: number } | TooMany;

type EnterOutcome =
  | { readonly type: 'in'; readonly token: string; readonly email: string }
  | { readonly type: 'wrong code' }
  | { readonly type: 'no attempts left' }
  | TooMany;

export type SignIn = {
  readonly ask: (typed: string, visitor: { browserId: string; from: string }) => Promise<AskOutcome>;
  /**
   * Counts and commits the attempt before the comparison.
   * @param browserId null without a cookie
   */
  readonly enter: (code: string, from: Place & { browserId: string | null }) => Promise<EnterOutcome>;
  readonly stop: () => Promise<void>;
};

/** No network may begin more, so a browser's codes are complete as long as it stays in its network. */
const MOST_OPEN = DESK_SIGN_IN.asksFromNetwork;

/** In milliseconds; random, so the load caused by queueing reveals nothing about a request. */
const MAIL_AFTER_MS = { least: 100, most: 600 } as const;
const TRIED_AGAIN_MS = 10_000;

export function createSignIn(service: Service, { url, people }: DeskConfig): SignIn {
  const { database, secrets, clock, config, limits, logger } = service;
  const { db } = database;
  const { host } = new URL(url);

  const recordAsk = async (
    tx: Db,
    { typed, browserId, from, now }: { typed: string; browserId: string; from: string; now: number },
  ): Promise<AskOutcome> => {
    const email = normaliseEmail(typed);
    const [key] = pseudonymsOf(secrets, email);
    const { windowMs, dayMs, sendsToAddress, timesInADay, unsentAsksOfAll, attempts } = DESK_SIGN_IN;
    const tooMany = await countFrom(tx, 'asks', from, now);
    if (tooMany !== null) return tooMany;
    await lockNames(tx, email);
    const open = await openSignIns(tx, { browserId, most: MOST_OPEN, now });
    const before = open.find(({ address_key: asked }) => asked === key);
    const isExhausted = before !== undefined && before.wrong_attempts >= attempts;
    const asked: AskOutcome = { type: 'asked', resendSeconds: config.resendSeconds };
    // After a code for another address, the earlier one is no longer compared.
    const isNewest = before !== undefined && before === open[0];
    if (isNewest && !isExhausted && isRecent(before.created_at, limits.resendQuietMs, now)) return asked;
    if (isExhausted) await endCodes(tx, 'desk_sign_ins', { browser_id: browserId, address_key: key }, now);
    // In this order, a stranger's request takes the same statements.
    const mayUseCode = (await maySignInByCode(tx, email)) && people.has(email);
    const tooManySends = await countUpTo(
      tx,
      { key: `codes: ${key}` },
      [
        { limit: sendsToAddress, windowMs },
        { limit: sendsToAddress * timesInADay, windowMs: dayMs },
      ],
      now,
    );
    const isSent = mayUseCode && tooManySends === null;
    const tooManyAsks = await countUpTo(
      tx,
      // All requests share one lock. Otherwise, in a flood, delays would reveal who is a stranger.
      { key: isSent ? 'sent asks' : 'unsent asks', lock: 'asks' },
      // Sent asks have no limit, but are counted, so both cases take the same statements.
      [{ limit: isSent ? Number.MAX_SAFE_INTEGER : unsentAsksOfAll, windowMs }],
      now,
    );
    // Only unsent asks can be too many, so a refusal would reveal a stranger.
    if (tooManyAsks !== null) return asked;
    await insertSignIn(tx, {
      id: newIdAt(now),
      browser_id: browserId,
      address_key: key,
      email: isSent ? email : null,
      secret_id: secrets[0].id,
      // Resending a code does not reset the attempts.
      wrong_attempts: before === undefined || isExhausted ? 0 : before.wrong_attempts,
      created_at: now,
      expires_at: now + config.codeTtlSeconds * 1000,
    });
    return asked;
  };

  /** Returns true for users who may sign in with a code: anyone restricted to passkeys needs a code to add the first. */
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
  const mailing = startWakeLoop({
    pollMs: TRIED_AGAIN_MS,
    work: async () => {
      if (!mayHaveUnmailed) return;
      await setTimeout(randomInt(MAIL_AFTER_MS.least, MAIL_AFTER_MS.most));
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
    ask: async (typed, visitor) => {
      const ask = { ...visitor, typed, now: clock() };
      const outcome = await db.transaction().execute((tx) => recordAsk(tx, ask));
      mayHaveUnmailed = true;
      mailing.wake();
      return outcome;
    },

    enter: async (code, { browserId, from, browser }) => {
      const now = clock();
      const counted = await db.transaction().execute(async (tx) => {
        // Without a cookie, the same statement finds nothing.
        const open = await openSignIns(tx, { browserId: browserId ?? randomUUID(), most: MOST_OPEN, now });
        const [newest] = open;
        if (newest !== undefined) {
          const hasAttempts = await countAttemptById(tx, 'desk_sign_ins', {
            id: newest.id,
            mostAttempts: DESK_SIGN_IN.attempts,
          });
          return { type: 'counted', open, hasAttempts } as const;
        }
        if (browserId === null) {
          const tooMany = await countFrom(tx, 'codes', from, now);
          return tooMany ?? ({ type: 'counted', open, hasAttempts: true } as const);
        }
        // The limit is the same as with a code, so the response does not reveal whether one exists.
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
        // Not more than findCode compares at least, so its time is always the same.
        .slice(0, DESK_SIGN_IN.acceptedCodes);
      const found = findCode(secrets, candidates, code, DESK_SIGN_IN.acceptedCodes);
      if (found === null) {
        const email = newest === undefined ? null : deskUserOf(newest);
        await noteWrongAttempt(service, { email, from, with: 'code' });
        return { type: 'wrong code' };
      }
      const { deskUser: email } = found;
      return db.transaction().execute(async (tx): Promise<EnterOutcome> => {
        if (!(await maySignInByCode(tx, email)) || !(await acceptCode(tx, 'desk_sign_ins', found.id, now)))
          return { type: 'wrong code' };
        await endCodes(tx, 'desk_sign_ins', { browser_id: found.browser_id }, now);
        await forgiveWrongAttempts(tx, service, email);
        return { type: 'in', token: await beginSession(tx, secrets, { email, from, browser, now }), email };
      });
    },

    stop: mailing.stop,
  };
}
