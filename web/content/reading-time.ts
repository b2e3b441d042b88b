// How long the article takes to read.

/** Words a minute of adults who read English prose silently: 238 in Brysbaert's review of 190 studies (2019). */
const WORDS_A_MINUTE = 238;

/**
 * Minutes that a reader needs for an article, at least 1.
 * @param html the article; its tags are not counted
 */
export function readingMinutes(html: string): number {
  const words = html.replaceAll(/<[^>]*>/g, ' ').match(/\S+/g)?.length ?? 0;
  return Math.max(1, Math.round(words / WORDS_A_MINUTE));
}
