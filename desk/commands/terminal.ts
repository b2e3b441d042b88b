// The terminal a command speaks to: what is said to whoever sits there, how far long work has come, and colours where they can be
// seen.
import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';

/** What a colour says, and what is a heading. */
export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

type Stream = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'cursorTo' | 'clearLine'>>;

export type Terminal = {
  /** Writes a line. */
  readonly note: (line: string) => void;
  /** Shows how far something has come, in one line that the next thing said takes the place of. Nothing where nobody sits. */
  readonly progress: (line: string) => void;
  /** Takes that line away. */
  readonly endProgress: () => void;
};

/** @param stream standard error: what is data goes elsewhere */
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

/** Colours for a stream that is a terminal, unless NO_COLOR or TERM say that nobody wants them; FORCE_COLOR wants them anywhere. */
export const paintFor =
  (stream: NodeJS.WritableStream) =>
  (paint: Paint, text: string): string =>
    styleText(paint, text, { stream });
