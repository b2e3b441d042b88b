// The page's mail: what sends it, the outbox it waits in, and the worker that takes it from there. The functions in templates/ queue
// it. run/ opens the page's mail; nothing is sent until it is started.
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
import { bounceAddress } from '#server/secrets/bounce-address.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { Config } from '#server/settings/settings.ts';
import { ACCENT } from '#shared/colours.ts';

export type OpenMail = Pick<Mailer, 'tryAccount' | 'messageIdOf'> & {
  /** The address that our mail comes from. */
  readonly sender: string;
  /** Mail is written there while there is no mail account. It stays there when there is one. */
  readonly folder: string;
  /** Wakes the worker after the commit that added a mail. Without a worker here, the one of another process sends it. */
  readonly wake: () => void;
  /** Queues a notice to the operator, if there is an address for it, that the breaker opened. */
  readonly queueBreakerNotice: (reason: BreakerReason) => Promise<void>;
  /** Finds the files in {@link folder} that go to an address or name it. */
  readonly filesAbout: (email: string) => Promise<readonly string[]>;
  /** Deletes them, as many of them as it can. */
  readonly deleteFilesAbout: (email: string) => Promise<DeletedFiles>;
  /** Starts sending the outbox. Call it once. */
  readonly start: () => void;
  /** Ends sending after the mail in hand. */
  readonly stop: () => Promise<void>;
  /** Closes the connections to the mail server. Call it after {@link stop}. */
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
  /** Called for each mail that is written into the folder. */
  readonly onFile: (mail: { readonly subject: string }, file: string) => void;
  /** Called in the transaction that suppresses a lead's address because it does not exist. */
  readonly onLeadBounced: DeliveryParts['onLeadBounced'];
  /** Takes the outcome of each try to send a mail, after the log. */
  readonly onOutcome: (event: MailEvent) => void;
};

/** Opens the page's mail. Throws when the folder for it cannot be used. */
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
    logger.warn('A mail was dropped: what it was for was over before its turn.');
  else {
    // The reason stays in the outbox: mail servers like to repeat the address in it.
    const { type, errorClass } = event;
    logger.warn({ type, errorClass }, 'A mail could not be delivered. The outbox has the reason.');
  }
}
