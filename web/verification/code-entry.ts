// Six boxes for one code, as a plain reducer: what each key, paste and autofill does, and where the focus goes.
import { codeDigits } from '#shared/code-digits.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend-seconds.ts';

export type CodeEntry = {
  /** One digit or nothing for each box. */
  readonly digits: readonly string[];
  /** The box that has the focus. */
  readonly focus: number;
};

export type CodeEntryEvent =
  /** The value of a box changed: a typed digit, or several characters from autofill or a keyboard. */
  | { readonly type: 'input'; readonly box: number; readonly value: string }
  | { readonly type: 'paste'; readonly box: number; readonly text: string }
  | { readonly type: 'backspace'; readonly box: number }
  | { readonly type: 'move'; readonly box: number; readonly to: 'previous' | 'next' | 'first' | 'last' }
  | { readonly type: 'focus'; readonly box: number }
  /** The code was refused: empty boxes, focus on the first. */
  | { readonly type: 'reset' };

export const EMPTY_CODE_ENTRY: CodeEntry = {
  digits: Array.from({ length: CODE_LENGTH }, () => ''),
  focus: 0,
};

const MOVES: Readonly<Record<string, Extract<CodeEntryEvent, { type: 'move' }>['to']>> = {
  ArrowLeft: 'previous',
  ArrowRight: 'next',
  Home: 'first',
  End: 'last',
};

/** What a key without Ctrl, Meta or Alt does in a box; null for a key that the browser handles. */
export function eventOfKey({ digits }: CodeEntry, box: number, key: string): CodeEntryEvent | null {
  const to = MOVES[key];
  if (to !== undefined) return { type: 'move', box, to };
  if (key === 'Backspace') return { type: 'backspace', box };
  // The same digit over itself changes no value, so no input event follows; it still moves on.
  return key.length === 1 && key === digits[box] ? { type: 'input', box, value: key } : null;
}

const LAST = CODE_LENGTH - 1;
const clamp = (box: number): number => Math.min(Math.max(box, 0), LAST);

/** The six digits, or null while a box is empty. */
export function completeCode({ digits }: CodeEntry): string | null {
  return digits.every((digit) => digit !== '') ? digits.join('') : null;
}

/** The next state. */
export function codeEntryReducer(entry: CodeEntry, event: CodeEntryEvent): CodeEntry {
  switch (event.type) {
    case 'input':
      // Emptied by Delete, by cutting, by an assistive tool.
      if (event.value === '') return { digits: entry.digits.with(event.box, ''), focus: event.box };
      return enter(entry, event.box, typedDigits(event.value, entry.digits[event.box] ?? ''));
    case 'paste':
      return enter(entry, event.box, codeDigits(event.text));
    case 'backspace':
      // On an empty box only the focus moves: a digit in another box is not deleted.
      return entry.digits[event.box] === ''
        ? { ...entry, focus: clamp(event.box - 1) }
        : { digits: entry.digits.with(event.box, ''), focus: event.box };
    case 'move': {
      const to = { previous: event.box - 1, next: event.box + 1, first: 0, last: LAST }[event.to];
      return { ...entry, focus: clamp(to) };
    }
    case 'focus':
      return { ...entry, focus: event.box };
    case 'reset':
      return EMPTY_CODE_ENTRY;
  }
}

function enter(entry: CodeEntry, box: number, typed: string): CodeEntry {
  if (typed === '') return entry;
  // A whole code fills all boxes, wherever it was put.
  const start = typed.length >= CODE_LENGTH ? 0 : box;
  const characters = typed.slice(0, CODE_LENGTH - start).split('');
  // A code that could not be checked stays; typing over its first digit begins another one.
  const anew = start === 0 && completeCode(entry) !== null;
  const digits = entry.digits.map((digit, index) => characters[index - start] ?? (anew ? '' : digit));
  return { digits, focus: clamp(start + characters.length) };
}

/** What was typed into a box: where it held a digit already, the new one, wherever the caret stood. */
function typedDigits(value: string, previous: string): string {
  const digits = codeDigits(value);
  if (previous === '' || digits.length !== 2) return digits;
  return digits.startsWith(previous) ? digits.slice(1) : digits.slice(0, 1);
}
