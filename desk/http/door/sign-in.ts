// Signing in with a mailed code. Every address gets the same answer after the same statements: a row is made for each, and who is in
// DESK_PEOPLE shows only in a value of it. The mail is queued later, at a moment that no answer waits for.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import { v7 as uuid } from 'uuid';

import { countTryFrom, countUpTo, type TooMany } from '#desk/http/door/counted.ts';
import { beginSession, type Place } from '#desk/http/door/sessions.ts';
import { isRecent } from '#server/db/engine/clocks.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { lockAddress } from '#server/db/tables/challenges.ts';
import {
  countTry,
  insertSignIn,
  openSignIns,
  takeSignIn,
  takeUnmailed,
} from '#server/db/tables/desk-sign-ins.ts';
import { queueDeskCodeMail } from '#server/mail/letters/desk-code-mail.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { startWakeLoop } from '#server/platform/wake-loop.ts';
import type { Service } from '#server/run/service.ts';
import { findCode } from '#server/secrets/one-time-code.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import { DESK_SIGN_IN } from '#server/settings/tries-and-rates.ts';
import { asciiAddress, normaliseEmail } from '#shared/lead.ts';

type AskOutcome = { readonly type: 'asked'; readonly resendSeconds: number } | TooMany;

type EnterOutcome =
  | { readonly type: 'in'; readonly token: string; readonly email: string }
  | { readonly type: 'wrong code' }
  /** Only a new code helps. */
  | { readonly type: 'no tries left' }
  | TooMany;

export type SignIn = {
  /** Takes an address, and has a code mailed if it is one of DESK_PEOPLE. @param browserId of the browser's cookie, or a new one */
  readonly ask: (typed: string, from: { browserId: string; from: string }) => Promise<AskOutcome>;
  /** Takes a code. The try is counted in a committed transaction before the comparison. @param browserId null without a cookie */
  readonly enter: (code: string, from: Place & { browserId: string | null }) => Promise<EnterOutcome>;
  /** Queues no more mail; resolves after the one in hand. */
  readonly stop: () => Promise<void>;
};

/** Milliseconds after an ask at which its mail is queued: when the database is busy with it says nothing about the ask. */
const MAIL_AFTER_MS = { least: 100, most: 600 } as const;
/** After a failure, unless the next ask comes first. */
const TRIED_AGAIN_MS = 10_000;

/** Makes the sign-in of the people of DESK_PEOPLE. */
export function createSignIn(service: Service, { url, people }: DeskConfig): SignIn {
  const { database, secrets, clock, config, limits, logger } = service;
  const { db, engine } = database;
  const { host } = new URL(url);

  const answer = async (
    tx: Db,
    { typed, browserId, from, now }: { typed: string; browserId: string; from: string; now: number },
  ): Promise<AskOutcome> => {
    const email = normaliseEmail(typed);
    const [key] = pseudonymsOf(secrets, email);
    const { windowMs, dayMs, sendsToAddress, sendsTimesInADay, asksFromNetwork, asksOfAll } = DESK_SIGN_IN;
    const tooMany =
      (await countUpTo(tx, `asks: ${networkOf(from)}`, { limit: asksFromNetwork, windowMs }, now)) ??
      (await countUpTo(tx, 'asks of all', { limit: asksOfAll, windowMs }, now));
    if (tooMany !== null) return tooMany;
    await lockAddress(tx, engine, email);
    const [before] = await openSignIns(tx, { browserId, most: 1, now });
    const asked: AskOutcome = { type: 'asked', resendSeconds: config.resendSeconds };
    if (
      before?.address_key === key &&
      before.wrong_tries < DESK_SIGN_IN.tries &&
      isRecent(before.created_at, limits.resendQuietMs, now)
    )
      return asked;
    const tooManySends =
      (await countUpTo(tx, `codes: ${key}`, { limit: sendsToAddress, windowMs }, now)) ??
      (await countUpTo(
        tx,
        `codes in a day: ${key}`,
        { limit: sendsToAddress * sendsTimesInADay, windowMs: dayMs },
        now,
      ));
    if (tooManySends !== null) return tooManySends;
    await insertSignIn(tx, {
      id: uuid({ msecs: now }),
      browser_id: browserId,
      address_key: key,
      email: people.has(email) ? email : null,
      secret_id: secrets[0].id,
      created_at: now,
      expires_at: now + config.codeTtlSeconds * 1000,
    });
    return asked;
  };

  const queueMails = async (): Promise<void> => {
    const now = clock();
    await db.transaction().execute(async (tx) => {
      for (const { id: signInId, email } of await takeUnmailed(tx, now)) {
        if (email === null) continue;
        const recipient = asciiAddress(email) ?? email;
        await queueDeskCodeMail(tx, { id: uuid({ msecs: now }), recipient, signInId, host, now });
      }
    });
    service.mail.wake();
  };

  /** At the start: those that a process left behind when it ended. */
  let mayWait = true;
  const mailing = startWakeLoop({
    pollMs: TRIED_AGAIN_MS,
    work: async () => {
      if (!mayWait) return;
      await setTimeout(randomInt(MAIL_AFTER_MS.least, MAIL_AFTER_MS.most));
      mayWait = false;
      await queueMails().catch((error: unknown) => {
        mayWait = true;
        throw error;
      });
    },
    onError: (error) =>
      logger.error({ err: error }, 'A code for the desk could not be queued yet; tried again soon.'),
  });

  return {
    ask: async (typed, from) => {
      const ask = { ...from, typed, now: clock() };
      const outcome = await db.transaction().execute((tx) => answer(tx, ask));
      mayWait = true;
      mailing.wake();
      return outcome;
    },

    enter: async (code, { browserId, from, browser }) => {
      const now = clock();
      const counted = await db.transaction().execute(async (tx) => {
        const { acceptedCodes, tries } = DESK_SIGN_IN;
        const tooMany = await countTryFrom(tx, from, now);
        if (tooMany !== null) return tooMany;
        const open = await openSignIns(tx, {
          browserId: browserId ?? randomUUID(),
          most: acceptedCodes,
          now,
        });
        const hasTries = await countTry(tx, { id: open[0]?.id ?? randomUUID(), most: tries });
        return { type: 'counted', open, hasTries } as const;
      });
      if (counted.type === 'too many') return counted;
      const [newest] = counted.open;
      if (newest !== undefined && !counted.hasTries) return { type: 'no tries left' };
      // A code that was asked for with another address, or with one that is not in DESK_PEOPLE (any more), is compared with nothing.
      const candidates = counted.open.flatMap((signIn) =>
        signIn.address_key === newest?.address_key && signIn.email !== null && people.has(signIn.email)
          ? [{ ...signIn, email: signIn.email, secretId: signIn.secret_id }]
          : [],
      );
      const found = findCode(secrets, candidates, code, DESK_SIGN_IN.acceptedCodes);
      if (found === null) return { type: 'wrong code' };
      const { email } = found;
      return db.transaction().execute(async (tx): Promise<EnterOutcome> => {
        if (!(await takeSignIn(tx, found, now))) return { type: 'wrong code' };
        return { type: 'in', token: await beginSession(tx, { email, from, browser, now }), email };
      });
    },

    stop: mailing.stop,
  };
}
