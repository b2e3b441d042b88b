import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';

import { campaignMistakes } from '#server/campaign/campaign.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { called, FOLDER_NAME, withCampaignCopy } from '#testing/campaign-copy.ts';

/** In the expected mistakes, `@` is the number of the changed line. */
type Case = readonly [written: string | Buffer, ...mistakes: string[]];

const NOT_READ = 'cannot be read:';
const QUOTES = 'put the whole text in quotes.';

const FOR_THE_PUBLISHER: readonly Case[] = [
  [
    'publisher: Us\npublisher: Them\npublicher: We',
    `@+1:1: ${NOT_READ} publisher is here twice; keep one of them.`,
    '@+2: publicher: unknown entry; did you mean publisher?',
  ],
  ['publisher: Us: the publisher', `@:12: ${NOT_READ} a text with a colon must be in quotes; ${QUOTES}`],
  ['publisher: @us', `@:12: ${NOT_READ} a text that begins with @ must be in quotes; ${QUOTES}`],
  [
    'publisher: *us',
    `@:12: ${NOT_READ} a text that begins with * must be in quotes (there is no &us before this).`,
  ],
  ['publisher: !us and them', `@:12: ${NOT_READ} a text that begins with ! must be in quotes; ${QUOTES}`],
  [
    'publisher: &nbsp; Us',
    `@:19: ${NOT_READ} &nbsp; is not replaced by a character here; type the character itself.`,
  ],
  [
    "publisher: 'Don't stop'",
    `@:17: ${NOT_READ} a ' within '…' ends the text; write '' for it, or put the text in "…".`,
  ],
  ['publisher: "Say "hi" now"', `@:18: ${NOT_READ} a " within "…" ends the text; put the text in '…'.`],
  ['publisher: "Us', `@:12: ${NOT_READ} the quote that begins here has no end.`],
  [
    String.raw`publisher: "C:\Us"`,
    String.raw`@:15: ${NOT_READ} within "…" a \ is written \\; or put the text in '…'.`,
  ],
  ['publisher:Us', `@:1: ${NOT_READ} a blank is missing after the colon.`],
  [
    'publisher: Us\nand them',
    `@+1:1: ${NOT_READ} the line has no name with a colon; is it the rest of a text, indent it further than its name.`,
  ],
  [
    '<<<<<<< ours\npublisher: Us\n=======\npublisher: Them\n>>>>>>> theirs',
    `@:1: ${NOT_READ} two versions are here, and one has to be chosen.`,
  ],
  ['publisher: Us\n---', `@+1:1: ${NOT_READ} --- would begin a second file; remove the line.`],
  ['publisher:\n  - Us\n  - Them', '@: publisher: must be a text, not a list.'],
  ['publisher:\n  name: Us', '@: publisher: must be a text, not a group of entries.'],
  ['publisher:', '@: publisher: must not be empty.'],
  ...['1.10', '0123', '0x1F', '.inf'].map((number): Case => [
    `publisher: ${number}`,
    `@: publisher: must be a text; put it in quotes: '${number}'.`,
  ]),
];

const FOR_THE_BADGE: readonly Case[] = [
  ['\tbadge: New', `@:1: ${NOT_READ} the line is indented with a tab; use blanks.`],
  [
    '\u00A0\u00A0badge: New',
    `@:1: ${NOT_READ} the line begins with a character that looks like a blank but is not; type blanks.`,
  ],
  ['  badge: > 10 X', `@:12: ${NOT_READ} a text that begins with > must be in quotes; ${QUOTES}`],
  [
    '  badge: The #1 guide',
    `@:13: ${NOT_READ} "#1 guide" would be left out, as # begins a comment; ${QUOTES}`,
  ],
  [' badge: New', `@:1: ${NOT_READ} the line is not indented like its neighbours.`],
  [
    '  badge: >-\n    New\n    and <b>bold</b>',
    '@+2: hero.badge: <b> would be shown exactly as written; use plain words.',
    '@+2: hero.badge: </b> would be shown exactly as written; use plain words.',
  ],
  [
    '  badge: New&nbsp;and free',
    '@: hero.badge: &nbsp; would be shown exactly as written; type the character itself.',
  ],
  [
    '  badge: The **best** [guide](https://example.com)',
    '@: hero.badge: **best** would be shown exactly as written; use plain words.',
    '@: hero.badge: [guide](https://example.com) would be shown exactly as written; use plain words.',
  ],
  ['  badge: For {firstName}', '@: hero.badge: there is no {firstName}; use one of {year}.'],
];

