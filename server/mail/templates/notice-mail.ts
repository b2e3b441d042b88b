// The notice is composed when queued, so the row holds subject and text.
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import { addMails } from '#server/jobs/mail-jobs.ts';
import {
  composeLetter,
  type Letter,
  type LetterKind,
  type Branding,
  brandingOf,
  paragraph,
} from '#server/mail/templates/letter.ts';
import { HOUR_MS } from '#server/platform/time.ts';
import type { BreakerEmail } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

const Payload = z.object({ subject: z.string(), text: z.string() });

const REASONS = {
  'too many codes a minute': 'tooManyCodes',
  'too few codes entered': 'tooFewEntered',
} as const satisfies Record<string, keyof BreakerEmail['reasons']>;

export type BreakerReason = keyof typeof REASONS;

export function composeBreakerNotice(
  words: BreakerEmail,
  { reason, title }: { reason: BreakerReason; title: string },
): { subject: string; text: string } {
  const values = { title, reason: words.reasons[REASONS[reason]] };
  return { subject: fill(words.subject, values), text: fill(words.text, values) };
}

export async function queueNotice(
  db: Db,
  mail: { recipients: readonly string[]; subject: string; text: string; now: number },
): Promise<void> {
  const { recipients, subject, text, now } = mail;
  await addMails(db, recipients, { now, kind: 'notice', payload: { subject, text } });
}

export const noticeKind: LetterKind = {
  maxAgeMs: () => HOUR_MS,
  respectsSuppression: false,

  compose: async ({ campaign }, row) =>
    composeNoticeEmail(brandingOf(campaign), Payload.parse(JSON.parse(row.payload))),
};

export const composeNoticeEmail = (branding: Branding, { subject, text }: z.infer<typeof Payload>): Letter =>
  composeLetter(branding, {
    subject,
    preview: previewOf(text),
    headline: subject,
    blocks: [paragraph(text)],
  });

const PREVIEW_LENGTH = 90;

/** Shorter than the text, because filters compare both parts of a mail. */
const previewOf = (text: string): string =>
  text.length <= PREVIEW_LENGTH ? text : `${text.slice(0, PREVIEW_LENGTH).replace(/\s+\S*$/, '')}…`;
