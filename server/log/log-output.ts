// Writes the log to standard output, in the order of the lines. While it cannot be written (a full disk, a reader that has gone or
// stopped reading), lines are lost and counted. Nothing here waits, throws, or grows without bound. pino's own output (sonic-boom)
// does: at an error and at the end it waits for room for ever, and it keeps every line that it cannot write.
import { fstatSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

const STANDARD_OUTPUT = 1;
/** Maximum size of the lines that wait to be written: some 6,000 lines of requests. Further lines are lost. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** A pipe takes this much in one piece (PIPE_BUF on Linux), so that two processes that share it do not tear each other's lines. */
const CHUNK_BYTES = 4096;
/** After an error, such as that the disk is full. */
const TRY_AGAIN_MS = 1_000;
/** After the destination was full for the moment (EAGAIN). */
const TRY_AGAIN_SOON_MS = 50;

/** Lines that could not be written. Times are milliseconds since 1970. */
export type LostLines = { readonly count: number; readonly since: number; readonly until: number };

export type LogOutput = {
  readonly isTTY: boolean;
  /** Takes a line, with its end. */
  readonly write: (line: string) => void;
  /** Number of lines lost so far. */
  readonly linesLost: () => number;
  /** Hands over the waiting lines once, at the end of the process, and does not wait for it. */
  readonly writeRest: () => void;
};

/** Writes once, as much as the destination takes. */
type Put = (bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void) => void;

/**
 * Opens standard output for the log.
 * @param onLost called when lines are taken again after some were lost; its own line stands in their place
 */
export function openLogOutput(onLost: (lost: LostLines) => void): LogOutput {
  const put = open(STANDARD_OUTPUT);
  /** Whole lines. */
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** The chunk that is being written, or could not be. */
  let inHand: Buffer | null = null;
  let retry: NodeJS.Timeout | null = null;
  /** The current loss; null while lines are taken. */
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
        retry = setTimeout(tryAgain, error.code === 'EAGAIN' ? TRY_AGAIN_SOON_MS : TRY_AGAIN_MS).unref();
        return;
      }
      inHand = written < chunk.length ? chunk.subarray(written) : takeChunk();
      takeLinesAgain();
      putInHand();
    });
  };

  const tryAgain = (): void => {
    retry = null;
    putInHand();
  };

  const takeLinesAgain = (): void => {
    // Not as soon as one line fits: a notice of lost lines would follow every few lines.
    if (losing === null || waitingBytes > MOST_WAITING_BYTES / 2) return;
    const lost = { ...losing, until: Date.now() };
    losing = null;
    onLost(lost);
  };

  return {
    isTTY: isatty(STANDARD_OUTPUT),
    write: (line) => {
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > MOST_WAITING_BYTES) losing ??= { count: 0, since: Date.now() };
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
      // A destination that failed a moment ago fails now.
      if (retry !== null || waiting.length === 0) return;
      // After the chunk in hand, so that a loss is at the end and never in the middle.
      put(Buffer.concat(waiting), () => {});
      waiting = [];
    },
  };
}

function open(fd: number): Put {
  const stats = fstatSync(fd);
  if (stats.isFIFO() || stats.isSocket()) return openPipe();
  return stats.isFile() ? openFile(fd) : openDevice(fd);
}

/**
 * A file takes everything or fails, and the system buffers it. So it is written synchronously: a thread that is not done when the
 * process ends would write after the last lines.
 */
const openFile =
  (fd: number): Put =>
  (bytes, done) => {
    let written: number;
    try {
      written = writeSync(fd, bytes);
    } catch (error) {
      done(error as NodeJS.ErrnoException, 0);
      return;
    }
    done(null, written);
  };

/** A stopped terminal makes the write wait, so it waits in a thread. */
const openDevice =
  (fd: number): Put =>
  (bytes, done) =>
    write(fd, bytes, 0, bytes.length, null, done);

/**
 * A pipe or a socket, whose reader may stop reading. Node writes to it without waiting; a waiting thread would keep the process from
 * ending.
 */
function openPipe(): Put {
  // `done` is called with it as well; without a listener it would end the process.
  process.stdout.on('error', () => {});
  return (bytes, done) =>
    void process.stdout.write(bytes, (error) => (error ? done(error, 0) : done(null, bytes.length)));
}
