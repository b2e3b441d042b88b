import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import { findSignIn } from '#server/codes/desk-sign-ins.ts';
import { addMail } from '#server/jobs/mail-jobs.ts';
import {
  composeLetter,
  largeDigits,
  type LetterKind,
  brandingOf,
  paragraph,
  smallPrint,
} from '#server/mail/templates/letter.ts';
import { codeDigits } from '#server/codes/digits.ts';
import { asciiAddress } from '#shared/lead.ts';

const Payload = z.object({ signInId: z.string(), host: z.string() });

const recipientOf = (email: string): string => asciiAddress(email) ?? email;

export async function queueDeskCodeMail(
  tx: Db,
  mail: { id: string; email: string; signInId: string; host: string; now: number },
): Promise<void> {
  const { id, email, signInId, host, now } = mail;
  const recipient = recipientOf(email);
  await addMail(tx, { id, recipient, now, kind: 'desk-code', payload: { signInId, host } });
}

export const deskCodeKind: LetterKind = {
  maxAgeMs: ({ config }) => config.codeTtlSeconds * 1000,
  respectsSuppression: false,

  compose: async ({ database: { db }, secrets, campaign }, row, now) => {
    const { signInId, host } = Payload.parse(JSON.parse(row.payload));
    const signIn = await findSignIn(db, signInId);
    if (signIn === undefined || signIn.used_at !== null || signIn.expires_at <= now) return null;
    const { email } = signIn;
    // The code is valid only for this desk user.
    if (email === null || row.recipient !== recipientOf(email)) return null;
    const digits = codeDigits(secrets, { ...signIn, deskUser: email });
    if (digits === null) return null;
    const minutes = Math.max(1, Math.ceil((signIn.expires_at - now) / 60_000));
    const lifetime = `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
    const branding = { ...brandingOf(campaign), language: 'en' };
    return composeLetter(branding, {
      // Without the digits, because a locked phone shows subject and preview.
      subject: `Your code for the desk of ${branding.title}`,
      preview: `Valid for ${lifetime}, in the browser that requested it.`,
      headline: `Desk of ${branding.title}`,
      blocks: [
        largeDigits(digits),
        paragraph(`Enter the code at ${host}, in the same browser that requested it.`),
        smallPrint(`The code is valid for ${lifetime} and works only once. Do not share it with anyone.`),
        smallPrint(
          'If you did not request a code, somebody else entered your address. They cannot sign in without this code.',
        ),
      ],
    });
  },
};
