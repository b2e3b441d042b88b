import { codeDigits } from '#shared/code-digits.ts';
import { CODE_LENGTH } from '#shared/lengths-and-resend.ts';

export type CodeEntry = {
  readonly digits: readonly string[];
  readonly focus: number;
};

export type CodeEntryEvent =
  | { readonly type: 'input'; readonly box: number; readonly value: string }
  | { readonly type: 'paste'; readonly box: number; readonly text: string }
  | { readonly type: 'backspace'; readonly box: number }
  | { readonly type: 'focus'; readonly box: number }
  | { readonly type: 'reset' };

export const EMPTY_CODE_ENTRY: CodeEntry = {
  digits: Array.from({ length: CODE_LENGTH }, () => ''),
  focus: 0,
};

const LAST = CODE_LENGTH - 1;
const clamp = (box: number): number => Math.min(Math.max(box, 0), LAST);

const MOVES: Readonly<Record<string, (box: number) => number>> = {
  ArrowLeft: (box) => box - 1,
  ArrowRight: (box) => box + 1,
  Home: () => 0,
  End: () => LAST,
};

/** For keys without Ctrl, Meta or Alt; null if the browser handles the key. */
export function eventOfKey(box: number, key: string): CodeEntryEvent | null {
  const move = MOVES[key];
  if (move !== undefined) return { type: 'focus', box: clamp(move(box)) };
  return key === 'Backspace' ? { type: 'backspace', box } : null;
}

export function completeCode({ digits }: CodeEntry): string | null {
  return digits.every((digit) => digit !== '') ? digits.join('') : null;
}

export function codeEntryReducer(entry: CodeEntry, event: CodeEntryEvent): CodeEntry {
  switch (event.type) {
    case 'input':
      if (event.value === '') return { digits: entry.digits.with(event.box, ''), focus: event.box };
      return enter(entry, event.box, typedDigits(event.value, entry.digits[event.box] ?? ''));
    case 'paste':
      return enter(entry, event.box, codeDigits(event.text));
    case 'backspace':
      return entry.digits[event.box] === ''
        ? { ...entry, focus: clamp(event.box - 1) }
        : { digits: entry.digits.with(event.box, ''), focus: event.box };
    case 'focus':
      return { ...entry, focus: event.box };
    case 'reset':
      return EMPTY_CODE_ENTRY;
  }
}

function enter(entry: CodeEntry, box: number, typed: string): CodeEntry {
  if (typed === '') return entry;
  const start = typed.length >= CODE_LENGTH ? 0 : box;
  const characters = typed.slice(0, CODE_LENGTH - start).split('');
  // Typing over the first digit of an unchecked code starts a new one.
  const restarts = start === 0 && completeCode(entry) !== null;
  const digits = entry.digits.map((digit, index) => characters[index - start] ?? (restarts ? '' : digit));
  return { digits, focus: clamp(start + characters.length) };
}

/** Returns the new digit of a box that already had one, wherever the caret was. */
function typedDigits(value: string, previous: string): string {
  const digits = codeDigits(value);
  if (previous === '' || digits.length !== 2) return digits;
  return digits.startsWith(previous) ? digits.slice(1) : digits.slice(0, 1);
}
