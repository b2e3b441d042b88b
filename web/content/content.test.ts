import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { placeOf } from '#web/content/article-places.ts';
import { partsRead, readingProgress } from '#web/content/reading-progress.ts';
import { sharePage } from '#web/content/share-page.ts';
import { initialsOf } from '#web/ui/initials.ts';

describe('progress bar', () => {
  it('readingProgress runs from 0 to 100 percent and never beyond', () => {
    assert.equal(readingProgress(0, 1000), 0);
    assert.equal(readingProgress(250, 1000), 25);
    assert.equal(readingProgress(1000, 1000), 100);
    assert.equal(readingProgress(-40, 1000), 0, 'rubber band');
    assert.equal(readingProgress(1040, 1000), 100);
    assert.equal(readingProgress(0, 0), 100, 'everything fits the window');
  });
});

describe('parts of the article', () => {
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
});

describe('the place to continue at', () => {
  const place = (scrolled: number, ...headings: readonly number[]) =>
    placeOf({ scrolled, windowHeight: 800, headings, bottom: 4000 - scrolled });

  it('placeOf returns the last heading in the upper half of the window', () => {
    assert.equal(place(900, -500, 399, 401), 1);
    assert.equal(place(900, -500, -400, 399), 2);
  });

  it('placeOf returns nothing until a screen was read, and null at the end', () => {
    assert.equal(place(800, -700, 100), undefined);
    assert.equal(place(900, 500), undefined, 'before the first heading');
    assert.equal(place(3200, -3000), null);
  });
});

describe('sharing', () => {
  const DATA = { title: 'Guide', text: 'A guide', url: 'https://guide.example.com/' };
  const clipboard = (written: string[]) => ({ writeText: async (text: string) => void written.push(text) });

  it('sharePage uses the share sheet and accepts a cancellation', async () => {
    const shared: unknown[] = [];
    assert.equal(await sharePage({ share: async (data) => void shared.push(data) }, DATA), 'shared');
    assert.deepEqual(shared, [DATA]);
    const written: string[] = [];
    const cancel = async () => {
      throw new DOMException('no', 'AbortError');
    };
    assert.equal(await sharePage({ share: cancel, clipboard: clipboard(written) }, DATA), 'cancelled');
    assert.deepEqual(written, []);
  });

  it('sharePage copies the link without a share sheet', async () => {
    const written: string[] = [];
    assert.equal(await sharePage({ clipboard: clipboard(written) }, DATA), 'copied');
    const broken = async () => {
      throw new DOMException('no', 'NotAllowedError');
    };
    assert.equal(await sharePage({ share: broken, clipboard: clipboard(written) }, DATA), 'copied');
    assert.deepEqual(written, [DATA.url, DATA.url]);
  });

  it('sharePage reports a failure when neither sharing nor copying works', async () => {
    assert.equal(await sharePage({}, DATA), 'failed');
    assert.equal(
      await sharePage({ clipboard: { writeText: () => Promise.reject(new Error('no')) } }, DATA),
      'failed',
    );
  });
});

describe('initials', () => {
  it('initialsOf returns the first letters of the first and the last name', () => {
    assert.equal(initialsOf('Sarah Lindqvist'), 'SL');
    assert.equal(initialsOf('  ada  king lovelace '), 'AL');
    assert.equal(initialsOf('Cher'), 'C');
    assert.equal(initialsOf('𝒜da Ö'), '𝒜Ö');
    assert.equal(initialsOf(''), '');
  });
});
