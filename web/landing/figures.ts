// Finds the numbers in the operator's words: those that are set large, and those that a figure's bars are drawn from.

/** A text in which one number is set large. The three parts, one after the other, are the whole text. */
export type Emphasis = { readonly before: string; readonly figure: string; readonly after: string };

/** Set larger than that many characters, a figure would be wider than a phone. */
const LONGEST_FIGURE = 7;

const isFigure = (word: string): boolean => word.length <= LONGEST_FIGURE && /^[^\s\d]?\d\S*$/.test(word);

/** The figure that a text begins with, as '9.7:1' in '9.7:1 ROI achieved'; null when it begins with a word. */
export function figureAtStart(text: string): Emphasis | null {
  const [, figure = '', after = ''] = /^(\S+)(\s.+)$/s.exec(text) ?? [];
  return isFigure(figure) ? { before: '', figure, after } : null;
}

/** The figure that a text ends with, with its full stop; null when it ends with a word. */
export function figureAtEnd(text: string): Emphasis | null {
  const [, before = '', figure = ''] = /^(.+\s)(\S+)$/s.exec(text) ?? [];
  return isFigure(figure) ? { before, figure, after: '' } : null;
}

/** Lengths of two bars, in percent of the longer one. */
export type Bars = { readonly from: number; readonly to: number };

/** The first number of a text; null where its sign may stand for a fraction or for thousands, as in 1,200. */
function numberIn(text: string): number | null {
  const [number = ''] = /\d+(?:[.,]\d+)*/.exec(text) ?? [];
  if (!/^\d+(?:[.,]\d{1,2})?$/.test(number)) return null;
  return Number(number.replace(',', '.'));
}

/** The bars of a figure that has grown or shrunk; null where the texts do not say by how much. */
export function barsOf(from: string, to: string): Bars | null {
  const [before, after] = [numberIn(from), numberIn(to)];
  if (before === null || after === null) return null;
  const longest = Math.max(before, after);
  if (longest === 0) return null;
  const share = (number: number): number => Math.round((1000 * number) / longest) / 10;
  return { from: share(before), to: share(after) };
}
