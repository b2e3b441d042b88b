import { randomUUIDv7 } from 'node:crypto';
import path from 'node:path';

import type { Config } from '#server/settings/settings.ts';
import { about, type Finding } from '#desk/doctor/finding.ts';
import { escapeHtml } from '#server/platform/escape-html.ts';
import { dkimComplaint } from '#server/mail/dkim-key.ts';
import { createMailer, senderAddress } from '#server/mail/mailer.ts';

const { ok, note, problem } = about('sample');

/**
 * Sends a sample.
 * @param title product title, as in code mails
 * @param folder of the instance
 */
export async function sendSample(
  config: Config,
  { to, title, folder, signal }: { to: string; title: string; folder: string; signal: AbortSignal },
): Promise<readonly Finding[]> {
  const { mail, bounceDomain } = config;
  // An unsigned sample would not show how codes arrive.
  const complaint = mail.kind === 'smtp' && mail.dkim !== null ? await dkimComplaint(mail.dkim) : null;
  if (complaint !== null) return [problem(`No sample was sent: ${complaint}`)];
  const mailer = createMailer(config, {
    title,
    folder: path.join(folder, 'data', 'mail'),
    announce: () => {},
    // Uses the envelope domain of codes, so that SPF is checked for it. Bounces to this e-mail address are ignored.
    returnPathOf: bounceDomain === null ? undefined : () => `sample@${bounceDomain}`,
  });
  try {
    const outcome = await mailer.send(composeSample(config, to, title), signal);
    if (mail.kind === 'files' && outcome.type === 'sent')
      return [note(`SMTP_URL is not set, so that the sample to ${to} was ${outcome.reply}.`)];
    if (outcome.type === 'sent')
      return [
        ok(
          `The mail server took a sample for ${to} and said “${oneLine(outcome.reply)}”. Look whether it arrived, and not among the junk.`,
        ),
      ];
    return [
      problem(
        outcome.type === 'refused'
          ? `The mail server refused the sample for ${to}: ${oneLine(outcome.reason)}`
          : `The sample for ${to} could not be sent: ${oneLine(outcome.reason)}`,
      ),
    ];
  } finally {
    mailer.close();
  }
}

/** Replies of mail servers often have several lines. */
const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

function composeSample(config: Config, to: string, title: string) {
  const sentences = [
    `This is a test. The operator of “${title}” asked for it, to see whether its e-mails arrive.`,
    `It was sent from ${senderAddress(config)}, on the way that codes take. Nothing needs to be done.`,
  ];
  return {
    id: randomUUIDv7(),
    to,
    subject: 'Test: the e-mails of your page arrive',
    text: `${sentences.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en"><body>${sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('')}</body></html>\n`,
  };
}
