import assert from 'node:assert/strict';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';

import { parse, stringify } from 'yaml';

import { PROJECT_FOLDER } from '#server/platform/files.ts';
import { renderArticle } from '#server/campaign/article.ts';
import { campaignMistakes, pageMistakes, readCampaign } from '#server/campaign/campaign.ts';
import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { adding, mistakesWith, withChangedCampaign } from '#testing/campaign-copy.ts';
import { words } from '#testing/words.ts';

it('a campaign folder that is missing or a file is reported in one sentence', () => {
  for (const folder of ['/no/such/folder', import.meta.filename]) {
    const mistakes = [`CAMPAIGN_FOLDER names ${folder}, which is not an existing folder. Correct the path.`];
    assert.deepEqual(readCampaign(folder), { type: 'mistakes', mistakes });
    assert.deepEqual(campaignMistakes(folder), mistakes);
    assert.deepEqual(pageMistakes(folder), []);
  }
});

it('the shipped, example and test campaigns have no mistakes and no warnings', () => {
  for (const folder of ['campaign', 'examples/german', 'testing/campaign']) {
    const result = readCampaign(path.join(PROJECT_FOLDER, folder));
    assert.deepEqual(result.type === 'mistakes' ? result.mistakes : [], []);
    assert.deepEqual(campaignWarnings(path.join(PROJECT_FOLDER, folder)), []);
  }
});

it('mails and the desk show a year instead of {year} in the title', () =>
  withChangedCampaign(
    { 'site.yaml': (text) => text.replace(/^title: .*$/m, 'title: Outreach {year}') },
    (folder) => {
      const result = readCampaign(folder);
      assert(result.type === 'campaign');
      assert.equal(result.campaign.site.title, `Outreach ${new Date().getFullYear()}`);
    },
  ));

it('a campaign mistake names a file inside the project by its relative path', () => {
  const noSite = (folder: string) => {
    const result = readCampaign(folder);
    assert(result.type === 'mistakes');
    return result.mistakes.find((mistake) => mistake.includes('site.yaml'))?.split(' ')[0];
  };
  assert.equal(noSite(path.join(TEST_CAMPAIGN, 'article')), 'testing/campaign/article/site.yaml:');
  assert.equal(noSite(os.tmpdir()), `${path.join(os.tmpdir(), 'site.yaml')}:`);
});

it('a missing picture, a missing film and a logo without a size are reported as mistakes', () => {
  const mistakes = mistakesWith({
    'site.yaml': adding('logo: our-logo.svg'),
    'media/our-logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'media/film.webm': null,
    'media/hero-640.avif': null,
  });
  assert.deepEqual(
    mistakes.map((sentence) => sentence.replace(/yaml:\d+/, 'yaml')),
    [
      'campaign/site.yaml: logo: media/our-logo.svg has no viewBox. Export the SVG with a viewBox.',
      'campaign/landing.yaml: hero.imageAlt: needs media/hero-640.avif. Add the missing file, or remove the entry.',
      'campaign/landing.yaml: video: needs media/film.webm. Add the missing file, or remove the entry.',
    ],
  );
});

const mistakesIn = (change: (landing: Record<string, unknown>) => void, footerLink = '#') =>
  mistakesWith({
    'landing.yaml': (text) => {
      const landing = parse(text) as Record<string, unknown>;
      change(landing);
      return stringify(landing);
    },
    'site.yaml': (text) => text.replace("href: '#'", `href: '${footerLink}'`),
  });

it('the landing page can omit any or all of its optional sections', () => {
  const all = ['benefits', 'howItWorks', 'video', 'problems', 'solution', 'testimonials'];
  for (const left of [...all.map((name) => [name]), all])
    assert.deepEqual(
      mistakesIn((landing) => {
        for (const name of [...left, ...(left.includes('benefits') ? ['inside'] : [])]) delete landing[name];
      }),
      [],
      left.join(),
    );
});

it('the landing page needs a hero, a closing card, and benefits if it shows pages of the guide', () => {
  assert.deepEqual(
    mistakesIn((landing) => {
      delete landing['hero'];
      delete landing['closing'];
    }).map((sentence) => sentence.replace(/^.*yaml:\d+: /, '')),
    ['hero: is missing.', 'closing: is missing.'],
  );
  assert.match(
    mistakesIn((landing) => delete landing['benefits']).join(),
    /^campaign\/landing\.yaml:\d+: inside: belongs to the end of benefits, which are missing\. Add benefits, or remove this entry\.$/,
  );
});

it('the footer can link to a section only if it exists', () => {
  const withoutProof = (landing: Record<string, unknown>) => delete landing['testimonials'];
  assert.deepEqual(mistakesIn(withoutProof, '#benefits'), []);
  assert.match(
    mistakesIn(withoutProof, '#testimonials').join(),
    /^campaign\/site\.yaml:\d+: footerLinks 1, href: leads to a place that does not exist on the page\. The existing places are #benefits, #how-it-works, #problems, #solution, #closing\.$/,
  );
  assert.deepEqual(
    mistakesIn((landing) => {
      landing['questions'] = { title: 'Questions', answers: [{ question: 'Is it free?', answer: 'Yes.' }] };
      landing['sections'] = words(`video questions testimonials solution problems howItWorks benefits`);
    }, '#questions'),
    [],
  );
});

