// The kinds of message that the outbox knows. Adding one: a file beside this one with its handler and the function that
// queues it, and a line here.
import type { Secrets } from '#server/access/secrets.ts';
import type { Db } from '#server/db/connect.ts';
import type { OutboxRow } from '#server/db/outbox.ts';
import type { Mail } from '#server/mail/mailer.ts';
import { codeKind } from '#server/outbox/code.ts';
import { digestKind } from '#server/outbox/digest.ts';
import { guideKind } from '#server/outbox/guide.ts';
import { newLeadKind, newLeadsKind } from '#server/outbox/new-lead.ts';
import { noticeKind } from '#server/outbox/notice.ts';
import type { CodeEmail, GuideEmail, NewLeadEmail } from '#shared/campaign-schema.ts';

/** A message as it is handed over, and the way it takes. A kind that does not go by mail adds its way here. */
export type Message = { readonly way: 'mail'; readonly mail: Mail };

/** What messages are made of. */
export type KindParts = {
  readonly db: Db;
  readonly secrets: Secrets;
  readonly codeEmail: CodeEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly title: string;
  /** Of the words. */
  readonly language: string;
  readonly codeTtlSeconds: number;
  /** Origin of the public page. */
  readonly publicUrl: string;
  /** What follows the code; null: nothing. */
  readonly guide: GuideMail | null;
};

/** The mail that follows the code. */
export type GuideMail = {
  readonly words: GuideEmail;
  /** The file that goes with it; null when it holds a link. */
  readonly attachment: string | null;
};

export type Kind = {
  /** How long it may wait in the outbox; after that it is not worth sending. Milliseconds. */
  readonly mayWaitMs: (parts: KindParts) => number;
  /** False only for what its reader asked for a moment ago, and for what goes to the operator. */
  readonly respectsSuppression: boolean;
  /**
   * Makes the message when its turn comes, and again at each try.
   * @returns null when it is no longer relevant, and will not be again
   */
  readonly compose: (parts: KindParts, row: OutboxRow, now: number) => Promise<Message | null>;
};

const KINDS: Readonly<Record<string, Kind>> = {
  code: codeKind,
  guide: guideKind,
  notice: noticeKind,
  'new-lead': newLeadKind,
  'new-leads': newLeadsKind,
  digest: digestKind,
};

/** The handler of a row; undefined when a newer release queued it, which will take it up. */
export const findKind = (name: string): Kind | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
