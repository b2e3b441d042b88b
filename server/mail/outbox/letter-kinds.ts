// To add a kind of letter: a file in templates/ with its handler and queueing function, and a line here.
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

/** @returns undefined if only a newer release knows the kind */
export const findLetterKind = (name: string): LetterKind | undefined =>
  Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
