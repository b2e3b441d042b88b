import assert from 'node:assert/strict';
import { it } from 'node:test';

import { explainDatabaseFailure } from '#server/startup/why-the-start-failed.ts';

it('a failed start explains that the database is on a disk without shared memory or locks', () => {
  const explain = (errcode: number) =>
    explainDatabaseFailure(
      Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode }),
      { engine: 'sqlite', file: '/srv/leads.db' },
    );
  for (const [errcode, sentence] of [
    [5386, /^\/srv\/leads\.db is on a disk without shared memory \(mmap\)/],
    [4618, /shared memory \(mmap\)/],
    [5, /is locked by another program, or is on a disk without locks/],
    [266, /^The database \/srv\/leads\.db cannot be created or written \(disk I\/O error\)\./],
  ] as const)
    assert.match(explain(errcode) ?? '', sentence, String(errcode));
});
