import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { WriteFault } from '#server/db/engine/outages.ts';

/** Forms are accepted again without a restart once the cause is fixed. */
export const WRITE_FAULTS: Readonly<Record<OpenDatabase['engine'], Readonly<Record<WriteFault, string>>>> = {
  sqlite: {
    full: 'The disk of the database is full, so forms are refused. Free some space; no restart is needed.',
    'read-only':
      'The database file is not writable, so forms are refused. Check whether its file system has become read-only (dmesg) or the file belongs to another user.',
    'disk fails':
      'The database file cannot be written (an I/O error), so forms are refused. Check whether its file system has become read-only, and read the kernel log (dmesg).',
    damaged:
      'The database file is damaged, so forms are refused. Stop the page, keep the file, and put back the newest backup.',
    locked:
      'Another program keeps the database file locked, so forms are refused. Find it (fuser FILE) and stop it.',
    late: 'The database takes too long to write, so forms are refused.',
  },
  postgres: {
    full: 'The disk of PostgreSQL is full, so forms are refused. Free some space; no restart is needed here.',
    'read-only':
      'PostgreSQL is read-only, so forms are refused. Name the primary server in DATABASE_URL, or make this one writable.',
    'disk fails':
      'The disk of PostgreSQL fails, so forms are refused. Check its log, and keep a backup ready.',
    damaged:
      'PostgreSQL reports damaged files, so forms are refused. Check its log, and keep a backup ready.',
    locked:
      'A table of PostgreSQL is locked, so forms are refused. Find the session that holds the lock (pg_stat_activity).',
    late: 'PostgreSQL does not confirm writes in time, so forms are refused. Check whether its standby is unreachable or a table is locked (pg_stat_activity).',
  },
};
