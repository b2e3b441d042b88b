import { CommandFailure } from '#desk/command-failure.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { newIdAt } from '#server/db/engine/ids.ts';
import { sendGuideAgain, type GuideAgain } from '#server/mail/templates/guide-mail.ts';
import type { Service } from '#server/startup/service.ts';

/**
 * @param tx must have locked the e-mail address
 * @returns `waiting` if a guide is already queued
 */
export async function sendGuideTo(
  tx: Db,
  { clock, config, secrets }: Pick<Service, 'clock' | 'config' | 'secrets'>,
  email: string,
): Promise<'queued' | 'waiting'> {
  const now = clock();
  const outcome = await sendGuideAgain(tx, { config, secrets }, { email, id: newIdAt(now), now });
  if (outcome.type === 'refused') throw new CommandFailure(describeRefusal(email, outcome));
  return outcome.type;
}

function describeRefusal(email: string, refusal: Extract<GuideAgain, { type: 'refused' }>): string {
  switch (refusal.why) {
    case 'off':
      return 'Nothing was queued, because GUIDE_EMAIL is off. Set it to link or attachment, and restart the site.';
    case 'no lead':
      return `Nothing was queued, because ${email} was never verified here. Ask the owner of the address to request a code on the page.`;
    case 'erased':
      return `Nothing was queued, because ${email} was erased. The person can only return by requesting a new code on the page.`;
    case 'suppressed': {
      const { reasons } = refusal;
      const cure = reasons.some((reason) => reason === 'unsubscribed' || reason === 'complained')
        ? 'The person can only return by requesting a new code on the page.'
        : `Remove the suppression first: suppress remove ${email}`;
      return `Nothing was queued, because ${email} is suppressed (${reasons.join(', ')}). ${cure}`;
    }
  }
}
