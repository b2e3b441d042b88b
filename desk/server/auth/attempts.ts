// Counts attempts to sign in, and warns the operator about repeated wrong ones. The statements are the same for everyone, so timing
// does not reveal who is in DESK_PEOPLE.
import { logRefusedSignIn } from '#desk/audit-log/audit-log.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { countInSlidingWindowsUpTo, countInWindow, endWindow } from '#server/db/tables/limit-windows.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { DESK_SIGN_IN } from '#desk/server/auth/limits.ts';
import type { Service } from '#server/startup/service.ts';

export type TooMany = { readonly type: 'too many'; readonly retryAfterSeconds: number };

/**
 * Counts an attempt, unless a limit is reached.
 * @param lock serialises parallel attempts; defaults to `key`
 * @returns null if no limit is exceeded
 */
export async function countUpTo(
  tx: Db,
  { key, lock = key }: { readonly key: string; readonly lock?: string },
  limits: readonly { readonly limit: number; readonly windowMs: number }[],
  now: number,
): Promise<TooMany | null> {
  await acquireLocks(tx, `desk ${lock}`);
  const full = await countInSlidingWindowsUpTo(
    tx,
    limits.map(({ limit, windowMs }) => ({ limit, window: { key: `desk ${key} ${windowMs}`, windowMs } })),
    now,
  );
  if (full === null) return null;
  return { type: 'too many', retryAfterSeconds: Math.max(1, Math.ceil((full.freeAt - now) / 1000)) };
}

export function countFromNetwork(
  tx: Db,
  kind: 'asks' | 'codes' | 'passkeys',
  from: string,
  now: number,
): Promise<TooMany | null> {
  const { asksFromNetwork, codesFromNetwork, passkeysFromNetwork, windowMs } = DESK_SIGN_IN;
  const limit = { asks: asksFromNetwork, codes: codesFromNetwork, passkeys: passkeysFromNetwork }[kind];
  return countUpTo(tx, { key: `${kind}: ${networkOf(from)}` }, [{ limit, windowMs }], now);
}

export async function recordWrongAttempt(
  service: Service,
  attempt: { readonly email: string | null; readonly from: string; readonly with: 'code' | 'passkey' },
): Promise<void> {
  const { email, from } = attempt;
  const { database, config, campaign, clock } = service;
  const now = clock();
  const { windowMs, notedOfStrangers, attemptsInARow, inARowMs } = DESK_SIGN_IN;
  await database.db.transaction().execute(async (tx) => {
    const tooMany = await countUpTo(
      tx,
      { key: `noted: ${email === null ? 'strangers' : 'people'}`, lock: 'noted' },
      [{ limit: email === null ? notedOfStrangers : Number.MAX_SAFE_INTEGER, windowMs }],
      now,
    );
    if (tooMany === null) await logRefusedSignIn(tx, { email, from, details: attempt.with, at: now });
    const count = await countInWindow(tx, wrongAttemptsKey(service, email), inARowMs, now);
    if (email === null || count !== attemptsInARow) return;
    await queueNotice(tx, {
      recipients: config.operatorEmails,
      subject: `${attemptsInARow} failed attempts to sign in to the desk of ${campaign.site.title}`,
      text:
        `There were ${attemptsInARow} failed attempts in a row to sign in as a person listed in DESK_PEOPLE. ` +
        'To see whose address it was and where the attempts came from, run: npm run -s desk -- log --newest. ' +
        'If somebody else made the attempts, ask the person to add a passkey, ' +
        'and write :passkey after their address in DESK_PEOPLE, so that codes no longer work for that account.',
      now,
    });
  });
  service.mail.wake();
}

export const resetWrongAttempts = (tx: Db, service: Pick<Service, 'secrets'>, email: string): Promise<void> =>
  endWindow(tx, wrongAttemptsKey(service, email));

const wrongAttemptsKey = ({ secrets }: Pick<Service, 'secrets'>, email: string | null): string =>
  `desk wrong in a row: ${email === null ? 'strangers' : pseudonymsOf(secrets, email)[0]}`;
