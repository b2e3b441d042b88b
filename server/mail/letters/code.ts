// The mail that carries a code. Its row names the code (code_id) and holds nothing else: the digits are derived when the
// mail is made.
import { codeDigits, codeReference } from '#server/secrets/one-time-code.ts';
import { findCodeById, isLive, prolongCode } from '#server/db/tables/codes.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  queueMessage,
  type FirstLease,
  type OutboxRow,
  type PlaceInQueue,
} from '#server/db/tables/outbox.ts';
import { composeCodeEmail } from '#server/mail/letters/code-email.ts';
import type { Kind } from '#server/mail/letters/letter-kind.ts';

/** A code that is mailed later than this has its lifetime from then on. Sooner, nobody can tell the difference. */
const LATE_MS = 1_000;

/** Queues the e-mail that carries a code. */
export async function queueCodeMail(
  tx: Db,
  mail: {
    id: string;
    codeId: string;
    recipient: string;
    place: PlaceInQueue;
    lease: FirstLease | undefined;
    now: number;
  },
): Promise<OutboxRow> {
  return queueMessage(tx, { ...mail, kind: 'code', payload: {} });
}

export const codeKind: Kind = {
  mayWaitMs: ({ codeTtlSeconds }) => codeTtlSeconds * 1000,
  respectsSuppression: false,

  compose: async ({ db, secrets, codeEmail, title, language, codeTtlSeconds }, row, now) => {
    const code = row.code_id === null ? undefined : await findCodeById(db, row.code_id);
    if (code === undefined || !isLive(code, now)) return null;
    const lifeMs = codeTtlSeconds * 1000;
    const lateMs = now - code.created_at;
    // Before it is handed over, not after: whatever happens next, the mail says what is true. It is never handed over later
    // than a lifetime after its making, so a code lives for two at most.
    const expiresAt = Math.max(code.expires_at, lateMs > LATE_MS ? now + lifeMs : 0);
    if (expiresAt > code.expires_at) await prolongCode(db, code, { expiresAt, now });
    const validForMs = expiresAt - now;
    const key = { id: code.id, secretId: code.secret_id };
    const digits = codeDigits(secrets, key);
    if (digits === null) return null;
    const reference = codeReference(secrets, key);
    const words = composeCodeEmail(codeEmail, { digits, reference, validForMs, title, language });
    return { way: 'mail', mail: { id: row.id, to: row.recipient, ...words } };
  },
};
