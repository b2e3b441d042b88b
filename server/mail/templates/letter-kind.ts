// What every kind of letter has: how long it may wait, whom it may go to, and how it is composed.
import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { MailJob } from '#server/jobs/mail-jobs.ts';
import type { Mail } from '#server/mail/mailer.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { CodeEmail, GuideEmail, NewLeadEmail } from '#shared/campaign-schema.ts';

/** A mail without what its row of the outbox says: id, recipient and kind. */
export type Letter = Omit<Mail, 'id' | 'to' | 'kind'>;

/** What letters are made of. */
export type LetterParts = {
  readonly db: Db;
  readonly engine: OpenDatabase['engine'];
  readonly secrets: Secrets;
  readonly codeEmail: CodeEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly title: string;
  /** Of the words. */
  readonly language: string;
  /** The colour of a button, as #rrggbb; white can be read on it. */
  readonly accent: string;
  /** Where the sender can be written to; it stands in each mail that advertises. */
  readonly postalAddress: string | undefined;
  readonly codeTtlSeconds: number;
  /** Origin of the public page. */
  readonly publicUrl: string;
  /** The mail that follows the code; null when the operator wants none. */
  readonly guide: GuideMail | null;
};

/** The mail that follows the code. */
export type GuideMail = {
  readonly words: GuideEmail;
  /** The file that goes with it; null when it holds a link. */
  readonly attachment: string | null;
};

export type LetterKind = {
  /** How long it is worth sending, in milliseconds from its queuing. */
  readonly mayWaitMs: (parts: LetterParts) => number;
  /** False only for a letter that its reader asked for a moment ago, and for one to the operator. */
  readonly respectsSuppression: boolean;
  /**
   * Composes the letter when its turn comes, and again at each try.
   * @param now milliseconds since 1970
   * @returns null when it is no longer relevant, and will not be again
   */
  readonly compose: (parts: LetterParts, mail: MailJob, now: number) => Promise<Letter | null>;
};
