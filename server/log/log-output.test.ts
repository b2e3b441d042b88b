import assert from 'node:assert/strict';
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openLogOutput } from '#server/log/log-output.ts';
import { inFolder } from '#testing/folder.ts';
import { until } from '#testing/until.ts';
import { valuesOf } from '#testing/values-of.ts';

const DISK_BLOCKS = 4_096;
const BLOCK_BYTES = 512;

type Order =
  | { readonly type: 'write'; readonly count: number; readonly letters?: number }
  | { readonly type: 'write and exit'; readonly count: number }
  | { readonly type: 'exit' };

if (process.send !== undefined && process.argv[2] === 'write') {
  const output = openLogOutput(({ count, since, until: end }) =>
    output.write(`${JSON.stringify({ lost: count, ms: end - since })}\n`),
  );
  process.on('exit', output.flush);
  let number = 0;
  process.on('message', (order: Order) => {
    if (order.type === 'exit') process.exit(0);
    if (order.type === 'write and exit') pbkdf2('', '', 500_000, 32, 'sha256', () => {});
    const letters = order.type === 'write' ? (order.letters ?? 100) : 100;
    for (let count = 0; count < order.count; count += 1) {
      output.write(`${JSON.stringify({ number, words: 'ä'.repeat(letters) })}\n`);
      number += 1;
    }
    if (order.type === 'write and exit') process.exit(0);
    process.send?.(output.linesLost());
  });
  process.send('ready');
} else describe('log output', { concurrency: true }, tests);

type Line = { readonly number?: number; readonly lost?: number; readonly ms?: number };
const read = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

async function withWriter(child: ChildProcess, test: (writer: ChildProcess) => Promise<void>): Promise<void> {
  try {
    await once(child, 'message');
    await test(child);
  } finally {
    child.kill('SIGKILL');
  }
}

async function tell(child: ChildProcess, order: Order): Promise<number> {
  const crashed = new AbortController();
  const giveUp = () => crashed.abort(new Error('The writer ended.'));
  child.once('exit', giveUp).send(order);
  const [lost] = (await once(child, 'message', { signal: crashed.signal })) as [number];
  child.off('exit', giveUp);
  return lost;
}

function assertOneGap(lines: readonly Line[], lost: number, written: number): void {
  const numbers = lines.flatMap(({ number }) => number ?? []);
  const words = lines.filter((line) => line.lost !== undefined);
  assert.deepEqual(valuesOf(words, 'lost'), [lost]);
  const place = lines.indexOf(words[0] as Line);
  const expected = Array.from({ length: written }, (_, number) => number);
  expected.splice(place, lost);
  assert.deepEqual(numbers, expected);
}

function tests(): void {
  const program = fileURLToPath(import.meta.url);
  const startWriter = (stdout: number | 'pipe', env = {}) =>
    fork(program, ['write'], {
      execArgv: [],
      stdio: ['ignore', stdout, 'inherit', 'ipc'],
      env: { ...process.env, ...env },
    });

  it('the log ends with the last lines in order, even if a write is pending at exit', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'log');
      for (const destination of ['file', 'pipe']) {
        const descriptor = openSync(file, 'w');
        const child = startWriter(destination === 'file' ? descriptor : 'pipe', { UV_THREADPOOL_SIZE: '1' });
        closeSync(descriptor);
        let piped = '';
        child.stdout?.on('data', (chunk: Buffer) => (piped += chunk.toString()));
        const closed = once(child, 'close');
        await once(child, 'message');
        child.send({ type: 'write and exit', count: 100 } satisfies Order);
        await closed;
        assert.deepEqual(
          valuesOf(read(piped + readFileSync(file, 'utf8')), 'number'),
          Array.from({ length: 100 }, (_, number) => number),
          destination,
        );
      }
    }));

  it('the log continues after a line of several megabytes', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'log');
      const descriptor = openSync(file, 'w');
      const writer = startWriter(descriptor);
      closeSync(descriptor);
      await withWriter(writer, async (child) => {
        for (const letters of [1_000_000, 100]) await tell(child, { type: 'write', count: 1, letters });
        assert.deepEqual(valuesOf(read(readFileSync(file, 'utf8')), 'number'), [0, 1]);
      });
    }));

  it('the log reports a lost line of several megabytes once', () =>
    withWriter(startWriter('pipe'), async (child) => {
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      // The second line doesn't fit into the queue while the first is being written.
      assert.equal(await tell(child, { type: 'write', count: 2, letters: 1_000_000 }), 1);
      await until(() => text.includes('"lost"'));
      await tell(child, { type: 'write', count: 1 });
      await until(() => text.includes('"number":2,'));
      assertOneGap(read(text), 1, 3);
    }));

  it('the log loses lines on a full disk and later reports how many', () =>
    inFolder(async (folder) => {
      const file = path.join(folder, 'log');
      // The process's file size limit simulates a full disk.
      const limited = `ulimit -f ${DISK_BLOCKS}; exec "$0" "$1" write >> "$2"`;
      const writer = spawn('/bin/sh', ['-c', limited, process.execPath, program, file], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const holds = (number: number) => readFileSync(file, 'utf8').includes(`"number":${number},`);
      await withWriter(writer, async (child) => {
        let written = 0;
        let lost = 0;
        while (lost === 0) {
          lost = await tell(child, { type: 'write', count: 1_000 });
          written += 1_000;
          await until(() => statSync(file).size >= DISK_BLOCKS * BLOCK_BYTES || holds(written - 1));
        }
        const before = readFileSync(file, 'utf8');
        truncateSync(file);
        await until(() => readFileSync(file, 'utf8').includes('"lost"'));
        assert.equal(await tell(child, { type: 'write', count: 10 }), lost);
        await until(() => holds(written + 9));
        assertOneGap(read(before + readFileSync(file, 'utf8')), lost, written + 10);
      });
    }));

  it('the log loses lines for a stalled reader and later reports how many', () =>
    withWriter(startWriter('pipe'), async (child) => {
      let written = 0;
      let lost = 0;
      for (; lost === 0; written += 1_000) lost = await tell(child, { type: 'write', count: 1_000 });
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await until(() => text.includes('"lost"'));
      await tell(child, { type: 'write', count: 10 });
      await until(() => text.includes(`"number":${written + 9},`));
      assertOneGap(read(text), lost, written + 10);
    }));
}
