// The terminal: notes, a line that shows progress, and colours where they can be seen.
import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';

/** Colours of states, and styles of headings and asides. */
export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

type Stream = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'cursorTo' | 'clearLine'>>;

export type Terminal = {
  /** Writes a line. */
  readonly note: (line: string) => void;
  /** Shows progress in one line, which the next note or progress replaces. Shows nothing where the stream is no terminal. */
  readonly progress: (line: string) => void;
  /** Removes that line. */
  readonly endProgress: () => void;
};

/** @param stream standard error; data goes to standard output */
export function createTerminal(stream: Stream): Terminal {
  let isShown = false;
  const endProgress = () => {
    if (!isShown) return;
    isShown = false;
    stream.cursorTo?.(0);
    stream.clearLine?.(1);
  };
  return {
    note: (line) => {
      endProgress();
      stream.write(`${line}\n`);
    },
    progress: (line) => {
      if (stream.isTTY !== true) return;
      endProgress();
      stream.write(line);
      isShown = true;
    },
    endProgress,
  };
}

/** Colours text for a terminal, unless NO_COLOR or TERM forbid it; FORCE_COLOR demands it anywhere. */
export const paintFor =
  (stream: NodeJS.WritableStream) =>
  (paint: Paint, text: string): string =>
    styleText(paint, text, { stream });
