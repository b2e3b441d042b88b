// What an error of the database means: that it is away for now, or that we made a mistake.

// PostgreSQL's classes for "not now" (57P0x: shutting down or starting, 53xxx: no room, 08xxx: connection lost,
// 55P03 and 57014: a wait was cut short, 40xxx: given up for another), the ways a socket fails, and SQLite's busy, full, read-only and I/O errors.
const POSTGRES_OUTAGE = /^(57P0\d|53\d{3}|08\d{3}|55P03|57014|25006|40001|40P01)$/;
const SOCKET_OUTAGE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;
const CONNECTION_OUTAGE =
  /connection (terminated|timeout)|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error/i;
const SQLITE_OUTAGE = new Set([5, 6, 8, 10, 13, 14]);

/** Whether the database could not be used just now, as opposed to used wrongly. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (POSTGRES_OUTAGE.test(code) || SOCKET_OUTAGE.test(code) || CONNECTION_OUTAGE.test(error.message))
    return true;
  // node:sqlite puts SQLite's extended result code into errcode; its low byte is the primary one.
  return 'errcode' in error && typeof error.errcode === 'number' && SQLITE_OUTAGE.has(error.errcode & 0xff);
}
