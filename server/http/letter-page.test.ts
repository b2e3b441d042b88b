import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { it } from 'node:test';

import { createLetterPage } from '#server/http/letter-page.ts';

const site = {
  title: 'Guide & Co',
  language: 'en',
  copyright: '© 2026 Guide & Co',
  footerLinks: [
    { label: 'Terms', href: '#' },
    { label: 'Lessons', href: '#benefits' },
    { label: 'Imprint', href: 'https://example.com/imprint' },
  ],
};
const words = { documentTitle: 'Tab', title: 'Title', text: 'Text', action: '' };

function pageOf(changes: Partial<Parameters<typeof createLetterPage>[0]> = {}) {
  const page = createLetterPage({ ...site, ...changes }, true, '')(words);
  const { body } = page.representationFor(undefined);
  const policy = String(page.headers['content-security-policy']);
  return { html: body.toString(), policy };
}

it('the policy of a page linked from mail allows only its one inline script and style', () => {
  for (const colors of [
    undefined,
    { accent: { light: '#1c4e8a', dark: '#9cc3f0' }, plate: { light: '#17365e', dark: '#1b3a63' } },
  ]) {
    const { html, policy } = pageOf({ colors });
    const inline = [...html.matchAll(/<(?:script|style)>(.*?)<\/(?:script|style)>/gs)].map(
      ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
    );
    assert.equal(inline.length, 2);
    assert.deepEqual(policy.match(/'sha256-[^']+'/g), inline);
    assert.doesNotMatch(html, / style="| on\w+="/);
    if (colors) assert.match(html, /--accent:#1c4e8a.*\.dark\{--accent:#9cc3f0/s);
  }
});

it('a page linked from mail has the logo, the copyright and working links', () => {
  const { html } = pageOf();
  assert.match(html, /<header><a href="\/"><svg [^>]*>.*?<\/svg><span>Guide &amp; Co<\/span>/);
  assert.ok(html.includes('<footer><p>© 2026 Guide &amp; Co</p>'));
  assert.deepEqual(
    [...html.matchAll(/<li><a href="([^"]+)">/g)].map(([, href]) => href),
    ['#', '/#benefits', 'https://example.com/imprint'],
  );
  assert.match(pageOf({ logo: 'logo.svg' }).html, /<img src="\/media\/logo\.svg" alt=""/);
  assert.doesNotMatch(pageOf({ footerLinks: [] }).html, /<ul>/);
});
