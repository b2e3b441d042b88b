// Every slip that an editor of words makes: where it is reported, and in which sentence. Those of the article: article-slips.test.ts.
import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

import { campaignComplaints } from '#server/campaign/campaign.ts';
import { called, FOLDER_NAME, withCampaignCopy } from '#testing/campaign-copy.ts';

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
  ...['1.10', '0123', '0x1F', '.inf'].map((number) => ({
    it: `the number ${number}, as it was written, where a text is wanted`,
    file: 'site.yaml' as const,
    at: 'publisher:',
    write: `publisher: ${number}`,
    complaints: [`@: publisher: must be a text; put it in quotes: '${number}'.`],
  })),
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
    complaints: ['25: form.send: is missing.'],
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
    it: 'a wrong icon of ours',
    file: 'landing.yaml',
    at: '    - icon: prompt',
    write: '    - icon: promt',
    complaints: [
      '@:13: benefits.cards.0.icon: there is no icon promt; did you mean prompt? All names: prompt, knowledge, drivers, deliverability, refinement, results, and those of tabler.io/icons (outline).',
    ],
  },
  {
    it: 'a wrong icon of the set',
    file: 'landing.yaml',
    at: '    - icon: prompt',
    write: '    - icon: Mail Openned',
    complaints: [
      '@:13: benefits.cards.0.icon: there is no icon Mail Openned; did you mean mail-opened? All names: prompt, knowledge, drivers, deliverability, refinement, results, and those of tabler.io/icons (outline).',
    ],
  },
  {
    it: 'a section that does not exist',
    file: 'landing.yaml',
    write: 'sections: [benefits, howItWorks, video, problems, solution, testimonals]',
    complaints: [
      '@:61: sections.5: must be one of logos, benefits, howItWorks, video, problems, solution, testimonials, questions (did you mean testimonials?).',
    ],
  },
  {
    it: 'a section that is in the list twice, and one that has no words',
    file: 'landing.yaml',
    write:
      'sections:\n  - benefits\n  - howItWorks\n  - video\n  - problems\n  - benefits\n  - solution\n  - testimonials\n  - questions',
    complaints: [
      '@+5:5: sections.4: benefits stands in the list twice; keep one of them.',
      '@+8:5: sections.7: there is no section questions; write its words, or take the name out.',
    ],
  },
  {
    it: 'a section that is not in the list',
    file: 'landing.yaml',
    at: 'testimonials:',
    write: 'sections: [benefits, howItWorks, video, problems, solution]\ntestimonials:',
    complaints: [
      '@+1:1: testimonials: is not in the list of sections, so no visitor would see it; add testimonials there, or take these words out.',
    ],
  },
  {
    it: 'a logo whose size is not known',
    file: 'landing.yaml',
    write: 'logos:\n  title: Known from\n  companies:\n    - name: Acme\n      logo: acme.png',
    complaints: [
      "@+4: logos.companies.0.logo: must be the name of a file in media/: an SVG, such as 'acme.svg', or a picture with its width and height in its name, such as 'acme-320x80.webp'.",
    ],
  },
  {
    it: 'a logo that is not there',
    file: 'landing.yaml',
    write: 'logos:\n  title: Known from\n  companies:\n    - name: Acme\n      logo: acme-320x80.png',
    complaints: [
      '@+4: logos.companies.0.logo: needs media/acme-320x80.png; put it there, or take the entry out.',
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
    it: 'a visit counter that is none of the three',
    file: 'site.yaml',
    write: 'analytics:\n  tool: google\n  script: https://www.example.com/gtag.js',
    complaints: ['@+1: analytics.tool: must be one of plausible, umami, matomo.'],
  },
  {
    it: 'a visit counter with an address that is none, without its site, and with an entry of another one',
    file: 'site.yaml',
    write: 'analytics:\n  tool: umami\n  script: cloud.umami.is/script.js\n  domain: example.com',
    complaints: [
      '@: analytics.site: is missing.',
      '@+2: analytics.script: must be an address: https:// and the file of the script, as in https://cloud.umami.is/script.js.',
      '@+3: analytics.domain: unknown entry; the entries here are tool, script, site.',
    ],
  },
  {
    it: 'the script of an older Plausible, which would count by itself',
    file: 'site.yaml',
    write: 'analytics:\n  tool: plausible\n  script: https://plausible.io/js/script.js',
    complaints: [
      '@+2: analytics.script: must be an address: https://, and a file such as pa-XXXX.js, as Plausible shows it under Site installation.',
    ],
  },
  {
    it: 'the script of Matomo Cloud as its snippet names it, beside another host that counts',
    file: 'site.yaml',
    write:
      'analytics:\n  tool: matomo\n  script: https://cdn.matomo.cloud/acme.matomo.cloud/matomo.js\n  site: "7"',
    complaints: [
      '@+2: analytics.script: must be the one of your own Matomo, such as https://acme.matomo.cloud/matomo.js; its CDN counts nothing.',
    ],
  },
  {
    it: 'an address that would write into the Content-Security-Policy',
    file: 'site.yaml',
    write: "analytics:\n  tool: matomo\n  script: 'https://a.example;img-src */matomo.js'\n  site: 7",
    complaints: [
      '@+2: analytics.script: must be an address: https:// and the file matomo.js of your Matomo, as in https://stats.example.com/matomo.js.',
      "@+3: analytics.site: must be the number that Matomo gave to the site, such as '1'; put it in quotes: '7'.",
    ],
  },
  {
    it: 'a page out of search engines, with a word',
    file: 'site.yaml',
    write: "noindex: 'yes'",
    complaints: ['@: noindex: must be true or false, without quotes.'],
  },
  {
    it: 'a file to download that is not there',
    file: 'site.yaml',
    write: 'download:\n  label: Download as PDF\n  file: guide.pdf',
    complaints: ['@+2: download.file: needs article/guide.pdf; put it there, or take the entry out.'],
  },
  {
    it: 'a file to download that lies elsewhere',
    file: 'site.yaml',
    write: 'download:\n  label: Download as PDF\n  file: ../media/og.png',
    complaints: ['@+2: download.file: must be the name of a file in article/.'],
  },
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
      withCampaignCopy((folder) => {
        const line = make(folder, slip);
        const complaints = slip.complaints.map((sentence) => {
          const [, ahead = 0] = /^@\+?(\d*)/.exec(sentence) ?? [];
          return `${FOLDER_NAME}/${slip.file}:${sentence.replace(/^@(?:\+\d+)?/, String(line + Number(ahead)))}`;
        });
        assert.deepEqual(called(folder, campaignComplaints(folder)), complaints);
      }));

  it('a file to download that is too large for the memory of the server', () =>
    withCampaignCopy((folder) => {
      const write = 'download:\n  label: Download as PDF\n  file: guide.pdf';
      const line = make(folder, { it: '', file: 'site.yaml', write, complaints: [] });
      const guide = path.join(folder, 'article', 'guide.pdf');
      writeFileSync(guide, '');
      truncateSync(guide, 50e6);
      assert.deepEqual(campaignComplaints(folder), []);
      truncateSync(guide, 50e6 + 1);
      assert.deepEqual(called(folder, campaignComplaints(folder)), [
        `${FOLDER_NAME}/site.yaml:${line + 2}: download.file: is a file of 51 MB; the server keeps it in memory, and takes 50 at most.`,
      ]);
    }));

  it('and all of them at once, whichever file they are in', () =>
    withCampaignCopy((folder) => {
      const slips = IN_YAML.filter(({ it: what }) =>
        ['a tab', 'a missing place', 'an unknown entry'].includes(what),
      );
      for (const slip of slips) make(folder, slip);
      writeFileSync(path.join(folder, 'article/article.md'), 'No title');
      assert.equal(campaignComplaints(folder).length, 4);
    }));
});