const IN_THE_SITE: readonly Case[] = [
  [
    "colors:\n  accent:\n    light: #0e5a43\n    dark: '#8fd3b2'\n  plate:\n    light: '#123d30'\n    dark: '#143a2e'",
    "@+2: colors.accent.light: is empty, as # begins a comment; put it in quotes: '#0e5a43'.",
  ],
  [
    "colors:\n  accent:\n    light: 'green'\n    dark: '#8fd3b2'\n  plate:\n    light: '#123d30'\n    dark: '#143a2e'",
    "@+2: colors.accent.light: must be a colour such as '#0e5a43', in quotes.",
  ],
  [
    'analytics:\n  tool: google\n  script: https://www.example.com/gtag.js',
    '@+1: analytics.tool: must be one of plausible, umami, matomo.',
  ],
  [
    'analytics:\n  tool: umami\n  script: cloud.umami.is/script.js\n  domain: example.com',
    '@: analytics.site: is missing.',
    '@+2: analytics.script: must be an address: https:// and the file of the script, as in https://cloud.umami.is/script.js.',
    '@+3: analytics.domain: unknown entry; the entries here are tool, script, site.',
  ],
  [
    'analytics:\n  tool: plausible\n  script: https://plausible.io/js/script.js',
    '@+2: analytics.script: must be an address: https://, and a file such as pa-XXXX.js, as Plausible shows it under Site installation.',
  ],
  [
    'analytics:\n  tool: matomo\n  script: https://cdn.matomo.cloud/acme.matomo.cloud/matomo.js\n  site: "7"',
    '@+2: analytics.script: must be the script of your Matomo, such as https://acme.matomo.cloud/matomo.js; its CDN does not count visits.',
  ],
  [
    "analytics:\n  tool: matomo\n  script: 'https://a.example;img-src */matomo.js'\n  site: 7",
    '@+2: analytics.script: must be an address: https:// and the file matomo.js of your Matomo, as in https://stats.example.com/matomo.js.',
    "@+3: analytics.site: must be the number that Matomo gave to the site, such as '1'; put it in quotes: '7'.",
  ],
  ["noindex: 'yes'", '@: noindex: must be true or false, without quotes.'],
  [
    'download:\n  label: Download as PDF\n  file: guide.pdf',
    '@+2: download.file: needs article/guide.pdf; put it there, or remove the entry.',
  ],
  [
    'download:\n  label: Download as PDF\n  file: ../media/og.png',
    '@+2: download.file: must be the name of a file in article/.',
  ],
  ...(
    [
      ['www.example.com/privacy', 'must begin with https://, as in https://www.example.com/privacy'],
      ['you@example.com', 'must begin with mailto:, as in mailto:you@example.com'],
      ['htps://example.com', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['https//example.com', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['javascript:alert(1)', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['https://example.com/our privacy', 'must not hold blanks; write %20 for one'],
      ['“https://example.com”', 'holds a curly quote; remove it, or type straight ones around the text'],
      [
        "'#benefit'",
        'leads to no place of the page; there are #benefits, #how-it-works, #problems, #solution, #testimonials, #closing',
      ],
    ] as const
  ).map(([href, mistake]): Case => [
    `readOn:\n  label: Read on\n  href: ${href}`,
    `@+2: readOn.href: ${mistake}.`,
  ]),
];

const ON_THE_LANDING_PAGE: readonly Case[] = [
  [
    'sections: [benefits, howItWorks, video, problems, solution, testimonals]',
    '@:61: sections.5: must be one of logos, benefits, howItWorks, video, problems, solution, testimonials, questions (did you mean testimonials?).',
  ],
  [
    'sections:\n  - benefits\n  - howItWorks\n  - video\n  - problems\n  - benefits\n  - solution\n  - testimonials\n  - questions',
    '@+5:5: sections.4: benefits is in the list twice; keep one of them.',
    '@+8:5: sections.7: there is no section questions; write its words, or remove the name.',
  ],
  [
    'logos:\n  title: Known from\n  companies:\n    - name: Acme\n      logo: acme.png',
    "@+4: logos.companies.0.logo: must be the name of a file in media/: an SVG, such as 'acme.svg', or a picture with its width and height in its name, such as 'acme-320x80.webp'.",
  ],
  [
    'logos:\n  title: Known from\n  companies:\n    - name: Acme\n      logo: acme-320x80.png',
    '@+4: logos.companies.0.logo: needs media/acme-320x80.png; put it there, or remove the entry.',
  ],
];

const ELSEWHERE: readonly (readonly [file: string, at: string, ...Case])[] = [
  [
    'emails/code.yaml',
    'subject:',
    'subject: {code} is your code',
    `@:17: ${NOT_READ} a text that begins with { must be in quotes; ${QUOTES}`,
  ],
  [
    'landing.yaml',
    '  trustLines:',
    '  trustLines: Trusted\n  others:',
    '@: hero.trustLines: must be a list: a line that begins with "- " for each entry.',
    '@+1: hero.others: unknown entry; the entries here are badge, headline, subtext, button, trustLines, imageAlt.',
  ],
  ['interface.yaml', '  send:', '', '25: form.send: is missing.'],
  [
    'emails/code.yaml',
    'validity:',
    "validity: >-\n  Valid for\n  { Lifetime }\nmore: ''",
    '@+2: validity: write {lifetime} instead of { Lifetime }.',
    '@+3: more: unknown entry; the entries here are subject, greeting, instruction, validity, notYou, signature.',
  ],
  [
    'landing.yaml',
    '    - icon: prompt',
    '    - icon: promt',
    '@: benefits.cards.0.icon: there is no icon promt; did you mean prompt? All names: prompt, knowledge, drivers, deliverability, refinement, results, and those of tabler.io/icons (outline).',
  ],
  [
    'landing.yaml',
    '    - icon: prompt',
    '    - icon: Mail Openned',
    '@: benefits.cards.0.icon: there is no icon Mail Openned; did you mean mail-opened? All names: prompt, knowledge, drivers, deliverability, refinement, results, and those of tabler.io/icons (outline).',
  ],
  [
    'landing.yaml',
    'testimonials:',
    'sections: [benefits, howItWorks, video, problems, solution]\ntestimonials:',
    '@+1: testimonials: is not in the list of sections, so no visitor would see it; add testimonials there, or remove these words.',
  ],
  [
    'site.yaml',
    'language:',
    'language: english',
    '@: language: must be the tag of a language, such as en, de or pt-BR.',
  ],
  [
    'landing.yaml',
    '      image: avatar-sarah',
    '      image: avatar-sarah-lindqvist.webp',
    '@: testimonials.cards.0.image: must be only the name, avatar-sarah-lindqvist; media/avatar-sarah-lindqvist.avif and media/avatar-sarah-lindqvist.webp are taken.',
  ],
  [
    'landing.yaml',
    '      image: avatar-sarah',
    '      image: sarah',
    '@: testimonials.cards.0.image: needs media/sarah.avif, media/sarah.webp; put it there, or remove the entry.',
  ],
  [
    'consent.yaml',
    '',
    Buffer.from('# Words.\r\ntext: I agree to be mailed. Grüße\r\n', 'latin1'),
    '2: is not written in UTF-8 (at "ü"); save the file as UTF-8 in your editor.',
  ],
  [
    'consent.yaml',
    '',
    Buffer.from('\uFEFFtext: I agree to be mailed.\n', 'utf16le'),
    '1: is not written in UTF-8 but in UTF-16; save the file as UTF-8 in your editor.',
  ],
  [
    'free-mail-domains.txt',
    '',
    '# Ours.\ngmail.com\nsomebody@gmx.de\nhttps://web.de\ngmail\n',
    ...['somebody@gmx.de', 'https://web.de', 'gmail'].map(
      (line, at) =>
        `${at + 3}: ${line} is not a domain; write one a line, such as gmail.com, and comments after a # on separate lines.`,
    ),
  ],
  [
    'site.yaml',
    'title:',
    'titel: The guide',
    '@: title: is missing.',
    '@: titel: unknown entry; did you mean title?',
  ],
  ['site.yaml', 'description:', 'description: ""', '@: description: must not be empty.'],
  ['site.yaml', 'publisher:', 'publisher:\n  5', "@+1: publisher: must be a text; put it in quotes: '5'."],
  [
    'site.yaml',
    'footerLinks:',
    'footerLinks:\n  - href: "#"\n    lable: Terms',
    '@+1: footerLinks.0.label: is missing.',
    '@+2: footerLinks.0.lable: unknown entry; did you mean label?',
  ],
  [
    'emails/code.yaml',
    'subject:',
    'subject: Your {cod}',
    '@: subject: must contain {code}, so that the code shows in the inbox.',
    '@: subject: there is no {cod}; use one of {code}, {reference}, {lifetime}, {title}.',
  ],
  [
    'emails/code.yaml',
    'signature:',
    "signature: '{code}'",
    '@: signature: must not contain {code}; the body shows it once already.',
  ],
  [
    'interface.yaml',
    '  suggestion:',
    '  suggestion: Did you mean {adress}?',
    '@: form.suggestion: must contain {address}.',
    '@: form.suggestion: there is no {adress}; use one of {address}.',
  ],
  [
    'interface.yaml',
    '  resendIn:',
    "  resendIn: { several: 'In {seconds}', other: 'In {seconds}' }",
    '@: verification.resendIn.several: unknown entry; the entries here are zero, one, two, few, many, other.',
  ],
  ['errors.yaml', 'not-found:', '', '5: not-found: is missing.'],
  [
    'errors.yaml',
    'wrong-code:',
    'wrong-code: That code is wrong. Try again {when}.',
    '@: wrong-code: there is no {when}; nothing is filled in here.',
  ],
  ['errors.yaml', 'no-session:', 'no-session: |\n  Two\n  lines.', '@: no-session: must be one line.'],
  ['errors.yaml', '', Buffer.from('# Nothing here.\n'), '1: the file: must not be empty.'],
  [
    'consent.yaml',
    '',
    Buffer.from('# The sentence.\ntext: [unfinished'),
    '2:18: cannot be read: the [ has no ] to it, or holds a # outside of quotes.',
  ],
  [
    'consent.yaml',
    '',
    Buffer.from('text: I agree to receive emails in {year}.'),
    '1: text: must not contain {year}: each receipt keeps the sentence as it is written here.',
  ],
  [
    'article/article.md',
    '',
    Buffer.from('\n\nNo title here'),
    '3: must begin with a title: a line such as "# Title".',
  ],
];

const IN_THE_ARTICLE: readonly (readonly [written: string, ...mistakes: string[]])[] = [
  ['A line<br>and another', 'HTML is shown as text: <br>; write Markdown instead'],
  ['<div>\nText\n</div>', 'HTML is shown as text: <div>; write Markdown instead'],
  ['<!-- later -->', 'a comment would be shown as text; remove it'],
  ['# Another', 'is a second title; write ## for a section'],
  ['##Section', 'a blank is missing after the # of "##Section"'],
  ['- [ ] This', 'boxes to tick are not drawn; write a plain list'],
  ['As shown.[^1]', '[^1]: footnotes are not supported; say it in the text'],
  ['See [this] (https://example.com).', 'a link is written [words](https://…), with nothing between ] and ('],
  [
    'See [this](https://example.com/a b).',
    'a link or picture is not understood; it is written [words](https://…), without blanks',
  ],
  ['See [this](www.example.com).', 'www.example.com must begin with https://, as in https://www.example.com'],
  ['See [this](#there).', '#there leads to no place of the page'],
  ['See [this][that].', '[this][that]: no line says where this leads, such as "[name]: https://…"'],
  [
    'This is ** important**.',
    '** is shown exactly as written; leave no blank between it and its words, and end them with a second one',
  ],
  [
    '| a | b |\n| c | d |',
    'is not a table; the line under its first one must be | --- | --- |, with as many cells as the first',
  ],
  [
    '![A chart](https://example.com/chart.png)',
    'https://example.com/chart.png is not shown: the page only shows pictures from media/ of the campaign; put it there, and write media/ and its name',
  ],
  [
    '![A chart](media/chart.png)',
    'media/chart.png is not there; put it into media/ of the campaign, with exactly this name',
  ],
  [
    '![](media/og.png)',
    'the picture has no description for people who cannot see it: ![description](media/…)',
  ],
  ['```\n**a** <br> [x] (y) | a |\n```\n\nAnd `**` too.'],
  ['| a | b |\n| --- | --: |\n| ~~c~~ | **d** |\n\n- *e* [f](https://example.com)'],
];

const CASES: readonly (readonly [file: string, at: string, ...Case])[] = [
  ...FOR_THE_PUBLISHER.map((row) => ['site.yaml', 'publisher:', ...row] as const),
  ...FOR_THE_BADGE.map((row) => ['landing.yaml', '  badge:', ...row] as const),
  ...IN_THE_SITE.map((row) => ['site.yaml', '', ...row] as const),
  ...ON_THE_LANDING_PAGE.map((row) => ['landing.yaml', '', ...row] as const),
  ...ELSEWHERE,
  ...IN_THE_ARTICLE.map(([written, ...mistakes]) => {
    const article = Buffer.from(`\n# Title\n\nText.\n\n${written}\n`);
    return ['article/article.md', '', article, ...mistakes.map((mistake) => `6: ${mistake}.`)] as const;
  }),
];

function make(folder: string, file: string, at: string, written: string | Buffer): number {
  const place = path.join(folder, file);
  if (typeof written !== 'string' || file.endsWith('.txt')) {
    writeFileSync(place, written);
    return 0;
  }
  const lines = readFileSync(place, 'utf8').trimEnd().split('\n');
  const index = at === '' ? lines.length : lines.findIndex((line) => line.startsWith(at));
  assert.notEqual(index, -1, `${file} has no ${at}`);
  const indent = /^ */.exec(lines[index] ?? '')?.[0].length ?? 0;
  let end = index + 1;
  if (/[>|]-?$/.test(lines[index] ?? ''))
    while (end < lines.length && /^ */.exec(lines[end] ?? '')![0].length > indent) end += 1;
  lines.splice(index, end - index, ...(written === '' ? [] : written.split('\n')));
  writeFileSync(place, `${lines.join('\n')}\n`);
  return index + 1;
}

function mistakesOnce(folder: string, file: string): string[] {
  const mistakes = called(folder, campaignMistakes(folder));
  copyFileSync(path.join(TEST_CAMPAIGN, file), path.join(folder, file));
  return mistakes;
}

describe('campaign mistakes', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  cpSync(TEST_CAMPAIGN, folder, { recursive: true });
  after(() => rmSync(folder, { recursive: true }));

  for (const [file, at, written, ...mistakes] of CASES)
    it(
      mistakes.length === 0
        ? `${file} may contain any valid Markdown`
        : `a mistake in ${file} is reported: ${mistakes.map((mistake) => mistake.replace(/^\S+: (?:cannot be read: )?/, '')).join(' ')}`,
      () => {
        const line = make(folder, file, at, written);
        const expected = mistakes.map((sentence) => {
          const [, ahead = 0] = /^@\+?(\d*)/.exec(sentence) ?? [];
          return `${FOLDER_NAME}/${file}:${sentence.replace(/^@(?:\+\d+)?/, String(line + Number(ahead)))}`;
        });
        assert.deepEqual(mistakesOnce(folder, file), expected);
      },
    );

  it("a download that is too large for the server's memory is reported with file and line", () =>
    withCampaignCopy((copy) => {
      const line = make(copy, 'site.yaml', '', 'download:\n  label: Download as PDF\n  file: guide.pdf');
      const guide = path.join(copy, 'article', 'guide.pdf');
      writeFileSync(guide, '');
      truncateSync(guide, 50e6);
      assert.deepEqual(campaignMistakes(copy), []);
      truncateSync(guide, 50e6 + 1);
      assert.deepEqual(called(copy, campaignMistakes(copy)), [
        `${FOLDER_NAME}/site.yaml:${line + 2}: download.file: is a file of 51 MB; the server keeps it in memory, and takes 50 at most.`,
      ]);
    }));

  it('all mistakes in all campaign files are reported at once', () =>
    withCampaignCopy((copy) => {
      make(copy, 'site.yaml', 'publisher:', 'publisher: Us\npublicher: Us');
      make(copy, 'landing.yaml', '  badge:', '\tbadge: New');
      make(copy, 'emails/code.yaml', 'subject:', 'subject: Your code');
      writeFileSync(path.join(copy, 'article/article.md'), 'No title');
      assert.equal(campaignMistakes(copy).length, 4);
    }));
});
