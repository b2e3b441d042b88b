/**
 * Fills an operator's words in: each `{name}` becomes its value.
 * @param values by name; a name that is not among them stays as it is written
 */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
