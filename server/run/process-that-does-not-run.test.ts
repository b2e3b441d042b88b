// A process of the page that does not run any more: stopped (SIGSTOP), or starved by a machine that swaps. The real deadlines pass here,
// side by side.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';

import { inFolder } from '#testing/folder.ts';
import { freePort } from '#testing/free-port.ts';
import { restartPage, runningIn, startPage, writeSettings, type RunningPage } from '#testing/running-page.ts';
import { until } from '#testing/until.ts';

const PATIENCE_MS = 60_000;
const RESTARTED = 'The page was restarted.';

describe('a process that does not run any more', { concurrency: true }, () => {
  it('is killed when the page stops, and a sentence says so', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      const worker = halt(page, folder);
      const ended = once(page.child, 'exit');
      page.child.kill('SIGTERM');
      assert.deepEqual(await ended, [137, null]);
      assert.ok(page.output().includes(`${killed(worker, 'end')}\n`), page.output());
    }));

  it('is killed when another one has taken its place, healthy or not, and the restart says so', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      try {
        // The new one is not healthy, and the one before is asked whether it is.
        const worker = halt(page, folder, letMailStandStill);
        assert.deepEqual(await restartPage(folder), {
          code: 0,
          said: `${RESTARTED} ${killed(worker, 'end')}\n`,
        });
        assert.equal((await fetch(page.url)).status, 200);
      } finally {
        await page.stop('SIGTERM');
      }
    }));

  it('is killed when it may hold what the next one waits for', () =>
    inFolder(async (folder) => {
      // One that is free is another one once nobody listens.
      const page = await startPage(folder, { PORT: String(await freePort()) });
      using database = open(folder);
      try {
        const worker = halt(page, folder);
        // As it would, had it been halted in the midst of writing.
        database.exec('begin immediate');
        const restarted = restartPage(folder);
        await until(() => page.output().includes(killed(worker, 'answer')), PATIENCE_MS);
        database.exec('rollback');
        assert.deepEqual(await restarted, { code: 0, said: `${RESTARTED} ${killed(worker, 'answer')}\n` });
        assert.equal((await fetch(page.url)).status, 200);
      } finally {
        await page.stop('SIGTERM');
      }
    }));

  it('is named when the next one cannot start', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      const worker = halt(page, folder);
      try {
        writeSettings(folder, { CODE_ATTEMPTS: 'many' });
        const { code, said } = await restartPage(folder);
        assert.equal(code, 1);
        assert.match(
          said,
          new RegExp(
            `CODE_ATTEMPTS must be .*\nBut the process that was to go on serving \\(${worker}\\) does not answer\\. Stop the page, and start it again with "npm start"\\.\n$`,
          ),
        );
      } finally {
        process.kill(worker, 'SIGKILL');
        await page.stop('SIGTERM');
      }
    }));

  it('is reported by a restart whose signal it does not take', () =>
    inFolder(async (folder) => {
      const page = await startPage(folder);
      const primary = runningIn(folder).pid;
      try {
        process.kill(primary, 'SIGSTOP');
        assert.deepEqual(await restartPage(folder), {
          code: 1,
          said: `The process that keeps the port (${primary}) has not answered in ${path.join(folder, 'data', 'server.json')} within 10 seconds. Look whether it runs (ps -o pid,stat,args -p ${primary}), and whether that file can be written.\n`,
        });
        process.kill(primary, 'SIGCONT');
        assert.equal((await fetch(page.url)).status, 200);
      } finally {
        await page.stop('SIGTERM');
      }
    }));
});

const killed = (worker: number, missed: 'end' | 'answer'): string =>
  `The process ${worker} did not ${missed} within 17 seconds and was killed: what it had in hand was cut off.`;

/**
 * Stops the process that serves, at a moment when it writes nothing.
 * @param meanwhile done to the database before
 */
function halt(page: RunningPage, folder: string, meanwhile?: (database: DatabaseSync) => void): number {
  const [worker = 0] = page.workers();
  using database = open(folder);
  database.exec('begin immediate');
  meanwhile?.(database);
  process.kill(worker, 'SIGSTOP');
  database.exec('commit');
  return worker;
}

const open = (folder: string): DatabaseSync =>
  new DatabaseSync(path.join(folder, 'data', 'leads.db'), { timeout: 5_000 });

/** Mail that has waited for minutes since the mail server was away, and is tried again in an hour. */
function letMailStandStill(database: DatabaseSync): void {
  const now = Date.now();
  database
    .prepare(
      "insert into outbox (id, recipient, due_at, created_at, turn_at, error_class) values ('a', 'ada@example.com', ?, ?, ?, 'ESOCKET')",
    )
    .run(now + 3_600_000, now - 600_000, now);
}
