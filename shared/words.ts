export type Counted =
  | string
  | ({ readonly other: string } & Partial<Record<Intl.LDMLPluralRule, string | undefined>>);

/** Fills in placeholders. Those without a value stay unchanged. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}

/** @param language a tag (BCP 47), such as `de` */
export function pluralForm(text: Counted, count: number, language: string): string {
  if (typeof text === 'string') return text;
  return text[new Intl.PluralRules(language).select(count)] ?? text.other;
}

/** Right-to-left scripts (ISO 15924). */
const RIGHT_TO_LEFT = /^(?:Adlm|Arab|Hebr|Nkoo|Rohg|Syrc|Thaa)$/;

export const isRightToLeft = (language: string): boolean =>
  RIGHT_TO_LEFT.test(new Intl.Locale(language).maximize().script ?? '');

export const languageAttributes = (language: string): string =>
  isRightToLeft(language) ? `lang="${language}" dir="rtl"` : `lang="${language}"`;

/** Replaces {year} in every text. */
export const withYear = <Words>(words: Words, language: string): Words =>
  JSON.parse(JSON.stringify(words).replaceAll('{year}', yearIn(language))) as Words;

/** Only the number, because some languages add a word for "year". */
function yearIn(language: string): string {
  const parts = new Intl.DateTimeFormat(language, { year: 'numeric' }).formatToParts();
  return parts.find(({ type }) => type === 'year')?.value ?? String(new Date().getFullYear());
}

const LINK_TARGET =
  /^(?:https?:\/\/[^\s/?#]+\.?[^\s]*|mailto:[^\s@]+@[^\s@]+|tel:\+?[\d\s().-]+|\/(?!\/)\S*)$/i;

/**
 * Makes a link from the landing page work on another page.
 * @param href a valid link
 * @param path the path of PUBLIC_URL
 */
export const fromOtherPage = (href: string, path: string): string =>
  /^#./.test(href) ? `${path}/${href}` : href;

/**
 * Returns an error as a phrase that follows the name of the entry; null for a working link.
 * @param anchors targets within the page; null to accept any, while they are unknown
 */
export function linkMistake(href: string, anchors: readonly string[] | null): string | null {
  if (href === '#') return null;
  if (href.startsWith('#'))
    return anchors === null || anchors.includes(href.slice(1))
      ? null
      : `leads to a place that does not exist on the page${anchors.length > 0 ? `. The existing places are #${anchors.join(', #')}` : ''}`;
  return LINK_TARGET.test(href) && !/\s/.test(href.replace(/^tel:.*/, ''))
    ? null
    : 'must begin with https://, mailto: or tel:, or with / for a page of this site, without quotes or spaces';
}
