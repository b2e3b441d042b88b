// Logs a wrong code or passkey, and warns the operator about repeated wrong attempts. The statements are the same for everyone, so
// timing does not reveal who is in DESK_PEOPLE.
import { countUpTo } from '#desk/server/auth/counted.ts';
import { noteRefused } from '#desk/audit-log/audit-log.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { countInWindow, endWindow } from '#server/db/tables/limit-windows.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import { DESK_SIGN_IN } from '#server/settings/fixed-limits.ts';

const rowOf = ({ secrets }: Pick<Service, 'secrets'>, email: string | null): string =>
  `desk wrong in a row: ${email === null ? 'strangers' : pseudonymsOf(secrets, email)[0]}`;

export async function noteWrongAttempt(
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
    if (tooMany === null) await noteRefused(tx, { email, from, details: attempt.with, at: now });
    const { count } = await countInWindow(tx, rowOf(service, email), inARowMs, now);
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

export const forgiveWrongAttempts = (
  tx: Db,
  service: Pick<Service, 'secrets'>,
  email: string,
): Promise<void> => endWindow(tx, rowOf(service, email));
