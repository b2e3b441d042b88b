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
import { after, it } from 'node:test';

import { campaignMistakes } from '#server/campaign/campaign.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';
import { withFolderName, changeFiles, FOLDER_NAME, withCampaignCopy } from '#testing/campaign-copy.ts';

/** In the expected mistakes, `@` is the number of the changed line. */
type Case = readonly [written: string | Buffer, ...mistakes: string[]];

const NOT_READ = 'cannot be read:';
const QUOTES = 'Put the whole text in quotes.';
const COLON = `a text must not contain a colon outside straight quotes. ${QUOTES}`;
const QUOTATION = `a text in quotes does not end with the same quotation mark, or contains another one. Put the text in '…' or "…", whichever it does not contain.`;
const NO_SPACE = 'a space is missing after the hyphen or the colon.';
const DOES_NOT_FIT =
  'the line does not fit the lines around it. Check the spaces at their beginnings, and the colon after the name of each entry.';

const FOR_THE_PUBLISHER: readonly Case[] = [
  [
    'publisher: Us\npublisher: Them\npublicher: We',
    `@+1:1: ${NOT_READ} publisher is here twice. Keep one of the two.`,
    '@+2: publicher: unknown entry. Did you mean publisher?',
  ],
  ['publisher: Us: the publisher', `@:12: ${NOT_READ} ${COLON}`],
  ...['@us', '*us', '& Us', '? us'].map((text): Case => [
    `publisher: ${text}`,
    `@:12: ${NOT_READ} a text must not begin with ${text.charAt(0)} outside quotes. ${QUOTES}`,
  ]),
  ...['&us and them', '! us', '!us and them', '&nbsp; Us'].map((text): Case => [
    `publisher: ${text}`,
    `@:12: a text must not begin with ${text.charAt(0)} outside quotes. ${QUOTES}`,
  ]),
  ["publisher: 'Don't stop'", `@:17: ${NOT_READ} ${QUOTATION}`],
  ['publisher: "Us', `@:12: ${NOT_READ} ${QUOTATION}`],
  ['publisher:Us', `@:1: ${NOT_READ} ${NO_SPACE}`],
  ['publisher: Us\nand them', `@+1:1: ${NOT_READ} ${DOES_NOT_FIT}`],
  [
    '<<<<<<< ours\npublisher: Us\n=======\npublisher: Them\n>>>>>>> theirs',
    `@:1: ${NOT_READ} ${DOES_NOT_FIT}`,
  ],
  ['publisher:\n  - Us\n  - Them', '@: publisher: must be text, not a list.'],
  ['publisher:\n  name: Us', '@: publisher: must be text, not a group of entries.'],
  ['publisher:', '@: publisher: must not be empty.'],
  ...['1.10', '0123', '0x1F', '.inf'].map((number): Case => [
    `publisher: ${number}`,
    `@: publisher: must be text. Put the text in quotes: '${number}'.`,
  ]),
];

const FOR_THE_COPYRIGHT: readonly Case[] = [
  ['copyright:\u00A0Us', `@:1: ${NOT_READ} ${DOES_NOT_FIT}`],
  ['copyright: © {{year}} Us', '@: copyright: there is no {{year}}. Use one of {year}.'],
];

const CONTINUES =
  'the line begins with "- ", but is indented further than the entry above and would become part of it. Correct the spaces at its beginning.';

const FOR_THE_TRUST_LINES: readonly Case[] = [
  [
    '    - #1 formula, used by hundreds',
    "@:7: hero.trustLines 1: is empty, because # begins a comment. Put the text in quotes: '#1 formula, used by hundreds'.",
  ],
  [
    "    - #1 in Europe's market",
    "@:7: hero.trustLines 1: is empty, because # begins a comment. Put the text in quotes: '#1 in Europe''s market'.",
  ],
  ...['Version: 2.0', 'Free: True', "Our motto: don't stop", 'Team: "Us"'].map((text): Case => [
    `    - ${text}`,
    `@:7: hero.trustLines 1: ${COLON.slice(0, -1)}: '${text.replace("'", "''")}'.`,
  ]),
  [
    '    - Prompts: five\n        parts',
    `@:7: hero.trustLines 1: ${COLON.slice(0, -1)}: 'Prompts: five parts'.`,
  ],
  ['    - >20 lanes compared', `@:9: ${NOT_READ} a text must not begin with > outside quotes. ${QUOTES}`],
  [
    '    -Trusted',
    `@+1:1: ${CONTINUES}`,
    '@: hero.trustLines: must be a list. Begin the line of each entry with "- ".',
  ],
  ['    - Trusted\n      - by hundreds', `@+1:1: ${CONTINUES}`],
];

