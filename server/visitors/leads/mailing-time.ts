// Since when a visitor waits for a code in their inbox, and no longer in ours; and what became of its mail.
import type { Code } from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { findMailOfCode } from '#server/db/tables/outbox.ts';
import type { MailFate } from '#shared/api.ts';

/** Mail that waits for so long is late, whatever the reason: it usually leaves within a second. */
const LATE_MS = 20_000;

/**
 * When the code was mailed: now, as long as its mail waits to be sent; when it was made, if that came to nothing or nobody
 * remembers. Resending, and the countdown to it, begin then.
 */
export async function mailingTime(
  db: Db,
  code: Pick<Code, 'id' | 'created_at'>,
  now: number,
): Promise<number> {
  const mail = await findMailOfCode(db, code.id);
  if (mail?.state === 'queued') return now;
  return mail?.state === 'sent' ? (mail.finished_at ?? code.created_at) : code.created_at;
}

/** What became of the mail that carries a code, as far as whoever waits for it may know: never a mail server's own words. */
export async function mailFate(db: Db, code: Pick<Code, 'id'>, now: number): Promise<MailFate> {
  const mail = await findMailOfCode(db, code.id);
  switch (mail?.state) {
    case 'sent':
      return 'sent';
    case 'failed':
      return 'refused';
    case 'queued':
      return mail.error_class !== null || now - mail.created_at >= LATE_MS ? 'delayed' : 'waiting';
    // Dropped, or no longer remembered: its code has ended, and nothing can be said.
    case 'dropped':
    case undefined:
      return 'waiting';
  }
}
