// The kinds of message that the outbox knows. Adding one: a file beside this one with its handler and the function that
// queues it, and a line here.
import { codeKind } from '#server/mail/letters/code.ts';
import { digestKind } from '#server/mail/letters/digest.ts';
import { guideKind } from '#server/mail/letters/guide.ts';
import { newLeadKind, newLeadsKind } from '#server/mail/letters/new-lead.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';
import { noticeKind } from '#server/mail/letters/notice.ts';

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
