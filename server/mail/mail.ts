import type { Dirent } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';
import PostalMime from 'postal-mime';

import type { JobWorker } from '#server/jobs/worker.ts';
import { createMailer, type Mailer, senderAddress } from '#server/mail/mailer.ts';
import { type DeliveryParts, type MailEvent, startMailWorker } from '#server/mail/mail-worker.ts';
import { type BreakerReason, composeBreakerNotice, queueNotice } from '#server/mail/templates/notice-mail.ts';
import { bounceAddress } from '#server/secrets/mail-links.ts';
import { normaliseEmail } from '#shared/lead.ts';

export type OpenMail = Pick<Mailer, 'tryAccount' | 'messageIdOf'> & {
  readonly sender: string;
  /** Stores mail while no mail account is configured. The files are kept afterwards. */
  readonly folder: string;
  /** Call this after the commit. If this process has no worker, another process sends the mail. */
  readonly wake: () => void;
  readonly queueBreakerNotice: (reason: BreakerReason) => Promise<void>;
  readonly filesAbout: (email: string) => Promise<readonly string[]>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Call this after {@link stop}. */
  readonly close: () => void;
};

type MailParts = Omit<DeliveryParts, 'mailer' | 'onEvent'> & {
  readonly folder: string;
  readonly logger: Logger;
  readonly onFile: (mail: { readonly subject: string }, file: string) => void;
  readonly onOutcome: (event: MailEvent) => void;
};

/** @throws if the mail folder cannot be used */
export function openMail(parts: MailParts): OpenMail {
  const { config, campaign, secrets, database, folder, clock, logger, onFile, onOutcome } = parts;
  const { bounceDomain, operatorEmails } = config;
  const { title } = campaign.site;
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
      const notice = composeBreakerNotice(campaign.breakerEmail, { reason, title });
      await queueNotice(database.db, { recipients: operatorEmails, ...notice, now: clock() });
      wake();
    },
    filesAbout: (email) => emlFilesAbout(folder, email),
    start: () => {
      if (worker !== null) throw new Error('The mail worker of this service has already been started.');
      worker = startMailWorker({
        ...parts,
        mailer,
        onEvent: (event) => {
          logOutcome(logger, event);
          onOutcome(event);
        },
        onError: (error) => logger.error({ err: error }, 'The mail worker failed and will retry.'),
      });
    },
    stop: async () => worker?.stop(),
    close: mailer.close,
  };
}

function logOutcome(logger: Logger, event: MailEvent): void {
  if (event.type === 'sent') logger.info(event, 'An e-mail was sent.');
  else if (event.type === 'dropped') logger.warn('An e-mail was dropped because it was no longer needed.');
  else logger.warn(event, 'An e-mail could not be delivered. The reason is stored in the outbox.');
}

/** Finds mails that were sent to an e-mail address or mention it. The folder need not exist. */
async function emlFilesAbout(folder: string, email: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(noneIfMissing)) {
    const { name } = entry;
    if (!name.endsWith('.eml') || !entry.isFile()) continue;
    const file = path.join(folder, name);
    const mail = await PostalMime.parse(await readFile(file));
    const recipients = (mail.to ?? []).map(({ address }) => address ?? '');
    const words = [mail.subject, mail.text, mail.html].join('\n').split(BETWEEN_WORDS);
    if ([...recipients, ...words].some((word) => normaliseEmail(word) === email)) found.push(file);
  }
  return found;
}

const BETWEEN_WORDS = /[\s<>()[\]:;,"]+/;

const noneIfMissing = (error: NodeJS.ErrnoException): readonly Dirent[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};
