import type { OpenDatabase } from '#server/db/engine/connect.ts';
import type { WriteFault } from '#server/db/engine/outages.ts';

/** Forms are accepted again without a restart once the cause is fixed. */
export const WRITE_FAULTS: Readonly<Record<OpenDatabase['engine'], Readonly<Record<WriteFault, string>>>> = {
  sqlite: {
    full: 'The disk of the database is full, so forms are refused. Make room on it; nothing has to be restarted.',
    'read-only':
      'The database file takes no writes, so forms are refused. Look whether its file system has turned read-only (dmesg), or the file belongs to another user.',
    'disk fails':
      'The database file cannot be written (an I/O error), so forms are refused. Look whether its file system has turned read-only, and what the system says of the disk (dmesg).',
    damaged:
      'The database file is damaged, so forms are refused. Stop the page, keep the file, and put back the newest backup.',
    locked:
      'Another program keeps the database file locked, so forms are refused. Find out which (fuser, with the name of the file) and end it.',
    late: 'The database takes too long to write, so forms are refused.',
  },
  postgres: {
    full: 'The disk of PostgreSQL is full, so forms are refused. Make room on it; nothing has to be restarted here.',
    'read-only':
      'PostgreSQL takes no writes, so forms are refused. Name the primary server in DATABASE_URL, or end what makes this one read-only.',
    'disk fails':
      'The disk of PostgreSQL fails, so forms are refused. Look at its log, and have a backup at hand.',
    damaged:
      'PostgreSQL says that its files are damaged, so forms are refused. Look at its log, and have a backup at hand.',
    locked: 'A table of PostgreSQL is locked, so forms are refused. Find out by whom (pg_stat_activity).',
    late: 'PostgreSQL does not confirm writes in time, so forms are refused. Look whether its standby is away, or a table is locked (pg_stat_activity).',
  },
};
