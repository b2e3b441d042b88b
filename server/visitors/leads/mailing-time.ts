// When the mail with a code left our outbox, and whether it was delivered.
import type { Code } from '#server/db/tables/codes.ts';
import type { findMailOfCode } from '#server/db/tables/outbox.ts';
import type { MailFate } from '#shared/api.ts';

/** The mail that carries a code; undefined when its row is gone. */
type MailOfCode = Awaited<ReturnType<typeof findMailOfCode>>;

/** Mail that waits longer than this is late: it usually leaves within a second. */
const LATE_MS = 20_000;

/**
 * When the code was mailed: now, as long as its mail waits to be sent; when it was made, if the mail failed or its row is gone.
 * The countdown to a resend begins then.
 */
export function mailingTime(mail: MailOfCode, code: Pick<Code, 'created_at'>, now: number): number {
  if (mail?.state === 'queued') return now;
  return mail?.state === 'sent' ? (mail.finished_at ?? code.created_at) : code.created_at;
}

/** The state of the mail that carries a code, as its visitor may see it: never a mail server's own words. */
export function mailFate(mail: MailOfCode, now: number): MailFate {
  switch (mail?.state) {
    case 'sent':
      return 'sent';
    case 'failed':
      return 'refused';
    case 'queued':
      return mail.error_class !== null || now - mail.created_at >= LATE_MS ? 'delayed' : 'waiting';
    // Dropped, or its row is gone: the code has ended, and nothing is known.
    case 'dropped':
    case undefined:
      return 'waiting';
  }
}
