// Writes the log to standard output in order. On a full disk or a stalled reader, lines are dropped and counted. Nothing waits
// or grows, whereas pino's output (sonic-boom) blocks at exit and buffers without limit.
import { fstatSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const STANDARD_OUTPUT = 1;
const MOST_WAITING_BYTES = 1024 * 1024;
/** PIPE_BUF on Linux: writes up to this size are atomic, so the lines of two processes don't get mixed up. */
const CHUNK_BYTES = 4096;
const TRY_AGAIN_MS = 1_000;
const TRY_AGAIN_SOON_MS = 50;

export type LostLines = { readonly count: number; readonly since: number; readonly until: number };

export type LogOutput = {
  readonly isTTY: boolean;
  readonly write: (line: string) => void;
  readonly linesLost: () => number;
  /** Writes the waiting lines once at exit, without waiting for completion. */
  readonly writeRest: () => void;
};

type Put = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

/** @param onLost called when lines were lost and writing works again; it may log a line in their place */
export function openLogOutput(onLost: (lost: LostLines) => void): LogOutput {
  const put = chooseWay();
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let inHand: Buffer | null = null;
  let retry: NodeJS.Timeout | null = null;
  let losing: { count: number; readonly since: number } | null = null;
  let lostInAll = 0;

  const takeChunk = (): Buffer | null => {
    let count = 0;
    let bytes = 0;
    for (const line of waiting) {
      if (count > 0 && bytes + line.length > CHUNK_BYTES) break;
      count += 1;
      bytes += line.length;
    }
    if (count === 0) return null;
    const chunk = Buffer.concat(waiting.slice(0, count), bytes);
    waiting = waiting.slice(count);
    waitingBytes -= bytes;
    return chunk;
  };

  const putInHand = (): void => {
    const chunk = inHand;
    if (chunk === null) return;
    put(chunk, (error, written) => {
      if (error !== null) {
        const waitMs = error.code === 'EAGAIN' ? TRY_AGAIN_SOON_MS : TRY_AGAIN_MS;
        retry = setTimeout(() => {
          retry = null;
          putInHand();
        }, waitMs).unref();
        return;
      }
      inHand = written < chunk.length ? chunk.subarray(written) : takeChunk();
      takeLinesAgain();
      putInHand();
    });
  };

  const takeLinesAgain = (): void => {
    // With less room, a notice of lost lines would follow every few lines.
    if (losing === null || waitingBytes > MOST_WAITING_BYTES / 2) return;
    const lost = { ...losing, until: Date.now() };
    losing = null;
    onLost(lost);
  };

  return {
    isTTY: isatty(STANDARD_OUTPUT),
    write: (line) => {
      const bytes = Buffer.from(line);
      if (inHand !== null && waitingBytes + bytes.length > MOST_WAITING_BYTES)
        losing ??= { count: 0, since: Date.now() };
      if (losing !== null) {
        losing.count += 1;
        lostInAll += 1;
        return;
      }
      if (inHand !== null) {
        waiting.push(bytes);
        waitingBytes += bytes.length;
        return;
      }
      inHand = bytes;
      putInHand();
    },
    linesLost: () => lostInAll,
    writeRest: () => {
      // A destination that has just failed would probably fail again.
      if (retry !== null || waiting.length === 0) return;
      put(Buffer.concat(waiting), () => {});
      waiting = [];
    },
  };
}

function chooseWay(): Put {
  const stats = fstatSync(STANDARD_OUTPUT);
  if (stats.isFIFO() || stats.isSocket()) return openPipe();
  return stats.isFile() ? putInFile : putInDevice;
}

/** Writes synchronously, because a file accepts everything or fails. At exit, a thread could write after the last lines. */
const putInFile: Put = (bytes, done) => {
  let written: number;
  try {
    written = writeSync(STANDARD_OUTPUT, bytes);
  } catch (error) {
    done(error as NodeJS.ErrnoException, 0);
    return;
  }
  done(null, written);
};

/** Writes in a thread, because a suspended terminal blocks the write. */
const putInDevice: Put = (bytes, done) => write(STANDARD_OUTPUT, bytes, done);

/** Lets Node write, which doesn't block on pipes and sockets. A blocked thread would keep the process from exiting. */
function openPipe(): Put {
  // Without a listener, the error would end the process. `done` receives it as well.
  process.stdout.on('error', () => {});
  return (bytes, done) =>
    void process.stdout.write(bytes, (error) => (error ? done(error, 0) : done(null, bytes.length)));
}
