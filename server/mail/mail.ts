import { randomUUIDv7 } from 'node:crypto';

import type { Logger } from 'pino';

import type { Campaign } from '#server/campaign/campaign.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { JobWorker } from '#server/jobs/worker.ts';
import { deleteEmlFiles, emlFilesAbout, type DeletedFiles } from '#server/mail/eml-files.ts';
import { composeBreakerNotice, queueNotice, type BreakerReason } from '#server/mail/templates/notice-mail.ts';
import type { GuideMail } from '#server/mail/templates/letter-kind.ts';
import { createMailer, senderAddress, type Mailer } from '#server/mail/mailer.ts';
import type { DeliveryParts, MailEvent } from '#server/mail/outbox/deliver-mail.ts';
import { startMailWorker } from '#server/mail/outbox/mail-worker.ts';
import { bounceAddress } from '#server/secrets/mail-links.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { ACCENT } from '#shared/colours.ts';

export type OpenMail = Pick<Mailer, 'tryAccount' | 'messageIdOf'> & {
  readonly sender: string;
  /** Mail goes there without a mail account, and stays after one is set. */
  readonly folder: string;
  /** Call it after the commit. Without a worker here, another process sends it. */
  readonly wake: () => void;
  readonly queueBreakerNotice: (reason: BreakerReason) => Promise<void>;
  readonly filesAbout: (email: string) => Promise<readonly string[]>;
  readonly deleteFilesAbout: (email: string) => Promise<DeletedFiles>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Call it after {@link stop}. */
  readonly close: () => void;
};

export type MailParts = {
  readonly config: Pick<
    Config,
    'mail' | 'mailFrom' | 'publicUrl' | 'bounceDomain' | 'codeTtlSeconds' | 'guideEmail' | 'operatorEmail'
  >;
  readonly campaign: Pick<
    Campaign,
    'site' | 'codeEmail' | 'newLeadEmail' | 'guideEmail' | 'guideFile' | 'breakerEmail'
  >;
  readonly secrets: Secrets;
  readonly database: OpenDatabase;
  readonly folder: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** From 0 up to 1, for jitter. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly onFile: (mail: { readonly subject: string }, file: string) => void;
  /** Called in the transaction that suppresses a lead's dead address. */
  readonly onLeadBounced: DeliveryParts['onLeadBounced'];
  readonly onOutcome: (event: MailEvent) => void;
};

/** Throws if the mail folder cannot be used. */
export function openMail(parts: MailParts): OpenMail {
  const { config, campaign, secrets, database, folder, clock, random, logger } = parts;
  const { onFile, onLeadBounced, onOutcome } = parts;
  const { bounceDomain, codeTtlSeconds, publicUrl, operatorEmail } = config;
  const { codeEmail, newLeadEmail, breakerEmail } = campaign;
  const { title, language, colors, postalAddress } = campaign.site;
  const mailer = createMailer(config, {
    title,
    folder,
    announce: onFile,
    returnPathOf: bounceDomain === null ? undefined : (id) => bounceAddress(secrets, id, bounceDomain),
  });
  let worker: JobWorker | null = null;
  const wake = () => worker?.wake();

  return {
    tryAccount: mailer.tryAccount,
    messageIdOf: mailer.messageIdOf,
    sender: senderAddress(config),
    folder,
    wake,
    queueBreakerNotice: async (reason) => {
      if (operatorEmail === null) return;
      await queueNotice(database.db, {
        id: randomUUIDv7(),
        recipient: operatorEmail,
        ...composeBreakerNotice(breakerEmail, { reason, title }),
        now: clock(),
      });
      wake();
    },
    filesAbout: (email) => emlFilesAbout(folder, email),
    deleteFilesAbout: (email) => deleteEmlFiles(folder, email),
    start: () => {
      if (worker !== null) throw new Error('The mail worker of this service was started already.');
      worker = startMailWorker({
        database,
        mailer,
        secrets,
        codeEmail,
        newLeadEmail,
        title,
        language,
        accent: (colors?.accent ?? ACCENT).light,
        postalAddress,
        codeTtlSeconds,
        publicUrl,
        guide: guideMailOf(config, campaign),
        clock,
        random,
        onLeadBounced,
        onEvent: (event) => {
          logOutcome(logger, event);
          onOutcome(event);
        },
        onError: (error) =>
          logger.error({ err: error }, 'The mail worker could not do its work; it will try again.'),
      });
    },
    stop: async () => worker?.stop(),
    close: mailer.close,
  };
}

const guideMailOf = (
  { guideEmail }: Pick<Config, 'guideEmail'>,
  campaign: Pick<Campaign, 'guideEmail' | 'guideFile'>,
): GuideMail | null =>
  guideEmail === 'off'
    ? null
    : { words: campaign.guideEmail, attachment: guideEmail === 'link' ? null : campaign.guideFile };

function logOutcome(logger: Logger, event: MailEvent): void {
  if (event.type === 'sent') logger.info(event, 'A mail was sent.');
  else if (event.type === 'dropped')
    logger.warn('A mail was dropped because it was no longer relevant at its turn.');
  else {
    // Not logged, because mail servers like to repeat the address in it.
    const { type, errorClass } = event;
    logger.warn({ type, errorClass }, 'A mail could not be delivered. The outbox has the reason.');
  }
}
