// The kinds of message that the outbox knows. Adding one: a file beside this one with its handler and the function that
// queues it, and a line here.
import type { Secrets } from '#server/access/secrets.ts';
import type { Db } from '#server/db/connect.ts';
import type { OutboxRow } from '#server/db/outbox.ts';
import type { Mail } from '#server/mail/mailer.ts';
import { codeKind } from '#server/outbox/code.ts';
import { noticeKind } from '#server/outbox/notice.ts';
import type { CodeEmail } from '#shared/campaign-schema.ts';

/** A message as it is handed over, and the way it takes. A kind that does not go by mail adds its way here. */
export type Message = { readonly way: 'mail'; readonly mail: Mail };

/** What messages are made of. */
export type KindParts = {
  readonly db: Db;
  readonly secrets: Secrets;
  readonly codeEmail: CodeEmail;
  readonly title: string;
  /** Of the words. */
  readonly language: string;
  readonly codeTtlSeconds: number;
};

export type Kind = {
  /** How long it may wait in the outbox; after that it is not worth sending. Milliseconds. */
  readonly mayWaitMs: (parts: KindParts) => number;
  /**
   * Makes the message when its turn comes, and again at each try.
   * @returns null when it is no longer relevant, and will not be again
   */
  readonly compose: (parts: KindParts, row: OutboxRow, now: number) => Promise<Message | null>;
};

const KINDS: Readonly<Record<string, Kind>> = {
  code: codeKind,
  notice: noticeKind,
};

/** The handler of a row; undefined when a newer release queued it, which will take it up. */
export const findKind = (name: string): Kind | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
