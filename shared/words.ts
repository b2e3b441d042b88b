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

/** Scripts that run from right to left (ISO 15924). */
const RIGHT_TO_LEFT = /^(?:Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/;

/** The attributes of an element in this language. A right-to-left script needs its direction stated. */
export const languageAttributes = (language: string): string =>
  RIGHT_TO_LEFT.test(new Intl.Locale(language).maximize().script ?? '')
    ? `lang="${language}" dir="rtl"`
    : `lang="${language}"`;

/** The current year as the campaign's language writes it, without its word for year. */
export function yearIn(language: string): string {
  const parts = new Intl.DateTimeFormat(language, { year: 'numeric' }).formatToParts();
  return parts.find(({ type }) => type === 'year')?.value ?? String(new Date().getFullYear());
}
