// Every slip in the article: where it is reported, and in which sentence.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { campaignComplaints } from '#server/campaign/campaign.ts';
import { called, FOLDER_NAME, withCampaignCopy } from '#testing/campaign-copy.ts';

const IN_THE_ARTICLE: readonly (readonly [it: string, written: string, complaints: readonly string[]])[] = [
  ['HTML', 'A line<br>and another', ['HTML is shown as text: <br>; write Markdown in its place']],
  ['a block of HTML', '<div>\nText\n</div>', ['HTML is shown as text: <div>; write Markdown in its place']],
  ['a comment', '<!-- later -->', ['a comment would be shown as text; take it out']],
  ['a second title', '# Another', ['is a second title; write ## for a section']],
  ['a heading without a blank', '##Section', ['a blank is missing behind the # of "##Section"']],
  ['boxes to tick', '- [ ] This', ['boxes to tick are not drawn; write a plain list']],
  ['a footnote', 'As shown.[^1]', ['[^1]: there are no footnotes; say it in the text']],
  [
    'a link with a gap',
    'See [this] (https://example.com).',
    ['a link is written [words](https://…), with nothing between ] and ('],
  ],
  [
    'a link with blanks',
    'See [this](https://example.com/a b).',
    ['a link or picture is not understood; it is written [words](https://…), without blanks'],
  ],
  [
    'a link without its scheme',
    'See [this](www.example.com).',
    ['www.example.com must begin with https://, as in https://www.example.com'],
  ],
  ['a link to nothing', 'See [this](#there).', ['#there leads to no place of the page']],
  [
    'a link by a name that nobody explains',
    'See [this][that].',
    ['[this][that]: no line says where this leads, such as "[name]: https://…"'],
  ],
  [
    'bold with a blank',
    'This is ** important**.',
    ['** is shown as it stands; no blank may stand between it and its words, and a second one ends it'],
  ],
  [
    'a table without its second line',
    '| a | b |\n| c | d |',
    ['is no table; the line under its first one must be | --- | --- |, with as many cells as the first'],
  ],
  [
    'a picture of another site',
    '![A chart](https://example.com/chart.png)',
    [
      'https://example.com/chart.png is not shown: the page shows pictures from media/ of the campaign alone; put it there, and write media/ and its name',
    ],
  ],
  [
    'a picture that is not there',
    '![A chart](media/chart.png)',
    ['media/chart.png is not there; put it into media/ of the campaign, with this name to the letter'],
  ],
  [
    'a picture without words',
    '![](media/og.png)',
    ['the picture has no words for those who cannot see it: ![what it shows](media/…)'],
  ],
  ['what looks like a slip within code', '```\n**a** <br> [x] (y) | a |\n```\n\nAnd `**` too.', []],
  [
    'all that can be shown',
    '| a | b |\n| --- | --: |\n| ~~c~~ | **d** |\n\n- *e* [f](https://example.com)',
    [],
  ],
];

describe('a slip in the words is reported with its file, its line, what is wrong and what to do', () => {
  for (const [what, written, complaints] of IN_THE_ARTICLE)
    it(`${what}, in the article`, () =>
      withCampaignCopy((folder) => {
        writeFileSync(path.join(folder, 'article/article.md'), `\n# Title\n\nText.\n\n${written}\n`);
        assert.deepEqual(
          called(folder, campaignComplaints(folder)),
          complaints.map((sentence) => `${FOLDER_NAME}/article/article.md:6: ${sentence}.`),
        );
      }));
});
