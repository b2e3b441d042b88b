import { styleText } from 'node:util';
import type { WriteStream } from 'node:tty';

export type Paint = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

type Stream = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'cursorTo' | 'clearLine'>>;

export function createTerminal(stream: Stream) {
  let isShown = false;
  const endProgress = () => {
    if (!isShown) return;
    isShown = false;
    stream.cursorTo?.(0);
    stream.clearLine?.(1);
  };
  return {
    note: (line: string) => {
      endProgress();
      stream.write(`${line}\n`);
    },
    progress: (line: string) => {
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
