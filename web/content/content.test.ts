import assert from 'node:assert/strict';
import { it } from 'node:test';

import { placeOf } from '#web/content/article-places.ts';
import { partsRead, readingMinutes, readingProgress } from '#web/content/reading.ts';
import { sharePage, type ShareOutcome, type Sharer } from '#web/content/share-page.ts';
import { withUnbrokenTerms } from '#web/content/unbroken-terms.ts';
import { initialsOf } from '#web/ui/initials.ts';

it('readingProgress runs from 0 to 100 percent and never beyond', () => {
  assert.equal(readingProgress(0, 1000), 0);
  assert.equal(readingProgress(250, 1000), 25);
  assert.equal(readingProgress(1000, 1000), 100);
  assert.equal(readingProgress(-40, 1000), 0, 'rubber band');
  assert.equal(readingProgress(1040, 1000), 100);
  assert.equal(readingProgress(0, 0), 100, 'everything fits the window');
});

it('partsRead returns each quarter of the article that has been in view', () => {
  const at = (top: number, height = 4000) => partsRead({ top, height }, 800);
  assert.deepEqual(at(300), []);
  assert.deepEqual(at(-199), []);
  assert.deepEqual(at(-200), ['quarter']);
  assert.deepEqual(at(-2200), ['quarter', 'half', 'three-quarters']);
  assert.deepEqual(at(-3200), ['quarter', 'half', 'three-quarters', 'whole']);
  assert.deepEqual(at(-9000), ['quarter', 'half', 'three-quarters', 'whole'], 'far below it');
  assert.deepEqual(at(900), [], 'below the window');
  assert.deepEqual(at(0, 0), [], 'not there yet');
});

it('readingMinutes counts words, not tags and characters written as entities, and is never zero', () => {
  const words = (count: number) => 'word '.repeat(count);
  assert.equal(readingMinutes(`<p>${words(238 * 3)}</p>`, 'en'), 3);
  assert.equal(readingMinutes(`<p class="a b c">${words(238)}</p>${'<br />'.repeat(500)}`, 'en'), 1);
  assert.equal(readingMinutes(`<p>${'&quot;word&quot; '.repeat(238)}</p>`, 'en'), 1);
  assert.equal(readingMinutes('<p>Short.</p>', 'en'), 1);
  assert.equal(readingMinutes('', 'en'), 1);
});

it('readingMinutes counts the words of languages without spaces between them', () => {
  // "We read books."
  for (const [language, sentence, words] of [
    ['zh', '我们阅读书籍。', 3],
    ['th', 'เราอ่านหนังสือ', 3],
  ] as const)
    assert.equal(readingMinutes(`<p>${sentence.repeat(238)}</p>`, language), words, language);
});

const place = (scrolled: number, ...headings: readonly number[]) =>
  placeOf({ scrolled, windowHeight: 800, headings, bottom: 4000 - scrolled });

it('placeOf returns the last heading in the upper half of the window', () => {
  assert.equal(place(900, -500, 399, 401), 1);
  assert.equal(place(900, -500, -400, 399), 2);
});

it('placeOf returns undefined before a whole screen was read, and null at the end', () => {
  assert.equal(place(800, -700, 100), undefined);
  assert.equal(place(900, 500), undefined, 'before the first heading');
  assert.equal(place(3200, -3000), null);
});

it('withUnbrokenTerms marks a formula, wraps each term with its sign and changes no letter', () => {
  const html =
    '<blockquote>\n<p><strong>A rate = b c + d/e + f</strong></p>\n</blockquote><blockquote>\n<p>Words</p>\n</blockquote><p>1 + 1 = 2</p>';
  const kept = withUnbrokenTerms(html);
  assert.equal(
    kept,
    '<blockquote data-formula>\n<p><strong>A rate <span>= b c</span> <span>+ d/e</span> <span>+ f</span></strong></p>\n</blockquote><blockquote>\n<p>Words</p>\n</blockquote><p>1 + 1 = 2</p>',
  );
  assert.equal(kept.replaceAll(/<\/?span>| data-formula/g, ''), html);
});

it('withUnbrokenTerms leaves the descriptions of pictures and links as they are', () => {
  const html =
    '<blockquote>\n<p><img src="a.webp" alt="A rate = b + c" /> <a href="/" title="d = e">f</a></p>\n</blockquote>';
  assert.equal(withUnbrokenTerms(html), html);
});

const PAGE = { title: 'Guide', text: 'A guide', url: 'https://guide.example.com/' };
const fails = (name: string) => () => Promise.reject(new DOMException('no', name));
const BROWSERS: readonly (readonly [what: string, Sharer | { clipboard?: undefined }, ShareOutcome])[] = [
  ['has a share sheet', { share: () => Promise.resolve() }, 'shared'],
  ['has a share sheet that a visitor cancels', { share: fails('AbortError') }, 'cancelled'],
  ['has a share sheet that fails', { share: fails('NotAllowedError') }, 'copied'],
  ['has only a clipboard', {}, 'copied'],
  ['has neither a share sheet nor a clipboard', { clipboard: undefined }, 'failed'],
  ['has a clipboard that fails', { clipboard: { writeText: fails('NotAllowedError') } }, 'failed'],
];

for (const [what, browser, outcome] of BROWSERS)
  it(`sharePage returns "${outcome}" if the browser ${what}`, async () => {
    const written: string[] = [];
    const clipboard = { writeText: async (text: string) => void written.push(text) };
    assert.equal(await sharePage({ clipboard, ...browser } as Sharer, PAGE), outcome);
    assert.deepEqual(written, outcome === 'copied' ? [PAGE.url] : []);
  });

it('initialsOf returns the first letters of the first and the last name', () => {
  assert.equal(initialsOf('Sarah Lindqvist'), 'SL');
  assert.equal(initialsOf('  ada  king lovelace '), 'AL');
  assert.equal(initialsOf('Cher'), 'C');
  assert.equal(initialsOf('𝒜da Ö'), '𝒜Ö');
  assert.equal(initialsOf(''), '');
});
