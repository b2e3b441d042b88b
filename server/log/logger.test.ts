import assert from 'node:assert/strict';
import { it } from 'node:test';

import { sql } from 'kysely';
import * as z from 'zod';

import { createLogger, createAnnounce, describeError } from '#server/log/logger.ts';
import { withDatabase } from '#testing/databases.ts';
import { createVisitor, filledForm } from '#testing/server-under-test.ts';
import { until } from '#testing/until.ts';
import { onEachEngine } from '#testing/on-each-engine.ts';

// Matches whole words only, because the host name may be hexadecimal.
const PERSONAL = /\bada\b|lovelace|analytical|203\.0\.113|123456/i;

function written(log: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  log(createLogger('debug', { write: (line: string) => void lines.push(line) }));
  return lines.join('');
}

const fields = (details: object): Error =>
  Object.assign(new Error('Failing row contains (ada@example.com)'), details);

const ERRORS: readonly Error[] = [
  fields({
    code: '23514',
    detail: 'Failing row contains (ada@example.com, Ada Lovelace).',
    where: 'ada@example.com',
    table: 'submissions',
    constraint: 'submissions_name_check',
  }),
  fields({
    responseCode: 550,
    response: '550 <ada@example.com>: no such user',
    rejected: ['ada@example.com'],
  }),
  fields({ code: 'ada@example.com', name: 'Ada', table: 'ada@example.com', constraint: 'not (ada)' }),
  fields({ code: '123456' }),
  fields({ code: 123_456 }),
  new TypeError('Cannot read properties of undefined (reading "ada@example.com")'),
  new Error('at first\n    at ada@example.com (file:///ada.ts:1:1)\n    at Ada (file:///x.ts:1:1)'),
  Object.assign(new Error('changed'), { message: 'ada\n    at Ada (file:///x.ts:1:1)' }),
  new Error('outer Ada', { cause: new Error('inner', { cause: fields({ code: '23505' }) }) }),
  new AggregateError([fields({ code: 'ECONNREFUSED' }), 'ada@example.com'], 'all of Ada'),
  z.object({ email: z.email('ada@example.com is none') }).safeParse({ email: 'Ada' }).error as Error,
];

it('the log contains no error message, however the error is logged', () => {
  for (const error of ERRORS) {
    const log = written((logger) => {
      logger.error({ err: error }, 'It failed.');
      logger.error({ err: error });
      logger.error(error);
      logger.error(error, error.message);
      logger.error({ err: error }, error.message);
      logger.error({ error, reason: error }, 'It failed.');
      logger.error('It failed: %s', error);
      logger.child({ err: error }).error('It failed.');
      logger.child({ id: 1 }).error({ err: error });
    });
    assert.equal(log.split('\n').length, 10);
    assert.doesNotMatch(log, PERSONAL);
  }
});

it('the log shows the type, code and place of an error', () => {
  const [constraint, , , , , , , , nested, several] = ERRORS.map((error) => describeError(error));
  const place = { code: '23514', table: 'submissions', constraint: 'submissions_name_check' };
  assert.partialDeepStrictEqual(constraint, place);
  assert.match(constraint?.stack?.[0] ?? '', /^at .*logger\.test\.ts:\d+:\d+\)?$/);
  assert.equal(nested?.cause?.cause?.code, '23505');
  assert.deepEqual(
    several?.errors?.map(({ type, code }) => [type, code]),
    [
      ['Error', 'ECONNREFUSED'],
      ['thrown string', undefined],
    ],
  );
  assert.equal(describeError(new RangeError('x')).type, 'RangeError');
  assert.match(
    written((logger) => logger.error({ err: ERRORS[0], lease: 7 }, 'It failed.')),
    /"lease":7.*"msg":"It failed\."/,
  );
});

it("the log shows the table and the constraint of an SQLite error, but not a trigger's message", () =>
  withDatabase('sqlite', async ({ db }) => {
    const failure = async (statement: ReturnType<typeof sql>) =>
      describeError(
        await statement.execute(db).then(
          () => null,
          (error: unknown) => error,
        ),
      );
    await sql`insert into limit_windows values ('ada', 1, 1, 1)`.execute(db);
    const twice = await failure(sql`insert into limit_windows values ('ada', 1, 1, 1)`);
    assert.deepEqual(
      [twice.errcode, twice.table, twice.constraint],
      [1555, 'limit_windows', 'PRIMARY KEY key'],
    );
    await sql`create trigger t before insert on limit_windows begin select raise(abort, new.key); end`.execute(
      db,
    );
    const raised = await failure(
      sql`insert into limit_windows values ('UNIQUE constraint failed: ada.lovelace', 1, 1, 1)`,
    );
    assert.deepEqual([raised.table, raised.constraint], [undefined, 'TRIGGER']);
  }));

onEachEngine('failures', ({ test, engine }) => {
  const spoil = (table: string, event: 'insert' | 'update') =>
    engine === 'sqlite'
      ? sql.raw(
          `create trigger spoil_${table} before ${event} on ${table} begin select raise(abort, 'not ' || ${table === 'outbox' ? 'new.recipient' : 'new.email || new.name'}); end`,
        )
      : sql.raw(
          `alter table ${table} add constraint spoil_${table} check (${event === 'insert' ? 'created_at < 0' : "state <> 'sent'"}) not valid`,
        );

  test('a failure is logged without personal data', async (server) => {
    const { db } = server.database;
    await spoil('outbox', 'update').execute(db);
    await createVisitor(server, '203.0.113.7').post('/api/leads', filledForm());
    server.wakeWorker();
    await until(() => server.logLines.some((line) => line.includes('worker')));
    await spoil('submissions', 'insert').execute(db);
    const failed = await createVisitor(server, '203.0.113.7').post('/api/leads', filledForm());
    assert.equal(failed.statusCode, 500);
    await sql`alter table codes rename column client_address to ada_lovelace`.execute(db);
    assert.equal((await createVisitor(server).post('/api/leads', filledForm())).statusCode, 500);
    await sql`alter table outbox rename to lovelace`.execute(db);
    assert.equal((await server.app.inject('/api/health')).statusCode, 503);

    const log = server.logLines.join('');
    assert.doesNotMatch(log, /ada@|ada l|lovelace|analytical|203\.0\.113/i);
    assert.doesNotMatch(log, /failing row|insert into|update |select /i);
    const errors = server.logLines
      .map((line) => JSON.parse(line) as { err?: Record<string, unknown> })
      .filter(({ err }) => err !== undefined);
    assert.ok(errors.length >= 4);
    for (const { err } of errors) assert.ok(err?.['code'] !== undefined, JSON.stringify(err));
  });
});

it('the log on a terminal consists of sentences instead of JSON', () => {
  const lines: unknown[] = [];
  const announce = createAnnounce({ isTTY: true, write: (line: unknown) => lines.push(line) > 0 });
  announce('Ready.');
  announce('The secret is short.', 'warn');
  assert.deepEqual(lines, ['Ready.\n', 'Warning: The secret is short.\n']);
});
