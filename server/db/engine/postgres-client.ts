// One connection to PostgreSQL, as Kysely uses it: every statement ends in time for its caller, statements are prepared, a commit that
// was not replicated fails, and the outcome of writes is reported.
import type { PostgresPoolClient } from 'kysely';
import type { PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { notInTime, READ_ONLY, socketOf, within } from '#server/db/engine/postgres-server.ts';
import { errorCode } from '#server/platform/error-code.ts';

/** PostgreSQL ends a statement in time, except a commit that waits for its standby; a caller waits for that much longer. */
const GRACE_MS = 2_000;

/** PostgreSQL's code for a statement behind one that failed, in the same transaction. */
const IN_FAILED_TRANSACTION = '25P02';

/** A connection is not used again that a shutdown has reached, whose server takes no writes, or that lost a prepared statement. */
const SPENT = /^(57P\d\d|25006|26000)$/;

/** Run inside a transaction, lifts the time limit of its statements. */
export const WITHOUT_TIME_LIMIT = "select set_config('statement_timeout', '0', true)";

export type ClientOptions = {
  /** How long PostgreSQL may take for a statement; 0: no limit. Milliseconds. */
  readonly statementTimeoutMs: number;
  /** Whether each transaction sets the limit itself: in a pooler's session it would stay for the next client. */
  readonly setsTimeoutItself: boolean;
  /** Returns the name under which a statement is prepared; undefined: it is planned each time. */
  readonly nameOf: (text: string) => string | undefined;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
  /** Called when the server turns out to be a standby now. */
  readonly onStandby: () => void;
  /** Called in place of a release when a statement has not ended in time. */
  readonly onStalled: (answer: Promise<unknown>) => void;
};

export function wrapClient(client: PoolClient, options: ClientOptions): PostgresPoolClient {
  const { statementTimeoutMs, setsTimeoutItself, nameOf, writes } = options;
  const transaction = followTransaction();
  const replication = watchReplication(client);
  /** Sent, and not answered yet. */
  const inHand = new Set<Promise<unknown>>();
  /** The statement that was sent last; fulfilled when it is over, however it ended. */
  let inFront: Promise<unknown> = Promise.resolve();
  let isStalled = false;
  let isSpent = false;

  let isGathering = false;
  /** Statements that are begun in one turn of the event loop leave in one packet. Writing each on its own took a third of the time. */
  const gather = () => {
    if (isGathering) return;
    isGathering = true;
    const socket = socketOf(client);
    socket.cork();
    process.nextTick(() => {
      isGathering = false;
      socket.uncork();
    });
  };

  const send = (text: string, values: readonly unknown[]) => {
    gather();
    if (setsTimeoutItself && statementTimeoutMs > 0 && isBeginning(text))
      return client.query({ text: `${text}; set local statement_timeout = ${statementTimeoutMs}` });
    // A statement without values needs no plan: begin, commit, or what a migration does once.
    const name = values.length > 0 ? nameOf(text) : undefined;
    return client.query({ ...(name !== undefined && { name }), text, values: [...values] });
  };

  const query = async (text: string, values: readonly unknown[]) => {
    if (isStalled) throw notInTime();
    transaction.send(text);
    const answer = send(text, values);
    inHand.add(answer);
    const timed = inTime(answer);
    inFront = timed.catch(() => {});
    try {
      const result = await timed;
      inHand.delete(answer);
      // What it was sent together with was replicated with the commit.
      if (transaction.isOverAfter(text)) replication.check();
      if (transaction.answered(text, result)) writes.succeeded();
      return result;
    } catch (thrown) {
      if (!isStalled) inHand.delete(answer);
      const code = errorCode(thrown) ?? '';
      // A read that takes too long says nothing about writing, and neither does what came to nothing behind it.
      if (code !== IN_FAILED_TRANSACTION && !(thrown instanceof RolledBack) && !isRead(text))
        writes.failed(thrown);
      isSpent ||= SPENT.test(code);
      if (code === READ_ONLY) options.onStandby();
      throw transaction.failed(text, thrown);
    }
  };

  /** The answer to a statement, in time from when the one in front of it was answered, as PostgreSQL counts. */
  const inTime = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    if (statementTimeoutMs === 0 || transaction.isUnlimited()) return answer;
    answer.catch(() => {});
    await inFront;
    if (isStalled) throw notInTime();
    return within(answer, statementTimeoutMs + GRACE_MS, () => {
      isStalled = true;
    });
  };

  const release = (discard?: Error | boolean) => {
    if (isStalled) options.onStalled(Promise.allSettled(inHand));
    else client.release(discard || isSpent);
  };
  return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
}

