import assert from 'node:assert/strict';
import { it } from 'node:test';

import { campaignMistakes, readCampaign, readConsent } from '#server/campaign/campaign.ts';
import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { landingSchemaOf } from '#server/campaign/words-and-files.ts';
import { readWords } from '#server/campaign/words-file.ts';
import { sectionsOf } from '#shared/campaign-schema.ts';
import { withFolderName, mistakesWith, withChangedCampaign } from '#testing/campaign-copy.ts';
import { valuesOf } from '#testing/values-of.ts';

const landing = (folder: string, variant: string | null) => {
  const result = readWords(folder, 'landing.yaml', landingSchemaOf(folder), variant);
  assert.ok(result.type === 'words', JSON.stringify(result));
  return result.words;
};

it('a variant overrides single entries and replaces lists as a whole', () => {
  const file = `hero:
  headline: Write Emails That Get Answers
benefits:
  cards:
    - icon: target
      title: One
      description: The only one.
sections: [testimonials, benefits]
`;
  withChangedCampaign({ 'variants/b/landing.yaml': file }, (folder) => {
    assert.deepEqual(campaignMistakes(folder), []);
    const [own, b] = [landing(folder, null), landing(folder, 'b')];
    assert.deepEqual(b.hero, { ...own.hero, headline: 'Write Emails That Get Answers' });
    assert.deepEqual(b.benefits?.cards, [{ icon: 'target', title: 'One', description: 'The only one.' }]);
    assert.equal(b.benefits?.title, own.benefits?.title);
    assert.deepEqual(sectionsOf(b), ['testimonials', 'benefits']);
    assert.deepEqual(b.closing, own.closing);
  });
});

it("a variant has the consent version of its own wording, or else the campaign's", () => {
  withChangedCampaign(
    {
      'variants/b/consent.yaml': 'text: Send me the guide and what is like it.',
      'variants/c/landing.yaml': '# nothing yet',
    },
    (folder) => {
      const result = readCampaign(folder);
      assert.ok(result.type === 'campaign', JSON.stringify(result));
      const { consent, variants } = result.campaign;
      assert.deepEqual(valuesOf(variants, 'name'), ['a', 'b', 'c']);
      const [a, b, c] = variants;
      assert.deepEqual(a?.consent, consent);
      assert.deepEqual(c?.consent, consent);
      assert.equal(b?.consent.text, 'Send me the guide and what is like it.');
      assert.notEqual(b?.consent.version, consent.version);
      assert.deepEqual(readConsent(folder, 'b'), { type: 'words', words: b?.consent });
    },
  );
});

it('mistakes in a variant are reported with file, line and fix', () => {
  const file = `hero:
  headlin: Nearly
benefits:
  cards:
    - icon: target
      title: One
`;
  assert.deepEqual(mistakesWith({ 'variants/b/landing.yaml': file }), [
    'campaign/variants/b/landing.yaml:2: hero.headlin: unknown entry. Did you mean headline?',
    'campaign/variants/b/landing.yaml:5: benefits.cards 1, description: is missing.',
  ]);
  assert.deepEqual(mistakesWith({ 'variants/b/consent.yaml': 'text:\n' }), [
    'campaign/variants/b/consent.yaml:1: text: must not be empty.',
  ]);
  assert.deepEqual(mistakesWith({ 'variants/b/landing.yaml': '# A list.\n- headline: Another\n' }), [
    'campaign/variants/b/landing.yaml:2: the file: must be a group of entries, not a list.',
  ]);
});

it('a variant that omits a section linked from the footer is reported', () => {
  const [mistake = '', ...others] = mistakesWith({
    'variants/b/landing.yaml': 'sections: [testimonials]',
    'site.yaml': (text) => text.replace(/href: .*/, "href: '#benefits'"),
  });
  assert.match(
    mistake,
    /^campaign\/site\.yaml:\d+: footerLinks 1, href: leads to a place that does not exist on the page\. The existing places are #testimonials, #closing\. \(Variant b\.\)$/,
  );
  assert.deepEqual(others, []);
});

it('an invalid variant name and unknown variant files are reported', () => {
  const cure = 'A variant may only contain landing.yaml, interface.yaml, consent.yaml.';
  const name =
    'must be a folder with a short name of lower-case letters, digits and hyphens, such as b. The name a is reserved for the campaign’s own page.';
  assert.deepEqual(
    mistakesWith({
      'variants/a/landing.yaml': '# nothing',
      'variants/b/site.yaml': 'title: Another',
      'variants/The second/landing.yaml': '# nothing',
      'variants/landing.yaml': '# nothing',
    }),
    [
      `campaign/variants/The second: ${name}`,
      `campaign/variants/a: ${name}`,
      `campaign/variants/landing.yaml: ${name}`,
      `campaign/variants/b/site.yaml: is the same for all variants. ${cure}`,
    ],
  );
});

it('a variant with a long headline or separate consent causes warnings', () => {
  const headline = 'A headline that says so much that nobody on a telephone will ever see the button';
  withChangedCampaign(
    {
      'variants/b/landing.yaml': `hero:\n  headline: ${headline}\n`,
      'variants/b/consent.yaml': 'text: Send me mail.\n',
    },
    (folder) => {
      const [long = '', consent = '', ...others] = withFolderName(folder, campaignWarnings(folder));
      assert.match(long, /variants\/b\/landing\.yaml:2: hero\.headline: has \d+ characters/);
      assert.match(
        consent,
        /variants\/b\/consent\.yaml: visitors of variant b agree to a different wording than visitors of a\. .* version [0-9a-f]{12}\./,
      );
      assert.deepEqual(others, []);
    },
  );
});
