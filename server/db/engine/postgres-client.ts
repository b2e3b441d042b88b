// One connection to PostgreSQL, as Kysely uses it: every statement ends in time for its caller, statements are prepared, a commit that
// was not replicated fails, and the outcome of writes is reported.
import type { PostgresPoolClient } from 'kysely';
import type { PoolClient } from 'pg';

import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { notInTime, READ_ONLY, within } from '#server/db/engine/postgres-server.ts';
import { errorCode } from '#server/platform/error-code.ts';

/** PostgreSQL ends a statement in time, except a commit that waits for its standby; a caller waits for that much longer. */
const GRACE_MS = 2_000;

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
  let unanswered: Promise<unknown> | null = null;
  let isSpent = false;

  const send = (text: string, values: readonly unknown[]) => {
    if (setsTimeoutItself && statementTimeoutMs > 0 && isBeginning(text))
      return client.query({ text: `${text}; set local statement_timeout = ${statementTimeoutMs}` });
    // A statement without values needs no plan: begin, commit, or what a migration does once.
    const name = values.length > 0 ? nameOf(text) : undefined;
    return client.query({ ...(name !== undefined && { name }), text, values: [...values] });
  };

  const query = async (text: string, values: readonly unknown[]) => {
    if (unanswered !== null) throw notInTime();
    transaction.onSend(text);
    const answer = send(text, values);
    try {
      const result = await (statementTimeoutMs > 0 && !transaction.isUnlimited()
        ? within(answer, statementTimeoutMs + GRACE_MS, () => {
            unanswered = answer;
          })
        : answer);
      replication.check();
      if (transaction.hasCommitted(text, result)) writes.succeeded();
      return result;
    } catch (error) {
      // A read that takes too long says nothing about writing.
      if (text === 'commit' || !isRead(text)) writes.failed(error);
      const code = errorCode(error) ?? '';
      isSpent ||= code === READ_ONLY || code.startsWith('57P');
      if (code === READ_ONLY) options.onStandby();
      throw error;
    }
  };

  const release = (discard?: Error | boolean) => {
    if (unanswered === null) client.release(discard || isSpent);
    else options.onStalled(unanswered);
  };
  return Object.assign(Object.create(client) as PostgresPoolClient, { query, release });
}

type Result = { readonly command?: string; readonly rowCount?: number | null };

/** Follows the statements of a connection: whether a transaction is open, has written, and has lifted its time limit. */
function followTransaction(): {
  readonly onSend: (text: string) => void;
  readonly isUnlimited: () => boolean;
  /** Whether a statement that succeeded has committed a change. */
  readonly hasCommitted: (text: string, result: Result) => boolean;
} {
  let isOpen = false;
  let isUnlimited = false;
  let hasWritten = false;
  return {
    onSend: (text) => {
      if (text === WITHOUT_TIME_LIMIT) isUnlimited = true;
      if (isEnd(text)) isUnlimited = false;
      if (isBeginning(text) || isEnd(text)) isOpen = isBeginning(text);
    },
    isUnlimited: () => isUnlimited,
    hasCommitted: (text, result) => {
      hasWritten ||= isWrite(result);
      const isCommitted = hasWritten && !isOpen && text !== 'rollback';
      if (!isOpen) hasWritten = false;
      return isCommitted;
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