type Result = { readonly command?: string; readonly rowCount?: number | null };

/** What a commit throws that rolled back. */
class RolledBack extends Error {}

/**
 * Follows the statements of a connection: whether a transaction is open, has written, has failed, and has lifted its time limit.
 * Statements are sent before those in front of them are answered; the answers come in the same order.
 */
function followTransaction(): {
  /** To be called before a statement is sent. Throws when its transaction's commit was. */
  readonly send: (text: string) => void;
  readonly isUnlimited: () => boolean;
  /** Whether no transaction is open once this statement is answered. */
  readonly isOverAfter: (text: string) => boolean;
  /**
   * Takes the answer to a statement. Throws when it is a commit that rolled back.
   * @returns whether it has committed a change
   */
  readonly answered: (text: string, result: Result) => boolean;
  /** Takes what a statement threw. @returns what failed first, of which PostgreSQL says nothing to the statements behind it */
  readonly failed: (text: string, thrown: unknown) => unknown;
} {
  let isEnding = false;
  let isOpen = false;
  let isUnlimited = false;
  let hasWritten = false;
  let failure: { readonly cause: unknown } | null = null;
  return {
    send: (text) => {
      if (isEnding) throw new Error(`A statement came after the commit of its transaction: ${text}`);
      if (text === WITHOUT_TIME_LIMIT) isUnlimited = true;
      if (isEnd(text)) {
        isUnlimited = false;
        isEnding = true;
      }
    },
    isUnlimited: () => isUnlimited,
    isOverAfter: (text) => isEnd(text) || (!isOpen && !isBeginning(text)),
    answered: (text, result) => {
      if (text === 'commit' && result.command === 'ROLLBACK') throw new RolledBack();
      if (isBeginning(text)) {
        isOpen = true;
        failure = null;
      } else if (isEnd(text)) {
        isEnding = false;
        isOpen = false;
        failure = null;
      }
      hasWritten ||= isWrite(result);
      const isCommitted = hasWritten && !isOpen && text !== 'rollback';
      if (!isOpen) hasWritten = false;
      return isCommitted;
    },
    failed: (text, thrown) => {
      if (isEnd(text)) isEnding = false;
      const isBehind = thrown instanceof RolledBack || errorCode(thrown) === IN_FAILED_TRANSACTION;
      if (isBehind && failure !== null) return failure.cause;
      // A beginning that fails leaves the statements behind it without a transaction.
      if (isOpen || isBeginning(text)) failure ??= { cause: thrown };
      return thrown;
    },
  };
}

/** Makes a commit fail whose wait for the synchronous standby was cancelled: PostgreSQL only sends a notice then. */
function watchReplication(client: PoolClient): { readonly check: () => void } {
  let isUnreplicated = false;
  client.on('notice', ({ routine }) => {
    if (routine === 'SyncRepWaitForLSN') isUnreplicated = true;
  });
  return {
    check: () => {
      if (!isUnreplicated) return;
      isUnreplicated = false;
      throw Object.assign(new Error('The commit was not replicated.'), { code: '57014' });
    },
  };
}

const isBeginning = (text: string): boolean => /^(begin|start transaction)\b/.test(text);
const isEnd = (text: string): boolean => /^(commit|rollback)$/.test(text);
const isRead = (text: string): boolean => /^\s*select\b/i.test(text);

const isWrite = ({ command, rowCount }: Result): boolean =>
  /^(INSERT|UPDATE|DELETE|MERGE)$/.test(command ?? '') && (rowCount ?? 0) > 0;
