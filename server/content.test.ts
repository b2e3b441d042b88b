import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { consentVersion, readContent } from '#server/content.ts';

const CONTENT = path.resolve(import.meta.dirname, '..', 'content');

/** Runs with a copy of content/ in which files were changed. */
function withContent(
  changes: Record<string, (text: string) => string>,
  test: (result: ReturnType<typeof readContent>) => void,
) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'content-'));
  try {
    cpSync(CONTENT, folder, { recursive: true });
    for (const [file, change] of Object.entries(changes)) {
      const place = path.join(folder, file);
      writeFileSync(place, change(readFileSync(place, 'utf8')));
    }
    test(readContent(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the words of the operator', () => {
  it('are used as they are written', () =>
    withContent(
      { 'site.yaml': (text) => text.replace(/^title: .*$/m, 'title: "Büro & Söhne"') },
      (result) => {
        assert(result.type === 'content');
        assert.equal(result.content.site.title, 'Büro & Söhne');
        assert.equal(
          result.content.consent.text,
          'I agree to receive emails about this guide and related marketing insights. You can unsubscribe anytime.',
        );
      },
    ));

  it('get a new consent version with every new wording, and only then', () => {
    assert.equal(consentVersion('a'), consentVersion('a'));
    assert.notEqual(consentVersion('a'), consentVersion('a.'));
  });

  it('say the consent the same today and in January: what the page filled in would not be what is stored', () =>
    withContent({ 'consent.yaml': () => 'text: I agree to receive emails in {year}.' }, (result) => {
      assert(result.type === 'complaints');
      assert.deepEqual(result.complaints, [
        'content/consent.yaml: text: must not contain {year}: each receipt keeps the sentence as it is written here.',
      ]);
    }));

  it('are complained about by file and entry, all at once', () =>
    withContent(
      {
        'site.yaml': (text) => text.replace(/^title: .*$/m, 'title: 5').replace(/^language: .*$/m, ''),
        'consent.yaml': () => 'text: [unfinished',
        'emails/code.yaml': (text) =>
          text
            .replace(/^subject: .*$/m, 'subject: Your {cod}')
            .replace('for {minutes} minutes', 'for {minuts} minutes'),
        'article/article.md': () => 'No title here',
      },
      (result) => {
        assert(result.type === 'complaints');
        const text = result.complaints.join('\n');
        assert.match(text, /^content\/site\.yaml: title: must be a text\.$/m);
        assert.match(text, /^content\/site\.yaml: language: must be a text\.$/m);
        assert.match(text, /^content\/consent\.yaml cannot be read: /m);
        assert.match(text, /^content\/emails\/code\.yaml: subject: there is no \{cod\}; use one of/m);
        assert.match(text, /^content\/emails\/code\.yaml: validity: there is no \{minuts\}/m);
        assert.match(text, /^content\/emails\/code\.yaml: subject: must contain \{code\}/m);
        assert.match(text, /^content\/article\/article\.md: must begin with a title/m);
      },
    ));

  it('show raw HTML in the article as text', () =>
    withContent(
      { 'article/article.md': () => '# Title\n\nText <script>alert(1)</script> [x](javascript:alert(1))\n' },
      (result) => {
        assert(result.type === 'content');
        assert.equal(result.content.article.title, 'Title');
        assert.doesNotMatch(result.content.article.html, /<script|javascript:/);
        assert.match(result.content.article.html, /&lt;script&gt;/);
      },
    ));
});
