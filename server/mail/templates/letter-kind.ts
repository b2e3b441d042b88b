import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { MailJob } from '#server/jobs/mail-jobs.ts';
import type { Mail } from '#server/mail/mailer.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import type { CodeEmail, GuideEmail, NewLeadEmail } from '#shared/campaign-schema.ts';

export type Letter = Omit<Mail, 'id' | 'to' | 'kind'>;

export type LetterParts = {
  readonly db: Db;
  readonly engine: OpenDatabase['engine'];
  readonly secrets: Secrets;
  readonly codeEmail: CodeEmail;
  readonly newLeadEmail: NewLeadEmail;
  readonly title: string;
  readonly language: string;
  /** Button colour, #rrggbb; dark enough for white text. */
  readonly accent: string;
  /** For mail that advertises. */
  readonly postalAddress: string | undefined;
  readonly codeTtlSeconds: number;
  readonly publicUrl: string;
  /** Null if disabled. */
  readonly guide: GuideMail | null;
};

export type GuideMail = {
  readonly words: GuideEmail;
  /** Null if the mail has a link. */
  readonly attachment: string | null;
};

export type LetterKind = {
  /** Milliseconds from its queueing. */
  readonly mayWaitMs: (parts: LetterParts) => number;
  /** False for a letter its reader just requested, and for the operator's. */
  readonly respectsSuppression: boolean;
  /**
   * At each attempt.
   * @param now milliseconds since 1970
   * @returns null if it is permanently irrelevant
   */
  readonly compose: (parts: LetterParts, mail: MailJob, now: number) => Promise<Letter | null>;
};