const FOR_THE_BADGE: readonly Case[] = [
  ['  badge: [Plan] lanes', `@:17: ${NOT_READ} a text must not begin with [ outside quotes. ${QUOTES}`],
  ['  badge: New\nclosing: { title: [A] }\n# Next.\n figures: B', `@+2:1: ${NOT_READ} ${DOES_NOT_FIT}`],
  ['  badge: [New, free', `@:10: ${NOT_READ} a text must not begin with [ outside quotes. ${QUOTES}`],
  ['\tbadge: New', `@:1: ${NOT_READ} the line is indented with a tab. Use spaces.`],
  [
    '  badge: #Über 500 lanes',
    "@: hero.badge: is empty, because # begins a comment. Put the text in quotes: '#Über 500 lanes'.",
  ],
  ['  badge: The #1 guide', `@:13: "#1 guide" would be left out, because # begins a comment. ${QUOTES}`],
  [' badge: New', `@:9: ${NOT_READ} ${DOES_NOT_FIT}`],
  [
    '  badge: >-\n    New\n    and <b>bold</b>',
    '@+2: hero.badge: <b> would be shown exactly as written. Use plain words.',
    '@+2: hero.badge: </b> would be shown exactly as written. Use plain words.',
  ],
  [
    '  badge: New&nbsp;and free',
    '@: hero.badge: &nbsp; would be shown exactly as written. Type the character itself.',
  ],
  [
    '  badge: The **best** [guide](https://example.com)',
    '@: hero.badge: **best** would be shown exactly as written. Use plain words.',
    '@: hero.badge: [guide](https://example.com) would be shown exactly as written. Use plain words.',
  ],
  ['  badge: For {firstName}', '@: hero.badge: there is no {firstName}. Use one of {year}.'],
];

const LINK =
  'must begin with https://, mailto: or tel:, or with / for a page of this site, without quotes or spaces';

const IN_THE_SITE: readonly Case[] = [
  [
    "colors:\n  accent:\n    light: 'green'\n    dark: '#8fd3b2'\n  plate:\n    light: '#123d30'\n    dark: '#143a2e'",
    "@+2: colors.accent.light: must be a colour such as '#0e5a43', in quotes.",
  ],
  [
    "colors:\n  accent: { light: #7a2e6b, dark: #e3a8d4 }\n  plate: { light: '#3c1a36', dark: '#40203a' }",
    `@+1:20: ${NOT_READ} # begins a comment. Put the text in quotes: '#7a2e6b'.`,
  ],
  [
    'analytics:\n  tool: umami\n  script: cloud.umami.is/script.js\n  domain: example.com',
    '@: analytics.site: is missing.',
    '@+2: analytics.script: must be a URL: write the URL of Umami’s script, such as https://cloud.umami.is/script.js.',
    '@+3: analytics.domain: unknown entry. Valid entries are tool, script, site.',
  ],
  [
    'analytics:\n  tool: matomo\n  script: https://cdn.matomo.cloud/acme.matomo.cloud/matomo.js\n  site: "7"',
    '@+2: analytics.script: must be the script on your own Matomo host, such as https://acme.matomo.cloud/matomo.js, because the CDN does not count visits.',
  ],
  [
    "analytics:\n  tool: matomo\n  script: 'https://a.example;img-src */matomo.js'\n  site: 7",
    '@+2: analytics.script: must be a URL: write the URL of matomo.js on your Matomo server, such as https://stats.example.com/matomo.js.',
    "@+3: analytics.site: must be the site ID shown by Matomo, such as '1'. Put the text in quotes: '7'.",
  ],
  ["noindex: 'yes'", '@: noindex: must be true or false, without quotes.'],
  [
    'download:\n  label: Download as PDF\n  file: guide.pdf',
    '@+2: download.file: needs article/guide.pdf. Add the missing file, or remove the entry.',
  ],
  [
    'download:\n  label: Download as PDF\n  file: ../media/og.png',
    '@+2: download.file: must be the name of a file in article/, with only letters from a to z, digits, spaces, dots, hyphens and _, such as guide.pdf.',
  ],
  [
    'logo: Logo neu.svg',
    "@: logo: must be the name of a file in media/ that ends with .svg, with only letters from a to z, digits, dots, hyphens and _, such as 'logo.svg'.",
    '@: logo: needs media/Logo neu.svg. Add the missing file, or remove the entry.',
  ],
  ...['you@example.com', 'javascript:alert(1)', '“https://a.com”', 'https://example.com/our privacy'].map(
    (href): Case => [`readOn:\n  label: Read on\n  href: ${href}`, `@+2: readOn.href: ${LINK}.`],
  ),
  [
    "readOn:\n  label: Read on\n  href: '#benefit'",
    '@+2: readOn.href: leads to a place that does not exist on the page. The existing places are #benefits, #how-it-works, #problems, #solution, #testimonials, #closing.',
  ],
];

