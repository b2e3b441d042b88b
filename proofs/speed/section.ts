// The result of one part of the measurement.

/** Rows of docs/figures.md by key. */
export type Figures = Readonly<Record<string, readonly string[]>>;

export type Section = {
  /** How it was measured, in a sentence or two. */
  readonly how: string;
  /** Of a table. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What docs/figures.md keeps. The engine is added to each key. */
  readonly figures: Figures;
};

/** Compares two values: their ratio, and both. */
export function beside(one: number, other: number, digits: number): string {
  const say = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${say(one)}/${say(other)})`;
}
