// The kinds of letter that the outbox knows. To add one: a file in letters/ with its handler and the function that queues it, and
// a line here.
import { noticeKind } from '#server/mail/letters/notice-mail.ts';
import { codeKind } from '#server/mail/letters/code-mail.ts';
import { deskCodeKind } from '#server/mail/letters/desk-code-mail.ts';
import { digestKind } from '#server/mail/letters/digest-mail.ts';
import { guideKind } from '#server/mail/letters/guide-mail.ts';
import type { LetterKind } from '#server/mail/letters/letter-kind.ts';
import { newLeadKind, newLeadsKind } from '#server/mail/letters/new-lead-mail.ts';

const KINDS: Readonly<Record<string, LetterKind>> = {
  code: codeKind,
  guide: guideKind,
  notice: noticeKind,
  'new-lead': newLeadKind,
  'new-leads': newLeadsKind,
  digest: digestKind,
  'desk-code': deskCodeKind,
};

/** The handler of a row; undefined when a newer release queued it, which will take it up. */
export const findLetterKind = (name: string): LetterKind | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
