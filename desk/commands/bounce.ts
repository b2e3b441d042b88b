import { randomUUIDv7 } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import path from 'node:path';

import type { Command } from '@commander-js/extra-typings';

import { jsonText } from '#desk/commands/print.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import type { Desk } from '#desk/commands/command.ts';
import { examples, JSON_OPTION } from '#desk/commands/help.ts';
import { explainWriteErrors } from '#desk/commands/output-file.ts';
import { printable } from '#desk/printable.ts';
import { errorCode } from '#server/platform/system-errors.ts';
import { messagesOf } from '#server/bounces/read-message.ts';
import { acceptMessage, type MessageOutcome } from '#server/bounces/accept-report.ts';

const DONE_FOLDER = 'done';

type MessageSource = {
  readonly name: string;
  readonly read: () => AsyncIterable<Uint8Array>;
  readonly moveToDone: () => Promise<void>;
};

export function addBounce(program: Command, desk: Desk): void {
  program
    .command('bounce')
    .description('read bounces and spam complaints, and suppress the addresses')
    .option(
      '--folder <folder>',
      `Maildir or folder of .eml files; moves processed messages to ${DONE_FOLDER}/ in that folder; default: standard input`,
    )
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
Reads bounces (RFC 3464) and spam complaints (RFC 5965), also from mbox files, but only the first MiB of each message.
A report only counts if it names an e-mail from this site and its recipient, and is newer than the last verification.
Only a nonexistent address or a complaint of type "abuse" suppresses an address. Repeated reports change nothing.
Exit code 1: a message or the database could not be read. In a mail server's pipe, add: || exit 75
${examples('bounce < message', 'bounce --folder /var/mail/guide/Maildir')}`,
    )
    .action(async ({ folder, json }) => {
      const sources = folder === undefined ? [standardInput(desk)] : await sourcesIn(folder);
      const { database, secrets, webhooks, clock } = await desk.service();
      const parts = { database, secrets, webhooks };
      const messages: ({ readonly message: string } & MessageOutcome)[] = [];
      for (const { name, read, moveToDone } of sources) {
        let number = 0;
        for await (const raw of read()) {
          desk.signal.throwIfAborted();
          const outcome = await acceptMessage(parts, raw, clock());
          number += 1;
          const message = number === 1 ? name : `${name} (${number})`;
          messages.push({ message, ...outcome });
          desk.note(printable(`${message}: ${describeOutcome(outcome)}`));
          desk.progress(`${messages.length} messages …`);
        }
        await moveToDone();
      }
      if (json) await desk.print(jsonText({ messages }));
      if (sources.length === 0) desk.note('No messages found.');
    });
}

function describeOutcome(outcome: MessageOutcome): string {
  switch (outcome.type) {
    case 'no report':
      return 'this is neither a bounce nor a spam complaint. Nothing was changed.';
    case 'unreadable report':
      return `this bounce from ${outcome.program} has no machine-readable part. Nothing was changed. If the bounce says that an address does not exist, run suppress add ADDRESS --reason bounced.`;
    case 'not ours':
      return 'the e-mail named in this report was not sent by this site or is no longer stored. Nothing was changed.';
    case 'another address':
      return `this report is about an address other than ${outcome.email}, the recipient of the e-mail. Nothing was changed.`;
    case 'nothing to do':
      return `${outcome.email}: ${outcome.why}. Nothing was changed.`;
    case 'suppressed':
      return outcome.reason === 'bounced'
        ? `${outcome.email} does not exist and is now suppressed.`
        : `${outcome.email} complained and is now suppressed.`;
    case 'already':
      return `${outcome.email} is already suppressed. Nothing was changed.`;
    case 'outdated':
      return `${outcome.email} was verified after this e-mail was sent. Nothing was changed.`;
    case 'unknown':
      return 'this report is about a person whose data was deleted. Nothing was changed.';
  }
}

function standardInput({ input }: Desk): MessageSource {
  const stream = input?.() ?? null;
  if (stream === null) throw new CommandFailure('Use --folder, or pipe in a message: bounce < message', 2);
  return {
    name: 'message',
    read: () => messagesOf(stream),
    moveToDone: async () => {},
  };
}

async function sourcesIn(folder: string): Promise<MessageSource[]> {
  const names = await filesIn(folder);
  if (names === null)
    throw new CommandFailure(`${folder} is not a readable folder. Name a folder that contains messages.`);
  const inMaildir = await Promise.all(
    ['new', 'cur'].map(async (part) =>
      ((await filesIn(path.join(folder, part))) ?? []).map((name) => path.join(part, name)),
    ),
  );
  const found = [...names.filter((name) => /\.eml$/i.test(name)), ...inMaildir.flat()];
  const done = path.join(folder, DONE_FOLDER);
  return found.toSorted().map((name) => ({
    name,
    read: () => messagesInFile(path.join(folder, name)),
    moveToDone: async () => {
      await explainWriteErrors(done, () => mkdir(done, { recursive: true, mode: 0o700 }));
      // Names of .eml files may repeat.
      const kept = path.join(done, `${randomUUIDv7()}-${path.basename(name)}`);
      await explainWriteErrors(done, () =>
        rename(path.join(folder, name), kept).catch((error: unknown) => {
          if (!isMissing(error)) throw error;
        }),
      );
    },
  }));
}

async function filesIn(folder: string): Promise<string[] | null> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).map(({ name }) => name);
  } catch {
    return null;
  }
}

async function* messagesInFile(file: string): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* messagesOf(createReadStream(file));
  } catch (error) {
    if (isMissing(error)) return;
    throw new CommandFailure(`This user may not read ${file}. Grant the user read permission.`);
  }
}

/** Another run, or a mail program, has moved the message. */
const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT';
