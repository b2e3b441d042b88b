import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';

export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

type Stream = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'cursorTo' | 'clearLine'>>;

export type Terminal = {
  readonly note: (line: string) => void;
  readonly progress: (line: string) => void;
  readonly endProgress: () => void;
};

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

export const paintFor =
  (stream: NodeJS.WritableStream) =>
  (paint: Paint, text: string): string =>
    styleText(paint, text, { stream });
