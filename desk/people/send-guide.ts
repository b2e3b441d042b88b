import { CommandFailure } from '#desk/command-failure.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { isWaiting } from '#server/db/tables/outbox.ts';
import { suppressionsOf } from '#server/db/tables/suppressions.ts';
import { GUIDE_KIND, queueGuideMail } from '#server/mail/templates/guide-mail.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';
import type { Service } from '#server/startup/service.ts';
import { asciiAddress } from '#shared/lead.ts';

/**
 * The caller must wake the mail worker.
 * @param tx must have locked the e-mail address
 * @returns `waiting` if a guide is already queued
 */
export async function sendGuideTo(
  tx: Db,
  { clock, config, secrets }: Pick<Service, 'clock' | 'config' | 'secrets'>,
  email: string,
): Promise<'queued' | 'waiting'> {
  const now = clock();
  if (config.guideEmail === 'off')
    throw refused('GUIDE_EMAIL is off. Set it to link or attachment, and restart the site.');
  const listed = await suppressionsOf(tx, { keys: pseudonymsOf(secrets, email), email });
  const reasons = listed.map(({ reason }) => reason);
  const leadId = await findLeadId(tx, email);
  if (leadId === undefined)
    throw refused(
      reasons.includes('erased')
        ? `${email} was erased. ${ONLY_BY_CODE}`
        : `${email} was never verified here. Ask the owner of the address to request a code on the page.`,
    );
  if (reasons.length > 0) {
    const cure = reasons.some((reason) => reason === 'unsubscribed' || reason === 'complained')
      ? ONLY_BY_CODE
      : `Remove the suppression first: suppress remove ${email}`;
    throw refused(`${email} is suppressed (${reasons.join(', ')}). ${cure}`);
  }
  if (await isWaiting(tx, { kind: GUIDE_KIND, payload: { leadId } })) return 'waiting';
  await queueGuideMail(tx, { id: newIdAt(now), leadId, recipient: asciiAddress(email) ?? email, now });
  return 'queued';
}

const ONLY_BY_CODE = 'The person can only return by requesting a new code on the page.';

const refused = (why: string): CommandFailure => new CommandFailure(`Nothing was queued, because ${why}`);
