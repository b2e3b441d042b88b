import assert from 'node:assert/strict';
import { test } from 'node:test';

import { withUnbrokenTerms } from '#web/content/unbroken-terms.ts';

test('withUnbrokenTerms marks a formula, wraps each term with its sign and changes no letter', () => {
  const html =
    '<blockquote>\n<p><strong>A rate = b c + d/e + f</strong></p>\n</blockquote><blockquote>\n<p>Words</p>\n</blockquote><p>1 + 1 = 2</p>';
  const kept = withUnbrokenTerms(html);
  assert.equal(
    kept,
    '<blockquote data-formula>\n<p><strong>A rate <span>= b c</span> <span>+ d/e</span> <span>+ f</span></strong></p>\n</blockquote><blockquote>\n<p>Words</p>\n</blockquote><p>1 + 1 = 2</p>',
  );
  assert.equal(kept.replaceAll(/<\/?span>| data-formula/g, ''), html);
});
