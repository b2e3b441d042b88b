// Preloaded by `npm run test:logic`: records which of the product's statements each engine got, for testing/compare-engines.ts.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import pg from 'pg';

import { TEST_FILES_VARIABLE } from '#testing/test-process.ts';
import { comparable, type RecordedStatements, STATEMENTS_FOLDER_VARIABLE } from '#testing/compare-engines.ts';

const folder = process.env[STATEMENTS_FOLDER_VARIABLE];
/** Comparable statements by their own text. */
const sent = { sqlite: new Map<string, string>(), postgres: new Map<string, string>() };

function record(engine: keyof typeof sent, sql: unknown): void {
  if (typeof sql !== 'string' || sent[engine].has(sql)) return;
  if (/^\s*(select|insert|update|delete|with)\b/i.test(sql) && isSentByProduct())
    sent[engine].set(sql, comparable(sql));
}

function isSentByProduct(): boolean {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 60;
  const stack = new Error('recorded').stack ?? '';
  Error.stackTraceLimit = limit;
  const frame = stack
    .split('\n')
    .slice(1)
    .find(
      (line) => line.includes('file://') && !/node_modules|server\/db\/engine|record-statements/.test(line),
    );
  return frame !== undefined && !/\.test\.ts|\/testing\//.test(frame);
}

if (folder !== undefined) {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function recorded(...args) {
    record('sqlite', args[0]);
    return prepare.apply(this, args);
  };
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = client;
  client.query = function recorded(...args) {
    const [first] = args;
    record('postgres', typeof first === 'object' && first !== null && 'text' in first ? first.text : first);
    return query.apply(this, args);
  };
  process.on('exit', () => {
    mkdirSync(folder, { recursive: true });
    const recorded: RecordedStatements = {
      files: process.env[TEST_FILES_VARIABLE] ?? '',
      sqlite: [...new Set(sent.sqlite.values())],
      postgres: [...new Set(sent.postgres.values())],
    };
    writeFileSync(path.join(folder, `${randomUUID()}.json`), JSON.stringify(recorded));
  });
}