const AFTER_THE_CODE: readonly Case[] = [
  ...['shop.example.com', 'mailto:you@example.com', '//evil.example', 'JavaScript:alert(1)'].map(
    (href): Case => [
      `afterCode: ${href}`,
      '@: afterCode: must begin with https://, or with / for a page of this site.',
    ],
  ),
  ['afterCode: https://shop.example.com/a?b=c'],
  ['afterCode: /thank-you'],
];

const ON_THE_LANDING_PAGE: readonly Case[] = [
  [
    'sections: [benefits, howItWorks, video, problems, solution, testimonals]',
    '@:61: sections 6: must be one of logos, benefits, howItWorks, video, problems, solution, testimonials, questions (did you mean testimonials?).',
  ],
  [
    'sections:\n  - benefits\n  - howItWorks\n  - video\n  - problems\n  - benefits\n  - solution\n  - testimonials\n  - questions',
    '@+5:5: sections 5: benefits is in the list twice. Remove one of the two.',
    '@+8:5: sections 8: there is no section questions. Write its words, or remove the name.',
  ],
  [
    'logos:\n  title: Known from\n  companies:\n    - name: Acme\n      logo: acme.png',
    "@+4: logos.companies 1, logo: must be the name of a file in media/, with only letters from a to z, digits, dots, hyphens and _: an SVG, such as 'acme.svg', or a picture with its width and height in its name, such as 'acme-320x80.webp'.",
  ],
];

