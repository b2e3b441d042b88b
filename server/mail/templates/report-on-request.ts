// The report names no individuals, so the row holds all of it. A later report would differ from what its sender saw.
import * as z from 'zod/mini';

import type { Db } from '#server/db/engine/connect.ts';
import { addMail } from '#server/jobs/mail-jobs.ts';
import { composeLetter, type LetterKind, brandingOf, paragraph } from '#server/mail/templates/letter.ts';
import { DAY_MS } from '#server/platform/time.ts';
import { asciiAddress } from '#shared/lead.ts';

const Payload = z.object({
  subject: z.string(),
  paragraphs: z.array(z.string()),
  file: z.object({ name: z.string(), html: z.string() }),
});
export type ReportMail = z.infer<typeof Payload>;

export async function queueReportMail(
  tx: Db,
  { id, email, report, now }: { id: string; email: string; report: ReportMail; now: number },
): Promise<void> {
  const recipient = asciiAddress(email) ?? email;
  await addMail(tx, { id, recipient, now, kind: 'report', payload: report });
}

export const reportKind: LetterKind = {
  maxAgeMs: () => DAY_MS,
  respectsSuppression: false,

  compose: async ({ campaign }, row) => {
    const { subject, paragraphs, file } = Payload.parse(JSON.parse(row.payload));
    const [preview = ''] = paragraphs;
    const letter = composeLetter(
      { ...brandingOf(campaign), language: 'en' },
      { subject, preview, headline: subject, blocks: paragraphs.map(paragraph) },
    );
    return { ...letter, attachment: { filename: file.name, content: Buffer.from(file.html) } };
  },
};
