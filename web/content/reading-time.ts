/** Adults reading English prose silently: Brysbaert's review of 190 studies (2019). */
const WORDS_A_MINUTE = 238;

export function readingMinutes(html: string): number {
  const words = html.replaceAll(/<[^>]*>/g, ' ').match(/\S+/g)?.length ?? 0;
  return Math.max(1, Math.round(words / WORDS_A_MINUTE));
}
