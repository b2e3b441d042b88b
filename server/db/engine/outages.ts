// Says which errors are outages. http/errors.ts then responds with 503, and the pool in postgres.ts connects again.
import { errorCode } from '#server/platform/system-errors.ts';

// PostgreSQL's codes: 57P0x shutting down or starting, 53xxx no resources, 08xxx connection lost, 55P03 and 57014 timeouts,
// 25006 read-only, 40xxx rolled back by a conflict.
const POSTGRES_OUTAGE = /^(57P0\d|53\d{3}|08\w{3}|55P03|57014|25006|40001|40P01)$/;
const SOCKET_OUTAGE = /^(ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const CONNECTION_OUTAGE =
  /connection (terminated|timeout)|timeout exceeded when trying to connect|timeout expired|client has encountered a connection error/i;
// SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN.
const SQLITE_OUTAGE = new Set([5, 6, 8, 10, 13, 14]);

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true;
  // Any failure to connect, such as ENOENT, because a stopped PostgreSQL removes its local socket.
  if ('syscall' in error && error.syscall === 'connect') return true;
  const code = errorCode(error) ?? '';
  if (POSTGRES_OUTAGE.test(code) || SOCKET_OUTAGE.test(code) || CONNECTION_OUTAGE.test(error.message))
    return true;
  return SQLITE_OUTAGE.has(sqliteCode(error) ?? 0);
}

/** The primary result code, which is the low byte of the extended one. */
export const sqliteCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : null;

export type WriteFault = 'full' | 'read-only' | 'disk fails' | 'damaged' | 'locked' | 'late';

const SQLITE_FAULTS: Readonly<Record<number, WriteFault>> = {
  5: 'locked',
  8: 'read-only',
  10: 'disk fails',
  11: 'damaged',
  13: 'full',
  14: 'disk fails',
  26: 'damaged',
};
const POSTGRES_FAULTS: Readonly<Record<string, WriteFault>> = {
  '25006': 'read-only',
  '53100': 'full',
  '57014': 'late',
  '58030': 'disk fails',
  ETIMEDOUT: 'late',
  XX001: 'damaged',
  XX002: 'damaged',
};

export function writeFaultOf(error: unknown): WriteFault | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError)
    return error.errors.map(writeFaultOf).find((fault) => fault !== null) ?? null;
  const code = sqliteCode(error);
  if (code !== null) return SQLITE_FAULTS[code] ?? null;
  return POSTGRES_FAULTS[errorCode(error) ?? ''] ?? null;
}

export const SQLITE_BUSY = 5;
export const SQLITE_IOERR = 10;
export const SQLITE_CANTOPEN = 14;

export const isBusy = (error: unknown): boolean => sqliteCode(error) === SQLITE_BUSY;

export const sqliteError = (errcode: number, message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });

/** On a full disk, a small write may still succeed, so one success doesn't clear the fault. */
const FULL_FOR_MS = 60_000;

export type WriteMonitor = {
  /** Call this after each commit with a write. */
  readonly succeeded: () => void;
  readonly failed: (error: unknown) => void;
  readonly fault: () => WriteFault | null;
};

export function createWriteMonitor(clock: () => number): WriteMonitor {
  let last: { readonly fault: WriteFault; readonly at: number; isOver: boolean } | null = null;
  return {
    succeeded: () => {
      if (last !== null) last.isOver = true;
    },
    failed: (error) => {
      const fault = writeFaultOf(error);
      if (fault !== null) last = { fault, at: clock(), isOver: false };
    },
    fault: () => {
      // Setting the clock back must not prolong the fault.
      if (last?.isOver && (last.fault !== 'full' || Math.abs(clock() - last.at) >= FULL_FOR_MS)) last = null;
      return last?.fault ?? null;
    },
  };
}