const ELSEWHERE: readonly (readonly [file: string, at: string, ...Case])[] = [
  ['landing.yaml', '    - icon: knowledge', '    -icon: knowledge', `@:1: ${NOT_READ} ${DOES_NOT_FIT}`],
  [
    'emails/code.yaml',
    'subject:',
    'subject: {code} is your code',
    `@:17: ${NOT_READ} a text must not begin with { outside quotes. ${QUOTES}`,
  ],
  [
    'errors.yaml',
    '',
    Buffer.from('# Errors.\ninvalid-fields:Check them.\n\n# More.\nmalformed-body: It failed.\n'),
    `2:1: ${NOT_READ} ${NO_SPACE}`,
  ],
  [
    'emails/guide.yaml',
    'link:',
    'link: Read it\n#attachment: guide.pdf\n linkNote: For you',
    `@+1:1: ${NOT_READ} ${DOES_NOT_FIT}`,
  ],
  ['interface.yaml', '  send:', '', '25: form.send: is missing.'],
  [
    'emails/code.yaml',
    'validity:',
    "validity: >-\n  Valid for\n  { Lifetime }\nmore: ''",
    '@+2: validity: there is no { Lifetime }. Use one of {code}, {reference}, {lifetime}, {title}.',
    '@+3: more: unknown entry. Valid entries are subject, preview, instruction, validity, notYou.',
  ],
  [
    'landing.yaml',
    '    - Trusted formula',
    "    - Trusted\n    - Don't stop: go on",
    `@+1:7: hero.trustLines 2: ${COLON.slice(0, -1)}: 'Don''t stop: go on'.`,
  ],
  ['landing.yaml', '  headline:', '  headline: “The guide: part one”', `@:13: ${NOT_READ} ${COLON}`],
  [
    'landing.yaml',
    '    - icon: prompt',
    '    - icon: Mail Openned',
    '@: benefits.cards 1, icon: there is no icon Mail Openned. Did you mean mail-opened? All names: prompt, knowledge, drivers, deliverability, refinement, results, and the outline icons at tabler.io/icons.',
  ],
  ...['rocket', 'mail-opened', '2fa'].map(
    (icon) => ['landing.yaml', '    - icon: prompt', `    - icon: ${icon}`] as const,
  ),
  [
    'landing.yaml',
    'testimonials:',
    'sections: [benefits, howItWorks, video, problems, solution]\ntestimonials:',
    '@+1: testimonials: is not in the list of sections, so no visitor would see it. Add testimonials to the list, or remove these words.',
  ],
  [
    'site.yaml',
    'language:',
    'language: english',
    '@: language: must be a language tag, such as en, de or pt-BR.',
  ],
  [
    'landing.yaml',
    '      image: avatar-sarah',
    '      image: avatar-sarah-lindqvist.webp',
    '@: testimonials.cards 1, image: must be only the name, avatar-sarah-lindqvist. The page uses media/avatar-sarah-lindqvist.avif and media/avatar-sarah-lindqvist.webp.',
  ],
  [
    'consent.yaml',
    '',
    Buffer.from('# Words.\r\ntext: I agree to be mailed. Grüße\r\n', 'latin1'),
    '2: is not encoded in UTF-8. Save the file as UTF-8 in your editor.',
  ],
  [
    'free-mail-domains.txt',
    '',
    '# Ours.\ngmail.com\nsomebody@gmx.de\nhttps://web.de\ngmail\n',
    ...['somebody@gmx.de', 'https://web.de', 'gmail'].map(
      (line, at) =>
        `${at + 3}: ${line} is not a domain. Write one domain per line, such as gmail.com, and begin comment lines with #.`,
    ),
  ],
  ['site.yaml', 'description:', 'description: ""', '@: description: must not be empty.'],
  [
    'emails/code.yaml',
    'subject:',
    'subject: Your {cod}',
    '@: subject: must contain {code}, so that the inbox shows the code.',
    '@: subject: there is no {cod}. Use one of {code}, {reference}, {lifetime}, {title}.',
  ],
  ...['{título}', '{標題}', '｛title｝'].map(
    (wrong) =>
      [
        'emails/code.yaml',
        'notYou:',
        `notYou: Not about “${wrong}”?`,
        `@: notYou: there is no ${wrong}. Use one of {code}, {reference}, {lifetime}, {title}.`,
      ] as const,
  ),
  ...['{title', 'title}'].map(
    (wrong) =>
      [
        'emails/code.yaml',
        'notYou:',
        `notYou: Not about “${wrong}”?`,
        `@: notYou: ${wrong} lacks a brace. Write {title}.`,
      ] as const,
  ),
  ['emails/code.yaml', 'notYou:', "notYou: '{Hi|Hello} {First Name}, {Job title}, this was {title}'"],
  [
    'emails/code.yaml',
    'preview:',
    "preview: '{code}'",
    '@: preview: must not contain {code}, because the body already shows the code.',
  ],
  [
    'interface.yaml',
    '  resendIn:',
    "  resendIn: { several: 'In {seconds}', other: 'In {seconds}' }",
    '@: verification.resendIn.several: unknown entry. Valid entries are zero, one, two, few, many, other.',
  ],
  [
    'errors.yaml',
    'wrong-code:',
    'wrong-code: That code is wrong. Try again {when}.',
    '@: wrong-code: there is no {when}. This text has no placeholders.',
  ],
  ['errors.yaml', 'no-session:', 'no-session: |\n  Two\n  lines.', '@: no-session: must be one line.'],
  ['errors.yaml', '', Buffer.from('# Nothing here.\n'), '1: the file: must not be empty.'],
  ...(
    [
      [
        'text: I agree to receive emails in {year}.',
        '1: text: must not contain {year}, because each receipt stores this text exactly as written.',
      ],
      ['text: I agree, as the [policy](/privacy) says.', '1: text: /privacy must begin with https://.'],
      ['text: I agree, as the [policy](https://) says.', `1: text: https:// ${LINK}.`],
      ...[
        '[policy](https://example.com says',
        '[policy] (https://example.com)',
        '(policy)[https://example.com]',
      ].map(
        (written) =>
          [
            `text: I agree, as the ${written}.`,
            '1: text: contains an incomplete link. Write [privacy policy](https://example.com/privacy).',
          ] as const,
      ),
      [
        'text: I agree, as the [policy](https://example.com/a_(b)) says.',
        '1: text: https://example.com/a_(b must not contain parentheses. Write %28 and %29 instead.',
      ],
      ['text: I agree [ ](https://example.com/a).', '1: text: contains a link without words.'],
      [
        'text: I agree.\nnewsConsent: I agree.',
        '2: newsConsent: must differ from text, because each box needs its own sentence.',
      ],
    ] as const
  ).map(([text, mistake]) => ['consent.yaml', '', Buffer.from(text), mistake] as const),
  [
    'article/article.md',
    '',
    Buffer.from('\n\nNo title here'),
    '3: must begin with a title, such as "# Title".',
  ],
  ...['**Cold** Outreach', 'Q&amp;A', 'Outreach #'].map(
    (title) =>
      [
        'article/article.md',
        '',
        Buffer.from(`\n# ${title}\n\nText\n`),
        '2: the title is shown exactly as written. Use plain words, without Markdown.',
      ] as const,
  ),
  ['article/article.md', '', Buffer.from('# "Q&A" 1 * 2 <3\n\nText\n')],
  ['article/article.md', '', Buffer.from('#\u00A0Title\n\nText\n')],
  [
    'article/article.md',
    '',
    Buffer.from('# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n1 | \\| | `a` | |THIRD\n'),
    '6: the row has 5 cells, but the table’s heading has only 2, so the rest is not shown. Add a column to the first two lines, or write \\| for a | within a cell.',
  ],
];

