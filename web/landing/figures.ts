export type Emphasis = { readonly before: string; readonly figure: string; readonly after: string };

/** In characters. A longer figure would be wider than a phone. */
const LONGEST_FIGURE = 7;

const isFigure = (word: string): boolean => word.length <= LONGEST_FIGURE && /^[^\s\d]?\d\S*$/.test(word);

/** Finds '9.7:1' in '9.7:1 ROI achieved'. Returns null if the text starts with a word. */
export function figureAtStart(text: string): Emphasis | null {
  const [, figure = '', after = ''] = /^(\S+)(\s.+)$/s.exec(text) ?? [];
  return isFigure(figure) ? { before: '', figure, after } : null;
}

export function figureAtEnd(text: string): Emphasis | null {
  const [, before = '', figure = ''] = /^(.+\s)(\S+)$/s.exec(text) ?? [];
  return isFigure(figure) ? { before, figure, after: '' } : null;
}

export type Bars = { readonly from: number; readonly to: number };

/** Returns null if the separator is ambiguous, as in 1,200. */
function numberIn(text: string): number | null {
  const [number = ''] = /\d+(?:[.,]\d+)*/.exec(text) ?? [];
  if (!/^\d+(?:[.,]\d{1,2})?$/.test(number)) return null;
  return Number(number.replace(',', '.'));
}

export function barsOf(from: string, to: string): Bars | null {
  const [before, after] = [numberIn(from), numberIn(to)];
  if (before === null || after === null) return null;
  const longest = Math.max(before, after);
  if (longest === 0) return null;
  const share = (number: number): number => Math.round((1000 * number) / longest) / 10;
  return { from: share(before), to: share(after) };
}
