// Fills in the campaign's words: {places} and plural forms.

export type Counted =
  string | ({ readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string | undefined>>);

/** Places without a value stay as they are. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

/** Takes a language tag (BCP 47), such as `de`. */
export function pluralForm(text: Counted, count: number, language: string): string {
  if (typeof text === 'string') return text;
  return text[new Intl.PluralRules(language).select(count)] ?? text.other;
}

/** Right-to-left scripts (ISO 15924). */
const RIGHT_TO_LEFT = /^(?:Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/;

export const languageAttributes = (language: string): string =>
  RIGHT_TO_LEFT.test(new Intl.Locale(language).maximize().script ?? '')
    ? `lang="${language}" dir="rtl"`
    : `lang="${language}"`;

/** In the campaign's language, without a word for "year". */
export function yearIn(language: string): string {
  const parts = new Intl.DateTimeFormat(language, { year: 'numeric' }).formatToParts();
  return parts.find(({ type }) => type === 'year')?.value ?? String(new Date().getFullYear());
}
