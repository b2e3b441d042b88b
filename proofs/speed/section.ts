// The result of one part of the measurement, as it is written to docs/measured/performance.md.
export type Section = {
  /** How it was measured, in a sentence or two. */
  readonly how: string;
  /** Of a table. */
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** One value beside another: their ratio, and both. */
export function beside(one: number, other: number, digits: number): string {
  const say = (value: number) => (Number.isFinite(value) ? value.toFixed(digits) : 'never');
  const ratio = one / other;
  return `${Number.isFinite(ratio) ? `**${ratio.toFixed(2)}** ` : ''}(${say(one)} of ${say(other)})`;
}
