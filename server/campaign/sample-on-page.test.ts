// The sample's people, figures and publisher: reported as long as they are on the page, and not longer.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { parse } from 'yaml';

import { SAMPLE, sampleOnPage } from '#server/campaign/sample-on-page.ts';
import type { Landing, Site } from '#shared/campaign-schema.ts';
import { GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import { called, withCampaignCopy } from '#testing/campaign-copy.ts';

const read = (folder: string, file: string): unknown =>
  parse(readFileSync(path.join(folder, file), 'utf8')) as unknown;
const SAMPLES = [TEST_CAMPAIGN, GERMAN_CAMPAIGN].map((folder) => ({
  landing: read(folder, 'landing.yaml') as Landing,
  site: read(folder, 'site.yaml') as Site,
}));

describe('the sample', () => {
  it('is known by the people and the publishers of the campaigns that the project comes with', () => {
    assert.deepEqual(
      SAMPLE.people,
      SAMPLES.flatMap(({ landing }) => landing.testimonials?.cards.map(({ name }) => name) ?? []),
    );
    assert.deepEqual(
      SAMPLE.publishers,
      SAMPLES.map(({ site }) => site.publisher),
    );
  });

  it('is known by its figures: all that it claims of people, and no others', () => {
    const claims = SAMPLES.flatMap(({ landing }) => [
      ...(landing.figures?.flatMap(({ value, from = '' }) => [value, from]) ?? []),
      ...(landing.testimonials?.cards.map(({ metric }) => metric) ?? []),
      ...landing.hero.trustLines,
      landing.solution?.proof ?? '',
    ]);
    const figures: readonly string[] = SAMPLE.figures;
    for (const figure of figures)
      assert.ok(
        claims.some((claim) => claim.includes(figure)),
        figure,
      );
    // A round figure alone may be anyone's; those that stand beside it name the sample well enough.
    const isRound = (text: string) => /^(?:\p{L}+ )?\d+(?::1|\s%)$/u.test(text);
    for (const claim of claims.filter((text) => /\d/.test(text) && !isRound(text)))
      assert.ok(
        figures.some((figure) => claim.includes(figure)),
        claim,
      );
  });

  it('is reported with the places where it stands', () =>
    withCampaignCopy((folder) => {
      const warnings = called(folder, sampleOnPage(folder)).map((sentence) =>
        sentence.replaceAll(/(?<=yaml:|line )\d+/g, 'N'),
      );
      assert.deepEqual(warnings, [
        'campaign/landing.yaml:N: the sample’s invented people are still on the page: Sarah Lindqvist (line N), Marcus Adeyemi (line N). Put your own customers there, with their permission.',
        'campaign/landing.yaml:N: the sample’s invented figures are still on the page: 11.4% (line N), 3.2% (line N), 9.7:1 (line N), 10.2x (line N), >10 X average ROI (line N), 3.5x improvement in 60 days (line N). Put figures there that you can prove.',
        'campaign/site.yaml:N: publisher: is still the sample’s, Master AI-Powered Outreach. Write who publishes the page.',
      ]);
    }));

  it('is reported until the last of it is gone', () =>
    withCampaignCopy((folder) => {
      const change = (
        file: string,
        ...changes: readonly (readonly [from: string | RegExp, to: string])[]
      ) => {
        const place = path.join(folder, file);
        let text = readFileSync(place, 'utf8');
        for (const [from, to] of changes) text = text.replaceAll(from, to);
        writeFileSync(place, text);
      };
      change(
        'landing.yaml',
        ['Sarah Lindqvist', 'Ines Maar'],
        [/11\.4%|9\.7:1|10\.2x|3\.5x|>10 X average ROI/g, '12.5%'],
      );
      change('site.yaml', [/^publisher: .*$/gm, 'publisher: Acme']);
      assert.match(
        sampleOnPage(folder).join('\n'),
        /^\S+ the sample’s invented people .*: Marcus Adeyemi\.[^\n]*\n\S+ the sample’s invented figures are still on the page: 3\.2%\. Put[^\n]*$/,
      );
      // A longer number that ends so is another one.
      change('landing.yaml', ['Marcus Adeyemi', 'Tom Okafor'], ['3.2%', '13.2%']);
      assert.deepEqual(sampleOnPage(folder), []);
    }));
});