const IN_THE_ARTICLE: readonly (readonly [written: string, ...mistakes: string[]])[] = [
  ['A line<br>and another', 'HTML is shown as text: <br>. Write Markdown instead'],
  ['<div>\nText\n</div>', 'HTML is shown as text: <div>. Write Markdown instead'],
  ['# Another', 'is a second title. Write ## for a section'],
  ['##Section', 'a space is missing after the # of "##Section"'],
  ...['##', '#', '-', '*', '  -'].map(
    (signs) =>
      [
        `${signs}\u00A0Words`,
        `the space after ${signs.trim()} is a no-break space, so ${signs.trim()} is shown as text. Replace it with a normal space`,
      ] as const,
  ),
  ['1.\u00A0May, 5\u00A0%'],
  ['- [ ] This', 'checkboxes are not supported. Write a plain list'],
  ['As shown.[^1]', '[^1]: this footnote has no text. Add a line such as "[^1]: The note."'],
  ['[^1]: As shown.', 'this footnote is not shown, because no [^1] is in the text'],
  ...[
    'See (this)[https://example.com].',
    'See [this] (https://example.com).',
    'See [this](https://example.com/a b).',
  ].map(
    (text) =>
      [
        text,
        'this link or picture is not valid. Write [words](https://…), without spaces in the URL and before it',
      ] as const,
  ),
  ['They wrote “recieve” [sic] (Smith 2019).'],
  ['See [this](www.example.com).', `www.example.com ${LINK}`],
  ['See [this](#there).', '#there leads to a place that does not exist on the page'],
  ['See [this][that].', '[this][that]: this link has no URL. Add a line such as "[name]: https://…"'],
  ...['This is ** important**.', '**「重要」**です。', '**Note:**this'].map(
    (text) =>
      [
        text,
        '** is shown exactly as written. Put ** directly before and after the words, with spaces and punctuation outside',
      ] as const,
  ),
  ['「**重要**」です。 **Note**:this'],
  [
    '| a | b |',
    'is not a valid table. The second line must be | --- | --- |, with as many cells as the first',
  ],
  ['| a | b |\n| --- | --- |\n| c |\n| d \\| e | `f \\| g` |\n| h | i | |'],
  [
    '![A chart](https://example.com/chart.png)',
    'https://example.com/chart.png is not shown, because the page only shows pictures from the campaign’s media/ folder. Put the file there, and write media/ before its name',
  ],
  ...['media/Grafik%201.png', '/media/übersicht.png', 'media/charts/chart.png'].map(
    (href) =>
      [
        `![A chart](${href})`,
        `${href} is not shown, because its name contains other characters than letters from a to z, digits, dots, hyphens and _. Rename the file`,
      ] as const,
  ),
  [
    '![A chart](media/chart.png)',
    'media/chart.png does not exist. Put a file with exactly this name into the campaign’s media/ folder',
  ],
  [
    '![A chart](media/chart.heic)',
    'media/chart.heic must end with .svg, .webp, .avif, .png or .jpg. Save the picture in one of these formats',
  ],
  [
    '![](media/og.png)',
    'this picture has no description for people who cannot see it. Write ![description](media/…)',
  ],
  ['````\n```letter\nDear Marta\n```\n````'],
  ['```prompt\nContext: Marta', 'the block that begins here does not end. Add a line with ``` below it'],
  ['```\n**a** <br> [x] (y) | a |\n```\n\nAnd `**` too.'],
  ['| a | b |\n| --- | --: |\n| ~~c~~ | **d** |\n\n- *e* [f](https://example.com)'],
  ['As shown.[^Note]\n\n[^note]: By them, in [this](https://example.com).'],
];

