import { READ_STEPS, type ReadStep } from '#shared/funnel.ts';

/** Takes pixels, returns percent. */
export function readingProgress(scrolled: number, scrollable: number): number {
  if (scrollable <= 0) return 100;
  return Math.min(100, Math.max(0, (scrolled / scrollable) * 100));
}

export function partsRead(
  { top, height }: Pick<DOMRect, 'top' | 'height'>,
  windowHeight: number,
): readonly ReadStep[] {
  const share = height > 0 ? Math.max(0, (windowHeight - top) / height) : 0;
  return READ_STEPS.slice(0, Math.floor(share * READ_STEPS.length));
}

/** Adults reading English prose silently: Brysbaert's review of 190 studies (2019). */
const WORDS_A_MINUTE = 238;

export function readingMinutes(html: string, language: string): number {
  const words = countWords(html.replaceAll(/<[^>]*>|&\w+;/g, ' '), language);
  return Math.max(1, Math.round(words / WORDS_A_MINUTE));
}

/** Chinese, Japanese and Thai have no spaces between words. Firefox before 125 has no segmenter. */
function countWords(text: string, language: string): number {
  if (!('Segmenter' in Intl)) return text.match(/\S+/g)?.length ?? 0;
  const segments = new Intl.Segmenter(language, { granularity: 'word' }).segment(text);
  return Array.from(segments).filter(({ isWordLike }) => isWordLike).length;
}
