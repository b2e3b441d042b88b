// Transactions that arrive together share one commit, because a commit waits for the disk: 353 flows a second instead of 222
// (docs/decisions/0017-shared-commits.md). Each member but the first is a savepoint and can fail alone. None reports success before
// the commit.
import type { LastWrites } from '#server/db/engine/last-writes.ts';
import { isBusy, SQLITE_CANTOPEN, sqliteError, type Handle } from '#server/db/engine/sqlite-handle.ts';
import { untilNextTry } from '#server/db/engine/sqlite-queue.ts';

/** A commit waits no longer than this for others to share it. Milliseconds. */
const GATHER_MS = 8;
/** A group of several commits after this many turns of the event loop without a new member. */
const QUIET_TURNS = 6;

type Settlement = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

type Group = {
  /** Members that have ended well, and readers of what is not committed yet. */
  readonly waiting: Settlement[];
  /** When a commit that meets a lock gives up; milliseconds since 1970. */
  readonly deadline: number;
  /** Of the handle, when the group began. */
  readonly changesBefore: unknown;
  /** One of its statements has failed: a commit of the rest says nothing about the database. */
  hasFailed: boolean;
  /** The first member is under way. There is no other to spare its failure, so it needs no savepoint. */
  isFirstUnderWay: boolean;
};

export type SharedCommit = {
  readonly isOpen: () => boolean;
  /** Begins a group. Throws SQLite's error when the file is locked, or when it was deleted. */
  readonly open: () => void;
  readonly beginMember: (isFirst: boolean) => void;
  /** Ends a member that went well; it is settled with the commit. Throws when the group was given up. */
  readonly endMember: (settlement: Settlement) => void;
  readonly rollBackMember: () => void;
  /** Adds a statement on its own, or a read, to the members that wait for the commit. */
  readonly join: (settlement: Settlement) => void;
  /** To be called with what a statement threw. */
  readonly noteFailure: (error: unknown) => void;
  /** To be called when a member has ended. @returns whether the commit was due, and is now being made */
  readonly commitIfDue: () => boolean;
};

/**
 * @param isMemberUnderWay the commit waits for its end
 * @param onEnd called when a group has ended
 */
export function createSharedCommit({
  handle,
  patienceMs,
  isFileOurs,
  writes,
  isMemberUnderWay,
  onEnd,
}: {
  readonly handle: Handle;
  /** How long a commit tries again that meets a lock. Milliseconds. */
  readonly patienceMs: number;
  readonly isFileOurs: () => boolean;
  readonly writes: Pick<LastWrites, 'succeeded' | 'failed'>;
  readonly isMemberUnderWay: () => boolean;
  readonly onEnd: () => void;
}): SharedCommit {
  let group: Group | null = null;
  /** The group has gathered for long enough. */
  let isDue = false;

  const end = (settle: (member: Settlement) => void): void => {
    const members = group?.waiting ?? [];
    group = null;
    isDue = false;
    members.forEach(settle);
  };

  /** Rolls everything back: what cannot be ended properly must not be committed. */
  const abandon = (error: unknown): void => {
    try {
      if (handle.isInTransaction()) handle.command('rollback');
    } catch {
      // The first error is the one that matters.
    }
    end(({ reject }) => reject(error));
  };

  const commit = (): void => {
    if (group === null) return;
    isDue = true;
    if (isMemberUnderWay()) return;
    try {
      handle.command('commit');
    } catch (error) {
      // A commit can meet a lock, where there is no write-ahead log. The transaction stays as it is.
      if (isBusy(error) && Date.now() < group.deadline) {
        setTimeout(commit, untilNextTry());
        return;
      }
      writes.failed(error);
      abandon(error);
      onEnd();
      return;
    }
    if (!group.hasFailed && handle.countChanges() !== group.changesBefore) writes.succeeded();
    end(({ resolve }) => resolve());
    onEnd();
  };

  /** Commits when no more members come: a single one after one turn of the event loop, several after QUIET_TURNS or GATHER_MS. */
  const commitWhenQuiet = (opened: Group, since: number, members: number, quietTurns: number): void => {
    setImmediate(() => {
      if (group !== opened) return;
      const { length } = opened.waiting;
      const quiet = length > members ? 0 : quietTurns + 1;
      const isQuiet = quiet > 0 && (length < 2 || quiet >= QUIET_TURNS);
      if (isQuiet || performance.now() - since >= GATHER_MS) commit();
      else commitWhenQuiet(opened, since, length, quiet);
    });
  };

  return {
    isOpen: () => group !== null,
    open: () => {
      // A commit into a deleted file would lose the lead.
      if (!isFileOurs()) throw sqliteError(SQLITE_CANTOPEN, 'The database file was deleted.');
      const changesBefore = handle.countChanges();
      // A plain "begin" takes the write lock at the first write, when another process may hold it already and waiting is no
      // longer allowed. Every group writes, so it asks at once and may wait.
      handle.command('begin immediate');
      group = {
        waiting: [],
        deadline: Date.now() + patienceMs,
        changesBefore,
        hasFailed: false,
        isFirstUnderWay: false,
      };
      commitWhenQuiet(group, performance.now(), 0, 0);
    },
    beginMember: (isFirst) => {
      if (isFirst && group !== null) group.isFirstUnderWay = true;
      else handle.command('savepoint member');
    },
    endMember: (settlement) => {
      if (group === null) throw givenUp();
      if (group.isFirstUnderWay) group.isFirstUnderWay = false;
      else handle.command('release member');
      group.waiting.push(settlement);
    },
    rollBackMember: () => {
      try {
        // Without a group there is nothing to roll back, and failing at it would hide the error that matters.
        if (group?.isFirstUnderWay) {
          handle.command('rollback');
          end(() => {});
        } else if (group !== null) {
          handle.command('rollback to member');
          handle.command('release member');
        }
      } catch (error) {
        abandon(error);
      }
    },
    join: (settlement) => {
      group?.waiting.push(settlement);
    },
    noteFailure: (error) => {
      writes.failed(error);
      if (group === null) return;
      group.hasFailed = true;
      // A full disk or an I/O error ends a transaction by itself, and with it all that wait for its commit.
      if (!handle.isInTransaction()) end(({ reject }) => reject(error));
    },
    commitIfDue: () => {
      if (!isDue) return false;
      commit();
      return true;
    },
  };
}

export const givenUp = (): Error => new Error('SQLite has given this transaction up.');
