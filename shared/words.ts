// Fills in the words of campaign/: places in {braces}, and the form that a number asks for.

/** A text, or one for each plural form of its language (CLDR: zero, one, two, few, many, other). */
export type Counted =
  string | ({ readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string | undefined>>);

/** A text with its places in {braces} filled in; a place that has no value stays as it is. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/**
 * The form of a text that a number asks for.
 * @param language of the text, such as `de` (BCP 47)
 */
export function pluralForm(text: Counted, count: number, language: string): string {
  if (typeof text === 'string') return text;
  return text[new Intl.PluralRules(language).select(count)] ?? text.other;
}

/** The current year as the campaign's language writes it, without its word for year. */
export function yearIn(language: string): string {
  const parts = new Intl.DateTimeFormat(language, { year: 'numeric' }).formatToParts();
  return parts.find(({ type }) => type === 'year')?.value ?? String(new Date().getFullYear());
}