it('HTML in the article is shown as text', () => {
  const article = renderArticle('# Title\n\nText <script>alert(1)</script> [x](javascript:alert(1))\n');
  assert.equal(article?.title, 'Title');
  assert.doesNotMatch(article.html, /<script|javascript:/);
  assert.match(article.html, /&lt;script&gt;/);
});

it('the article can link to telephone numbers, but not to scripts', () => {
  const markdown =
    '# Title\n\n[Call](tel:+49301234) <tel:+49301234> [x][y] <javascript:alert(1)>\n\n[y]: <data:a>\n';
  const html = renderArticle(markdown)?.html ?? '';
  assert.deepEqual(
    Array.from(html.matchAll(/<a href="(.*?)">/g), ([, href]) => href),
    ['tel:+49301234', 'tel:+49301234', '', ''],
  );
});

it('the article can contain strikethrough and tables, which scroll by keyboard if wide', () => {
  const article = renderArticle(
    '# Title\n\n| a | *b*[^1] |\n| --- | --: |\n| ~~c~~ | d |\n\n[^1]: A note.\n',
  );
  assert.match(
    article?.html ?? '',
    /^<div tabindex="0" role="group" aria-label="a, b"><table>\n<thead>\n<tr>\n<th>a<\/th>/,
  );
  assert.match(article?.html ?? '', /<td><del>c<\/del><\/td>\n<td align="right">d<\/td>/);
});

it('code in a right-to-left article keeps its own writing direction', () => {
  const html = renderArticle('# عنوان\n\n`p=none;`\n\n```prompt\nv=DMARC1;\n```\n')?.html ?? '';
  assert.match(html, /<code dir="auto">p=none;<\/code>/);
  assert.match(html, /<pre dir="auto"><code class="language-prompt">v=DMARC1;/);
});

it('a heading gets an ID made from its words', () => {
  const html =
    renderArticle('# Title\n\n## *Größe* & “Ton”\n\n### Size 2\n\n### Size 2\n\n## …\n')?.html ?? '';
  assert.deepEqual(
    Array.from(html.matchAll(/<h\d id="([^"]*)">/g), ([, id]) => id),
    ['section-größe-ton', 'section-size-2', 'section-size-2-2', 'section'],
  );
  assert.match(html, /<h2 id="section-größe-ton"><em>Größe<\/em> &amp; “Ton”<\/h2>/);
});

it('an article with five sections gets a table of contents before the first, if the campaign has words for it', () => {
  const sections = ['One', '*Two* & 2', 'Three[^1]', 'Four', 'Five'].map(
    (title) => `## ${title}\n\nText.\n\n`,
  );
  const articleWith = (count: number) =>
    `# Title\n\nLead.\n\n${sections.slice(0, count).join('')}[^1]: A note.\n`;
  const contents = 'Q&A <1>';
  const html = renderArticle(articleWith(5), { contents })?.html ?? '';
  assert.match(
    html,
    /<p>Lead.<\/p>\n<nav aria-labelledby="contents"><p id="contents">Q&amp;A &lt;1&gt;<\/p><ol><li>/,
  );
  assert.match(html, /<\/ol><\/nav><h2 id="section-one">/);
  assert.deepEqual(
    Array.from(html.matchAll(/<li><a href="#(section.*?)">(.*?)<\/a>/g), ([, ...link]) => link),
    [
      ['section-one', 'One'],
      ['section-two-2', 'Two &amp; 2'],
      ['section-three', 'Three'],
      ['section-four', 'Four'],
      ['section-five', 'Five'],
    ],
  );
  assert.doesNotMatch(renderArticle(articleWith(4), { contents })?.html ?? '', /<nav/);
  assert.doesNotMatch(renderArticle(articleWith(5))?.html ?? '', /<nav/);
});

it('footnotes are below the article, linked in both directions, and need words', () => {
  const markdown = '# Title\n\nText.[^a] Again.[^a]\n\n[^a]: A *note*.\n';
  const mistakes = mistakesWith({
    'article/article.md': markdown,
    'interface.yaml': (text) => text.replace(/^  notes:\n(?:    .*\n)+/m, ''),
  });
  assert.match(mistakes.join(), /article\.md: footnotes need two words\. Copy "article: notes:"/);
  const html = renderArticle(markdown, { notes: { title: 'Notes', back: 'Back' } })?.html ?? '';
  assert.match(html, /Text\.<sup><a href="#fn-a" id="fnref-a"[^>]*>1<\/a><\/sup> Again/);
  assert.match(
    html,
    /<p id="footnote-label">Notes<\/p>\n<ol>\n<li id="fn-a">\n<p>A <em>note<\/em>\. <a href="#fnref-a"/,
  );
  assert.match(html, /aria-label="Back" class="data-footnote-backref">↑<\/a> <a href="#fnref-a-2"/);
});

it('a picture in the article gets its size from its file name and a URL that works under a path', () => {
  const html = renderArticle('# Title\n\n![A](media/a-640x280.webp) ![B](/media/b.webp)\n')?.html ?? '';
  assert.match(html, /<img src="media\/a-640x280.webp" width="640" height="280" loading="lazy" alt="A" \/>/);
  assert.match(html, /<img src="media\/b.webp" alt="B" \/>/);
});
