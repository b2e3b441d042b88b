/** Rows of docs/figures.md by key. */
export type Figures = Readonly<Record<string, readonly string[]>>;

export type Section = {
  readonly how: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** For docs/figures.md. The engine is added to each key. */
  readonly figures: Figures;
};

export function compared(one: number, other: number, digits: number): string {
  const say = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${say(one)}/${say(other)})`;
}
