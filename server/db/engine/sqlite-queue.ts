// The queue for the one SQLite handle. A statement that finds the file locked by another process is tried again outside the event loop's
// way, and those that only read go past it.
import type { DatabaseConnection, QueryResult } from 'kysely';

import { SQLITE_BUSY, sqliteError, type Statement } from '#server/db/engine/sqlite-handle.ts';

/** Between two tries at a locked file: another process's commit takes a few milliseconds. */
const TRY_EVERY_MS = 5;
const JITTER_MS = 10;

/** How long to wait before the next try. Milliseconds. */
export const untilNextTry = (): number => TRY_EVERY_MS + Math.random() * JITTER_MS;

/** A transaction that begins, a statement on its own that may write, or one that only reads. */
type Purpose = 'begin' | 'write' | 'read';

export type Turn = {
  readonly connection: DatabaseConnection;
  readonly purpose: Purpose;
  readonly statement: Statement;
  readonly resolve: (result: QueryResult<unknown>) => void;
  readonly reject: (error: unknown) => void;
};

export type Turns = {
  /** Queues a statement up, or takes its turn at once. */
  readonly ask: (
    connection: DatabaseConnection,
    purpose: Purpose,
    statement: Statement,
  ) => Promise<QueryResult<unknown>>;
  /** To be called when the handle may be free. */
  readonly give: () => void;
};

export function createTurns({
  patienceMs,
  isFree,
  take,
  onLocked,
  onIdle,
}: {
  /** How long a statement may wait for its turn. Milliseconds. */
  readonly patienceMs: number;
  readonly isFree: () => boolean;
  /** Takes a turn. @returns false when the file is locked: the turn is tried again */
  readonly take: (turn: Turn) => boolean;
  /** Called when a write was given up because another process has locked the file. */
  readonly onLocked: (error: unknown) => void;
  /** Called when the handle is free and no turn waits. */
  readonly onIdle: () => void;
}): Turns {
  /** Wait for the handle, in order. */
  let waiting: Turn[] = [];
  /** Found the file locked. The first is tried again; once it gets through, the next one is. */
  let blocked: Turn[] = [];
  let nextTry: NodeJS.Timeout | null = null;
  const timers = new WeakMap<Turn, NodeJS.Timeout>();

  const isTaken = (turn: Turn): boolean => {
    const taken = take(turn);
    if (taken) clearTimeout(timers.get(turn));
    return taken;
  };

  const tryAgainSoon = (): void => {
    nextTry ??= setTimeout(() => {
      nextTry = null;
      give();
    }, untilNextTry());
  };

  const give = (): void => {
    while (isFree() && nextTry === null) {
      const [first] = blocked;
      if (first === undefined) break;
      if (isTaken(first)) blocked.shift();
      else tryAgainSoon();
    }
    while (isFree()) {
      const turn = waiting.shift();
      if (turn === undefined) break;
      // A write goes behind the writes that are blocked already; a read is not held up by them.
      const isBehind = turn.purpose !== 'read' && blocked.length > 0;
      if (isBehind || !isTaken(turn)) {
        blocked.push(turn);
        tryAgainSoon();
      }
    }
    if (isFree() && waiting.length === 0 && blocked.length === 0) onIdle();
  };

  const giveUp = (turn: Turn): void => {
    const error = sqliteError(SQLITE_BUSY, 'The database was locked for too long.');
    // Without a blocked turn it has waited for our own transactions.
    if (turn.purpose !== 'read' && blocked.length > 0) onLocked(error);
    waiting = waiting.filter((other) => other !== turn);
    blocked = blocked.filter((other) => other !== turn);
    turn.reject(error);
    give();
  };

  return {
    give,
    ask: (connection, purpose, statement) =>
      new Promise((resolve, reject) => {
        const turn: Turn = { connection, purpose, statement, resolve, reject };
        waiting.push(turn);
        give();
        if (waiting.includes(turn) || blocked.includes(turn))
          timers.set(turn, setTimeout(giveUp, patienceMs, turn));
      }),
  };
}
