// Since when a visitor waits for a code in their inbox, and no longer in ours.
import type { Code } from '#server/db/codes.ts';
import type { Db } from '#server/db/connect.ts';
import { findMailOfCode } from '#server/db/outbox.ts';

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