const CASES: readonly (readonly [file: string, at: string, ...Case])[] = [
  ...FOR_THE_PUBLISHER.map((row) => ['site.yaml', 'publisher:', ...row] as const),
  ...FOR_THE_COPYRIGHT.map((row) => ['site.yaml', 'copyright:', ...row] as const),
  ...FOR_THE_TRUST_LINES.map((row) => ['landing.yaml', '    - Trusted', ...row] as const),
  ...FOR_THE_BADGE.map((row) => ['landing.yaml', '  badge:', ...row] as const),
  ...IN_THE_SITE.map((row) => ['site.yaml', '', ...row] as const),
  ...AFTER_THE_CODE.map((row) => ['site.yaml', '', ...row] as const),
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
  const mistakes = withFolderName(folder, campaignMistakes(folder));
  copyFileSync(path.join(TEST_CAMPAIGN, file), path.join(folder, file));
  return mistakes;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
cpSync(TEST_CAMPAIGN, folder, { recursive: true });
after(() => rmSync(folder, { recursive: true }));

for (const [file, at, written, ...mistakes] of CASES)
  it(
    mistakes.length === 0
      ? `${file} may contain ${String(written).slice(0, 40)}`
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
    assert.deepEqual(withFolderName(copy, campaignMistakes(copy)), [
      `${FOLDER_NAME}/site.yaml:${line + 2}: download.file: names a file of 51 MB, but the limit is 50 MB, because the server keeps the file in memory. Use a smaller file.`,
    ]);
  }));

it('all mistakes in all campaign files are reported at once, and not again for a variant', () =>
  withCampaignCopy((copy) => {
    make(copy, 'site.yaml', 'publisher:', 'publisher: Us\npublicher: Us');
    make(copy, 'landing.yaml', 'closing:', 'closin:');
    make(copy, 'emails/code.yaml', 'subject:', 'subject: Your code');
    changeFiles(copy, {
      'article/article.md': 'No title',
      'variants/b/landing.yaml': 'hero:\n  headline: Another\n',
    });
    assert.equal(campaignMistakes(copy).length, 5);
  }));
