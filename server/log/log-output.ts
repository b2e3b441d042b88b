// Writes the log to standard output in order. If the disk is full or the reader stalls, lines are lost and counted, so nothing
// blocks and memory stays bounded. pino's own output (sonic-boom) blocks at exit and buffers without limit.
import { fstatSync, write as writeAsync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const STANDARD_OUTPUT = 1;
const MAX_QUEUED_BYTES = 1024 * 1024;
/** PIPE_BUF on Linux: writes up to this size are atomic, so the lines of two processes don't get mixed up. */
const CHUNK_BYTES = 4096;
const RETRY_AFTER_MS = 1_000;
const RETRY_WHEN_BUSY_AFTER_MS = 50;

export type LostLines = { readonly count: number; readonly since: number; readonly until: number };

export type LogOutput = {
  readonly isTTY: boolean;
  readonly write: (line: string) => void;
  readonly linesLost: () => number;
  /** Starts one last write of the queued lines at exit, without waiting for it. */
  readonly flush: () => void;
};

/** @param onLost called when lines were lost and writing works again; it may log a line in their place */
export function openLogOutput(onLost: (lost: LostLines) => void): LogOutput {
  const write = selectWriter();
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  let pendingChunk: Buffer | null = null;
  let retryTimer: NodeJS.Timeout | null = null;
  /** While set, every line is lost, so the lost lines form one gap with one notice. */
  let gap: { count: number; readonly since: number } | null = null;
  let totalLost = 0;

  const writeLine = (line: string): void => {
    const bytes = Buffer.from(line);
    if (pendingChunk !== null && queuedBytes + bytes.length > MAX_QUEUED_BYTES)
      gap ??= { count: 0, since: Date.now() };
    if (gap !== null) {
      gap.count += 1;
      totalLost += 1;
      return;
    }
    if (pendingChunk !== null) {
      queue.push(bytes);
      queuedBytes += bytes.length;
      return;
    }
    pendingChunk = bytes;
    writePendingChunk();
  };

  const writePendingChunk = (): void => {
    const chunk = pendingChunk;
    if (chunk === null) return;
    write(chunk, (error, written) => {
      if (error !== null) {
        const waitMs = error.code === 'EAGAIN' ? RETRY_WHEN_BUSY_AFTER_MS : RETRY_AFTER_MS;
        retryTimer = setTimeout(() => {
          retryTimer = null;
          writePendingChunk();
        }, waitMs).unref();
        return;
      }
      pendingChunk = written < chunk.length ? chunk.subarray(written) : takeChunk();
      writePendingChunk();
      // Comes last, because onLost may start a write itself.
      closeGap();
    });
  };

  const takeChunk = (): Buffer | null => {
    let count = 0;
    let bytes = 0;
    for (const line of queue) {
      if (count > 0 && bytes + line.length > CHUNK_BYTES) break;
      count += 1;
      bytes += line.length;
    }
    if (count === 0) return null;
    const chunk = Buffer.concat(queue.slice(0, count), bytes);
    queue = queue.slice(count);
    queuedBytes -= bytes;
    return chunk;
  };

  const closeGap = (): void => {
    // If the gap ended before half of the queue is free, the next gap would begin a few lines later.
    if (gap === null || queuedBytes > MAX_QUEUED_BYTES / 2) return;
    const lost = { ...gap, until: Date.now() };
    gap = null;
    onLost(lost);
  };

  return {
    isTTY: isatty(STANDARD_OUTPUT),
    write: writeLine,
    linesLost: () => totalLost,
    flush: () => {
      // A destination that has just failed would probably fail again.
      if (retryTimer !== null || queue.length === 0) return;
      write(Buffer.concat(queue), () => {});
      queue = [];
    },
  };
}

type Write = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

function selectWriter(): Write {
  const stats = fstatSync(STANDARD_OUTPUT);
  if (stats.isFIFO() || stats.isSocket()) return createPipeWriter();
  return stats.isFile() ? writeToFile : writeToDevice;
}

/**
 * Writes synchronously, because a write to a file succeeds or fails at once. One left to a thread could end up after the last lines
 * at exit.
 */
const writeToFile: Write = (bytes, done) => {
  let written: number;
  try {
    written = writeSync(STANDARD_OUTPUT, bytes);
  } catch (error) {
    done(error as NodeJS.ErrnoException, 0);
    return;
  }
  done(null, written);
};

/** Writes in one of Node's threads, which a suspended terminal may block without blocking the event loop. */
const writeToDevice: Write = (bytes, done) => writeAsync(STANDARD_OUTPUT, bytes, done);

/**
 * Writes through process.stdout, which doesn't block on pipes and sockets. With writeToDevice, a stalled reader would block a
 * thread, and the process could not exit.
 */
function createPipeWriter(): Write {
  // Without a listener, an error would end the process. `done` handles it.
  process.stdout.on('error', () => {});
  return (bytes, done) =>
    void process.stdout.write(bytes, (error) => (error ? done(error, 0) : done(null, bytes.length)));
}
