// The kinds of letter that the outbox knows. To add one: a file in templates/ with its handler and the function that queues it, and
// a line here.
import { noticeKind } from '#server/mail/templates/notice-mail.ts';
import { codeKind } from '#server/mail/templates/code-mail.ts';
import { deskCodeKind } from '#server/mail/templates/desk-code-mail.ts';
import { digestKind } from '#server/mail/templates/digest-mail.ts';
import { guideKind } from '#server/mail/templates/guide-mail.ts';
import type { LetterKind } from '#server/mail/templates/letter-kind.ts';
import { newLeadKind, newLeadsKind } from '#server/mail/templates/new-lead-mail.ts';

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
