import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { consentVersion, readCampaign } from '#server/campaign.ts';

const CONTENT = path.resolve(import.meta.dirname, '..', 'campaign');

/** Runs with a copy of campaign/ in which files were changed. */
function withContent(
  changes: Record<string, (text: string) => string>,
  test: (result: ReturnType<typeof readCampaign>) => void,
) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  try {
    cpSync(CONTENT, folder, { recursive: true });
    for (const [file, change] of Object.entries(changes)) {
      const place = path.join(folder, file);
      writeFileSync(place, change(readFileSync(place, 'utf8')));
    }
    test(readCampaign(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the words of the operator', () => {
  it('are used as they are written', () =>
    withContent(
      { 'site.yaml': (text) => text.replace(/^title: .*$/m, 'title: "Büro & Söhne"') },
      (result) => {
        assert(result.type === 'campaign');
        assert.equal(result.campaign.site.title, 'Büro & Söhne');
        assert.equal(
          result.campaign.consent.text,
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
        'campaign/consent.yaml: text: must not contain {year}: each receipt keeps the sentence as it is written here.',
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
        'interface.yaml': (text) =>
          text.replaceAll('{address}', '{adress}').replace(/^  send: .*$/m, '  sent: Send'),
      },
      (result) => {
        assert(result.type === 'complaints');
        const text = result.complaints.join('\n');
        assert.match(text, /^campaign\/interface\.yaml: form\.suggestion: must contain \{address\}/m);
        assert.match(text, /^campaign\/interface\.yaml: form\.suggestion: there is no \{adress\}/m);
        assert.match(text, /^campaign\/interface\.yaml: form\.send: must be a text/m);
        assert.match(
          text,
          /^campaign\/interface\.yaml: form: there is no entry sent; the entries are title,/m,
        );
        assert.match(text, /^campaign\/site\.yaml: title: must be a text\.$/m);
        assert.match(text, /^campaign\/site\.yaml: language: must be a text\.$/m);
        assert.match(text, /^campaign\/consent\.yaml cannot be read: /m);
        assert.match(text, /^campaign\/emails\/code\.yaml: subject: there is no \{cod\}; use one of/m);
        assert.match(text, /^campaign\/emails\/code\.yaml: validity: there is no \{minuts\}/m);
        assert.match(text, /^campaign\/emails\/code\.yaml: subject: must contain \{code\}/m);
        assert.match(text, /^campaign\/article\/article\.md: must begin with a title/m);
      },
    ));

  it('show raw HTML in the article as text', () =>
    withContent(
      { 'article/article.md': () => '# Title\n\nText <script>alert(1)</script> [x](javascript:alert(1))\n' },
      (result) => {
        assert(result.type === 'campaign');
        assert.equal(result.campaign.article.title, 'Title');
        assert.doesNotMatch(result.campaign.article.html, /<script|javascript:/);
        assert.match(result.campaign.article.html, /&lt;script&gt;/);
      },
    ));
});
