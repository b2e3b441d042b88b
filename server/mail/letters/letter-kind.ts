// What every kind of letter in this room is: how long it may wait, whom it may go to, and how it is composed.
import type { Db } from '#server/db/engine/connect.ts';
import type { OutboxRow } from '#server/db/tables/outbox.ts';
import type { Mail } from '#server/mail/mailer.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
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
