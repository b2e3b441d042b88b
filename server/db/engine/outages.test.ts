import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isOutage } from '#server/db/engine/outages.ts';

const failure = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

describe('an outage of the database', () => {
  it('is not confused with a mistake of ours', () => {
    const outages = [
      failure('terminating connection due to administrator command', { code: '57P01' }),
      failure('the database system is starting up', { code: '57P03' }),
      failure('sorry, too many clients already', { code: '53300' }),
      failure('deadlock detected', { code: '40P01' }),
      failure('canceling statement due to conflict with recovery', { code: '40001' }),
      failure('server conn crashed?', { code: '08P01' }),
      failure('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED' }),
      failure('Connection terminated unexpectedly'),
      failure('timeout exceeded when trying to connect'),
      failure('timeout expired'),
      failure('database is locked', { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
      failure('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
      failure('attempt to write a readonly database', { code: 'ERR_SQLITE_ERROR', errcode: 1032 }),
      failure('disk I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 778 }),
      new AggregateError([failure('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED' })]),
    ];
    for (const error of outages) assert.equal(isOutage(error), true, error.message);
    const mistakes = [
      failure('relation "lead" does not exist', { code: '42P01' }),
      failure('UNIQUE constraint failed: leads.email', { code: 'ERR_SQLITE_ERROR', errcode: 2067 }),
      failure('x is not a function'),
      'text',
      null,
    ];
    for (const error of mistakes) assert.equal(isOutage(error), false, String(error));
  });
});
