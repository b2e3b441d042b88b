// Every slip that an editor of words makes: where it is reported, and in which sentence.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';

import { PROJECT_FOLDER } from '#server/platform/project-folder.ts';
import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { campaignComplaints } from '#server/campaign/campaign.ts';
import { TEST_CAMPAIGN } from '#testing/built-site.ts';

type Slip = {
  /** What was done. */
  readonly it: string;
  readonly file: string;
  /** In place of the line that begins so; what is not there is added at the end. */
  readonly at?: string;
  readonly write: string | Buffer;
  /** Behind the name of the file; `@` stands for the line that was changed. */
  readonly complaints: readonly string[];
};

const NOT_READ = 'cannot be read:';
const QUOTES = 'put the whole text in quotes.';

const IN_YAML: readonly Slip[] = [
  {
    it: 'an unknown entry',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us\npublicher: Us',
    complaints: ['@+1: publicher: unknown entry; did you mean publisher?'],
  },
  {
    it: 'an entry that is there twice',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us\npublisher: Them',
    complaints: [`@+1:1: ${NOT_READ} publisher stands here twice; keep one of them.`],
  },
  {
    it: 'an entry that is there twice beside another slip',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us\npublisher: Them\npublicher: We',
    complaints: [
      `@+1:1: ${NOT_READ} publisher stands here twice; keep one of them.`,
      '@+2: publicher: unknown entry; did you mean publisher?',
    ],
  },
  {
    it: 'a tab',
    file: 'landing.yaml',
    at: '  badge:',
    write: '\tbadge: New',
    complaints: [`@:1: ${NOT_READ} the line is indented with a tab; use blanks.`],
  },
  {
    it: 'a blank that is none',
    file: 'landing.yaml',
    at: '  badge:',
    write: '\u00A0\u00A0badge: New',
    complaints: [
      `@:1: ${NOT_READ} the line begins with a character that looks like a blank and is none; type blanks.`,
    ],
  },
  {
    it: 'a colon in a text',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us: the publisher',
    complaints: [`@:12: ${NOT_READ} a text with a colon must stand in quotes; ${QUOTES}`],
  },
  {
    it: 'a text that begins with a brace',
    file: 'emails/code.yaml',
    at: 'subject:',
    write: 'subject: {code} is your code',
    complaints: [`@:17: ${NOT_READ} a text that begins with { must stand in quotes; ${QUOTES}`],
  },
  {
    it: 'a text that begins with @',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: @us',
    complaints: [`@:12: ${NOT_READ} a text that begins with @ must stand in quotes; ${QUOTES}`],
  },
  {
    it: 'a text that begins with >',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: > 10 X',
    complaints: [`@:12: ${NOT_READ} a text that begins with > must stand in quotes; ${QUOTES}`],
  },
  {
    it: 'a text that begins with *',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: *us',
    complaints: [
      `@:12: ${NOT_READ} a text that begins with * stands in quotes (there is no &us before this).`,
    ],
  },
  {
    it: 'a text that begins with !',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: !us and them',
    complaints: [`@:12: ${NOT_READ} a text that begins with ! must stand in quotes; ${QUOTES}`],
  },
  {
    it: 'a text that begins with a character of HTML',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: &nbsp; Us',
    complaints: [`@:19: ${NOT_READ} &nbsp; is no character here; type the character itself.`],
  },
  {
    it: 'an apostrophe in single quotes',
    file: 'site.yaml',
    at: 'publisher:',
    write: "publisher: 'Don't stop'",
    complaints: [`@:17: ${NOT_READ} a ' within '…' ends the text; write '' for it, or put the text in "…".`],
  },
  {
    it: 'a quote in double quotes',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: "Say "hi" now"',
    complaints: [`@:18: ${NOT_READ} a " within "…" ends the text; put the text in '…'.`],
  },
  {
    it: 'a quote that has no end',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: "Us',
    complaints: [`@:12: ${NOT_READ} the quote that begins here has no end.`],
  },
  {
    it: 'a backslash in double quotes',
    file: 'site.yaml',
    at: 'publisher:',
    write: String.raw`publisher: "C:\Us"`,
    complaints: [String.raw`@:15: ${NOT_READ} within "…" a \ is written \\; or put the text in '…'.`],
  },
  {
    it: 'a number sign in a text',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: The #1 guide',
    complaints: [`@:13: ${NOT_READ} "#1 guide" would be left out, as # begins a comment; ${QUOTES}`],
  },
  {
    it: 'no blank behind the colon',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher:Us',
    complaints: [`@:1: ${NOT_READ} a blank is missing behind the colon.`],
  },
  {
    it: 'a text that goes on at the edge',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us\nand them',
    complaints: [
      `@+1:1: ${NOT_READ} the line has no name with a colon; is it the rest of a text, indent it further than its name.`,
    ],
  },
  {
    it: 'a line that is indented by one too few',
    file: 'landing.yaml',
    at: '  badge:',
    write: ' badge: New',
    complaints: [`@:1: ${NOT_READ} the line is not indented like its neighbours.`],
  },
  {
    it: 'a merge that was left open',
    file: 'site.yaml',
    at: 'publisher:',
    write: '<<<<<<< ours\npublisher: Us\n=======\npublisher: Them\n>>>>>>> theirs',
    complaints: [`@:1: ${NOT_READ} two versions stand here, and one has to be chosen.`],
  },
  {
    it: 'a second document',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: Us\n---',
    complaints: [`@+1:1: ${NOT_READ} --- would begin a second file; take the line out.`],
  },
  {
    it: 'a list where a text is wanted',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher:\n  - Us\n  - Them',
    complaints: ['@: publisher: must be a text, not a list.'],
  },
  {
    it: 'a group where a text is wanted',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher:\n  name: Us',
    complaints: ['@: publisher: must be a text, not a group of entries.'],
  },
  {
    it: 'a number where a text is wanted',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher: 1984',
    complaints: ["@: publisher: must be a text; put it in quotes: '1984'."],
  },
  {
    it: 'a text where a list is wanted',
    file: 'landing.yaml',
    at: '  trustLines:',
    write: '  trustLines: Trusted\n  others:',
    complaints: [
      '@: hero.trustLines: must be a list: a line that begins with "- " for each entry.',
      '@+1: hero.others: unknown entry; the entries here are badge, headline, subtext, button, trustLines, imageAlt.',
    ],
  },
  {
    it: 'an empty text',
    file: 'site.yaml',
    at: 'publisher:',
    write: 'publisher:',
    complaints: ['@: publisher: must not be empty.'],
  },
  {
    it: 'a missing entry',
    file: 'interface.yaml',
    at: '  send:',
    write: '',
    complaints: ['17: form.send: is missing.'],
  },
  {
    it: 'HTML',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: >-\n    New\n    and <b>bold</b>',
    complaints: [
      '@+2: hero.badge: <b> would be shown as it stands here; use plain words.',
      '@+2: hero.badge: </b> would be shown as it stands here; use plain words.',
    ],
  },
  {
    it: 'a character of HTML',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: New&nbsp;and free',
    complaints: ['@: hero.badge: &nbsp; would be shown as it stands here; type the character itself.'],
  },
  {
    it: 'Markdown',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: The **best** [guide](https://example.com)',
    complaints: [
      '@: hero.badge: **best** would be shown as it stands here; use plain words.',
      '@: hero.badge: [guide](https://example.com) would be shown as it stands here; use plain words.',
    ],
  },
  {
    it: 'a place that nothing fills in',
    file: 'landing.yaml',
    at: '  badge:',
    write: '  badge: For {firstName}',
    complaints: ['@: hero.badge: there is no {firstName}; use one of {year}.'],
  },
  {
    it: 'a place in another spelling, and one that is not closed',
    file: 'emails/code.yaml',
    at: 'validity:',
    write: "validity: >-\n  Valid for\n  { Lifetime }\nmore: ''",
    complaints: [
      '@+2: validity: write {lifetime} in place of { Lifetime }.',
      '@+3: more: unknown entry; the entries here are subject, greeting, instruction, validity, notYou, signature.',
    ],
  },
  {
    it: 'a missing place',
    file: 'emails/code.yaml',
    at: 'subject:',
    write: 'subject: Your code',
    complaints: ['@: subject: must contain {code}, so that the code shows in the inbox.'],
  },
  {
    it: 'a wrong icon',
    file: 'landing.yaml',
    at: '    - icon: prompt',
    write: '    - icon: promt',
    complaints: [
      '@: benefits.cards.0.icon: must be one of prompt, knowledge, drivers, deliverability, refinement, results (did you mean prompt?).',
    ],
  },
  {
    it: 'a colour without quotes',
    file: 'site.yaml',
    write:
      "colors:\n  accent:\n    light: #0e5a43\n    dark: '#8fd3b2'\n  plate:\n    light: '#123d30'\n    dark: '#143a2e'",
    complaints: ["@+2: colors.accent.light: is empty, as # begins a comment; put it in quotes: '#0e5a43'."],
  },
  {
    it: 'a colour that is none',
    file: 'site.yaml',
    write:
      "colors:\n  accent:\n    light: 'green'\n    dark: '#8fd3b2'\n  plate:\n    light: '#123d30'\n    dark: '#143a2e'",
    complaints: ["@+2: colors.accent.light: must be a colour such as '#0e5a43', in quotes."],
  },
  {
    it: 'a language that is none',
    file: 'site.yaml',
    at: 'language:',
    write: 'language: english',
    complaints: ['@: language: must be the tag of a language, such as en, de or pt-BR.'],
  },
  ...(
    [
      ['www.example.com/privacy', 'must begin with https://, as in https://www.example.com/privacy'],
      ['you@example.com', 'must begin with mailto:, as in mailto:you@example.com'],
      ['htps://example.com', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['https//example.com', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['javascript:alert(1)', 'must begin with https://, mailto: or tel:, or with / for a page of this site'],
      ['https://example.com/our privacy', 'must not hold blanks; write %20 for one'],
      ['“https://example.com”', 'holds a curly quote; take it out, or type straight ones around the text'],
      [
        "'#benefit'",
        'leads to no place of the page; there are #benefits, #how-it-works, #problems, #solution, #testimonials, #closing',
      ],
    ] as const
  ).map(([href, complaint]) => ({
    it: `the link ${href}`,
    file: 'site.yaml',
    at: 'footerLinks:',
    write: `readOn:\n  label: Read on\n  href: ${href}\nfooterLinks:`,
    complaints: [`@+2: readOn.href: ${complaint}.`],
  })),
  {
    it: 'a picture with its ending',
    file: 'landing.yaml',
    at: '      image: avatar-sarah',
    write: '      image: avatar-sarah-lindqvist.webp',
    complaints: [
      '@: testimonials.cards.0.image: must be the name alone, avatar-sarah-lindqvist; media/avatar-sarah-lindqvist.avif and media/avatar-sarah-lindqvist.webp are taken.',
    ],
  },
  {
    it: 'a picture that is not there',
    file: 'landing.yaml',
    at: '      image: avatar-sarah',
    write: '      image: sarah',
    complaints: [
      '@: testimonials.cards.0.image: needs media/sarah.avif, media/sarah.webp; put it there, or take the entry out.',
    ],
  },
  {
    it: 'a file of Windows',
    file: 'consent.yaml',
    write: Buffer.from('# Words.\r\ntext: I agree to be mailed. Grüße\r\n', 'latin1'),
    complaints: ['2: is not written in UTF-8 (at "ü"); save the file as UTF-8 in your editor.'],
  },
  {
    it: 'a file in UTF-16',
    file: 'consent.yaml',
    write: Buffer.from('\uFEFFtext: I agree to be mailed.\n', 'utf16le'),
    complaints: ['1: is not written in UTF-8 but in UTF-16; save the file as UTF-8 in your editor.'],
  },
  {
    it: 'an address among the free-mail domains',
    file: 'free-mail-domains.txt',
    write: '# Ours.\ngmail.com\nsomebody@gmx.de\nhttps://web.de\ngmail\n',
    complaints: ['somebody@gmx.de', 'https://web.de', 'gmail'].map(
      (line, at) =>
        `${at + 3}: ${line} is no domain; write one a line, such as gmail.com, and remarks behind a # on lines of their own.`,
    ),
  },
];

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

const FOLDER_NAME = 'campaign';
const MAKE_MEDIA = path.join(PROJECT_FOLDER, 'studio', 'make-media.ts');

function withCopy<Result>(test: (folder: string) => Result): Result {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'campaign-'));
  try {
    cpSync(TEST_CAMPAIGN, folder, { recursive: true });
    return test(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const called = (folder: string, sentences: readonly string[]) =>
  sentences.map((sentence) => sentence.replace(folder, FOLDER_NAME));

/** Writes it, and says on which line. */
function make(folder: string, { file, at, write }: Slip): number {
  const place = path.join(folder, file);
  if (typeof write !== 'string' || file.endsWith('.txt')) {
    writeFileSync(place, write);
    return 0;
  }
  const lines = readFileSync(place, 'utf8').trimEnd().split('\n');
  const index = at === undefined ? lines.length : lines.findIndex((line) => line.startsWith(at));
  assert.notEqual(index, -1, `${file} has no ${at}`);
  // The rest of a text that went over several lines goes with it.
  const indent = /^ */.exec(lines[index] ?? '')?.[0].length ?? 0;
  let end = index + 1;
  if (/[>|]-?$/.test(lines[index] ?? ''))
    while (end < lines.length && /^ */.exec(lines[end] ?? '')![0].length > indent) end += 1;
  lines.splice(index, end - index, ...(write === '' ? [] : write.split('\n')));
  writeFileSync(place, `${lines.join('\n')}\n`);
  return index + 1;
}

describe('a slip in the words is reported with its file, its line, what is wrong and what to do', () => {
  for (const slip of IN_YAML)
    it(`${slip.it}, in ${slip.file}`, () =>
      withCopy((folder) => {
        const line = make(folder, slip);
        const complaints = slip.complaints.map((sentence) => {
          const [, ahead = 0] = /^@\+?(\d*)/.exec(sentence) ?? [];
          return `${FOLDER_NAME}/${slip.file}:${sentence.replace(/^@(?:\+\d+)?/, String(line + Number(ahead)))}`;
        });
        assert.deepEqual(called(folder, campaignComplaints(folder)), complaints);
      }));

  for (const [what, written, complaints] of IN_THE_ARTICLE)
    it(`${what}, in the article`, () =>
      withCopy((folder) => {
        writeFileSync(path.join(folder, 'article/article.md'), `\n# Title\n\nText.\n\n${written}\n`);
        assert.deepEqual(
          called(folder, campaignComplaints(folder)),
          complaints.map((sentence) => `${FOLDER_NAME}/article/article.md:6: ${sentence}.`),
        );
      }));

  it('and all of them at once, whichever file they are in', () =>
    withCopy((folder) => {
      const slips = IN_YAML.filter(({ it: what }) =>
        ['a tab', 'a missing place', 'an unknown entry'].includes(what),
      );
      for (const slip of slips) make(folder, slip);
      writeFileSync(path.join(folder, 'article/article.md'), 'No title');
      assert.equal(campaignComplaints(folder).length, 4);
    }));
});

describe('files of words', () => {
  it('may come from an editor of Windows', () =>
    withCopy((folder) => {
      for (const file of ['site.yaml', 'landing.yaml', 'consent.yaml', 'article/article.md']) {
        const place = path.join(folder, file);
        writeFileSync(place, `\uFEFF${readFileSync(place, 'utf8').replaceAll('\n', '\r\n')}`);
      }
      assert.deepEqual(campaignComplaints(folder), []);
    }));

  it('and pictures go by their names to the letter', () =>
    withCopy((folder) => {
      for (const [from, to] of [
        ['consent.yaml', 'Consent.yaml'],
        ['emails/code.yaml', 'emails/code.yml'],
        ['article/article.md', 'article/guide.md'],
        ['media/film.webm', 'media/Film.webm'],
      ] as const)
        renameSync(path.join(folder, from), path.join(folder, to));
      assert.deepEqual(
        called(folder, campaignComplaints(folder)).map((sentence) => sentence.replace(/yaml:\d+/, 'yaml')),
        [
          'campaign/emails/code.yaml: is missing; there is code.yml: give it this name, to the letter.',
          'campaign/consent.yaml: is missing; there is Consent.yaml: give it this name, to the letter.',
          'campaign/article/article.md: is missing; put it back, or take it from examples/ of the project.',
          'campaign/landing.yaml: video: needs media/film.webm; there is Film.webm: give it this name, to the letter.',
        ],
      );
    }));

  it('are reported when they are not what their name says', () =>
    withCopy((folder) => {
      cpSync(path.join(folder, 'media/hero-640.avif'), path.join(folder, 'media/hero-640.webp'));
      writeFileSync(path.join(folder, 'media/film.vtt'), 'No captions');
      writeFileSync(path.join(folder, 'media/guide-400.webp'), '');
      assert.deepEqual(
        campaignComplaints(folder).map((sentence) => sentence.replace(/^.*yaml:\d+: /, '')),
        [
          'hero.imageAlt: media/hero-640.webp is AVIF; save it as WebP.',
          'video: media/film.vtt is something else than its name says; save it as WebVTT.',
          'promise.imageAlt: media/guide-400.webp is empty; put the file there again.',
        ],
      );
    }));
});

describe('pictures', () => {
  it('come in every size and format that the page takes from one command for each place', () =>
    withCopy((folder) => {
      const picture = path.join(folder, 'own.png');
      cpSync(path.join(folder, 'media/og.png'), picture);
      for (const name of readdirSync(path.join(folder, 'media')))
        if (/^(?:hero|og|avatar-sarah)/.test(name)) rmSync(path.join(folder, 'media', name));
      for (const place of ['hero', 'og', 'avatar-sarah-lindqvist', 'icons'])
        execFileSync(process.execPath, [MAKE_MEDIA, place, picture], {
          env: { ...process.env, CAMPAIGN_FOLDER: folder },
        });
      rmSync(picture);
      assert.deepEqual(campaignComplaints(folder), []);
      assert.deepEqual(campaignWarnings(folder), []);
      assert.equal(readdirSync(path.join(folder, 'icons')).length, 6);
    }));
});

describe('a warning', () => {
  it('names unused files, heavy files and words that will not fit, and stops nothing', () =>
    withCopy((folder) => {
      assert.deepEqual(campaignWarnings(folder), []);
      writeFileSync(path.join(folder, 'media/old.png'), 'x');
      writeFileSync(path.join(folder, 'media/.DS_Store'), 'x');
      writeFileSync(path.join(folder, 'emails/codes.yaml'), 'x');
      const picture = path.join(folder, 'media/hero-1280.webp');
      writeFileSync(picture, Buffer.concat([readFileSync(picture), Buffer.alloc(500_000)]));
      const site = path.join(folder, 'site.yaml');
      writeFileSync(
        site,
        readFileSync(site, 'utf8').replace(/^title: .*$/m, `title: ${'A long title '.repeat(5)}`),
      );
      writeFileSync(
        path.join(folder, 'article/article.md'),
        '# Title\n\n## One\n\n#### Two\n\nSee https://example.com/there\n',
      );
      assert.deepEqual(campaignComplaints(folder), []);
      assert.deepEqual(
        called(folder, campaignWarnings(folder)).map((sentence) => sentence.replace(/yaml:\d+/, 'yaml')),
        [
          'campaign/article/article.md:5: goes from ## to ####; write ###, so that screen readers can tell what belongs to what.',
          'campaign/article/article.md:7: https://example.com/there cannot be pressed; write <https://example.com/there>.',
          'campaign/site.yaml: title: has 64 characters, and 34 fit: on a telephone the header takes two lines.',
          'campaign/emails/code.yaml: subject: has 88 characters, and 60 fit: mail programs cut off what is longer.',
          'campaign/emails/guide.yaml: subject: has 77 characters, and 60 fit: mail programs cut off what is longer.',
          'campaign/emails/codes.yaml: nothing reads this file; it would be called emails/code.yaml.',
          'campaign/media/old.png: nothing reads this file.',
          'campaign/media/hero-1280.webp: has 556 kB; visitors wait for each of them, so save it with less than 300 kB.',
        ],
      );
    }));
});
