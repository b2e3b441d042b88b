import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

import sharp from 'sharp';
import { parse } from 'yaml';

import { campaignWarnings } from '#server/campaign/campaign-warnings.ts';
import { campaignMistakes } from '#server/campaign/campaign.ts';
import { SAMPLE, sampleOnPage } from '#server/campaign/sample.ts';
import { PROJECT_FOLDER } from '#server/platform/files.ts';
import type { Landing, Site } from '#shared/campaign-schema.ts';
import { GERMAN_CAMPAIGN, TEST_CAMPAIGN } from '#testing/built-site.ts';
import {
  withFolderName,
  changeFiles,
  mistakesWith,
  withCampaignCopy,
  withChangedCampaign,
  withLastingCampaignCopy,
} from '#testing/campaign-copy.ts';
import { inFolder } from '#testing/folder.ts';

const MAKE_MEDIA = path.join(PROJECT_FOLDER, 'studio', 'make-media.ts');
const LIST_SAMPLE = path.join(PROJECT_FOLDER, 'studio', 'list-sample.ts');

it('campaign files may have Windows line endings and a byte order mark', () => {
  const fromWindows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  const files = ['site.yaml', 'landing.yaml', 'consent.yaml', 'article/article.md'];
  assert.deepEqual(mistakesWith(Object.fromEntries(files.map((file) => [file, fromWindows]))), []);
});

it('a missing campaign file is reported', () =>
  assert.deepEqual(mistakesWith({ 'consent.yaml': null }), [
    'campaign/consent.yaml: is missing. Restore the file, or copy it from the project’s examples/ folder.',
  ]));

it('a link to a missing file is reported with the entry that needs it, unless it is hidden', () =>
  withCampaignCopy((folder) => {
    symlinkSync('nowhere', path.join(folder, '.#landing.yaml'));
    assert.deepEqual(campaignMistakes(folder), []);
    symlinkSync('nowhere', path.join(folder, 'media/extra.webp'));
    const picture = path.join(folder, 'media/hero-640.avif');
    rmSync(picture);
    symlinkSync('nowhere', picture);
    const [inWords = '', ...others] = withFolderName(folder, campaignMistakes(folder));
    assert.match(
      inWords,
      /^campaign\/landing\.yaml:\d+: hero\.imageAlt: media\/hero-640\.avif is a symbolic link/,
    );
    const broken = 'is a symbolic link to a missing file. Correct the link, or delete it.';
    const media = ['extra.webp', 'hero-640.avif'].map((name) => `campaign/media/${name}: ${broken}`);
    assert.deepEqual(others, media);
    // The doctor and the desk's first page also look at such a campaign.
    assert.doesNotThrow(() => [...campaignWarnings(folder), ...sampleOnPage(folder)]);
  }));

it('media whose content does not match the file extension is reported', () => {
  const mistakes = mistakesWith({
    'media/hero-640.webp': readFileSync(path.join(TEST_CAMPAIGN, 'media/hero-640.avif')),
    'media/film.vtt': 'No captions',
    'media/guide-400.webp': '',
    'media/chart.png': 'GIF89a',
    'article/article.md': '# T\n\n![A chart](media/chart.png)\n',
  });
  assert.deepEqual(
    mistakes.map((sentence) => sentence.replace(/^.*yaml:\d+: /, '')),
    [
      'campaign/article/article.md:3: media/chart.png does not contain PNG. Save the file as PNG.',
      'hero.imageAlt: media/hero-640.webp does not contain WebP. Save the file as WebP.',
      'video: media/film.vtt does not contain WebVTT. Save the file as WebVTT.',
      'promise.imageAlt: media/guide-400.webp does not contain WebP. Save the file as WebP.',
    ],
  );
});

const drawPicture = (file: string, width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#0e5a43' } }).toFile(file);

function makePicture(folder: string, ...typed: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAKE_MEDIA, ...typed], {
    env: { ...process.env, CAMPAIGN_FOLDER: folder },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

it('npm run picture writes every size and format of a picture', () =>
  withLastingCampaignCopy(async (folder) => {
    const picture = path.join(folder, 'own.png');
    await drawPicture(picture, 1280, 1024);
    for (const name of readdirSync(path.join(folder, 'media')))
      if (/^(?:hero|og|avatar-sarah)/.test(name)) rmSync(path.join(folder, 'media', name));
    for (const place of ['hero', 'og', 'avatar-sarah-lindqvist', 'icons'])
      assert.match(makePicture(folder, place, picture).stdout, new RegExp(`\\nWritten to ${folder}\\n$`));
    rmSync(picture);
    assert.deepEqual(campaignMistakes(folder), []);
    assert.deepEqual(campaignWarnings(folder), []);
    assert.equal(readdirSync(path.join(folder, 'icons')).length, 6);
  }));

it('npm run picture turns a photo upright for the icons', () =>
  withLastingCampaignCopy(async (folder) => {
    const picture = path.join(folder, 'upside-down.jpg');
    const half = { create: { width: 512, height: 256, channels: 3, background: '#ffffff' } } as const;
    await sharp({ create: { width: 512, height: 512, channels: 3, background: '#000000' } })
      .composite([{ input: half, gravity: 'south' }])
      .withMetadata({ orientation: 3 })
      .toFile(picture);
    assert.equal(makePicture(folder, 'icons', picture).status, 0);
    const [topLeft] = await sharp(path.join(folder, 'icons/icon-192.png')).raw().toBuffer();
    assert.equal(topLeft, 255);
  }));

it('npm run picture writes a link preview without transparency, even from a small SVG', () =>
  withLastingCampaignCopy(async (folder) => {
    const drawing = path.join(folder, 'sign.svg');
    rmSync(path.join(folder, 'media'), { recursive: true });
    writeFileSync(drawing, '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="6.3"/>');
    assert.equal(makePicture(folder, 'og', drawing).status, 0);
    const { isOpaque } = await sharp(path.join(folder, 'media/og.png')).stats();
    assert.ok(isOpaque);
  }));

it('npm run picture refuses an unknown place on the page, and a picture that is too small', () =>
  withLastingCampaignCopy(async (folder) => {
    const picture = path.join(folder, 'small.png');
    await drawPicture(picture, 1279, 2000);
    rmSync(path.join(folder, 'media'), { recursive: true });
    assert.deepEqual(makePicture(folder, 'hero', picture), {
      status: 1,
      stdout: '',
      stderr: `${picture} is too small: it has 1279 × 2000 pixels, and hero needs at least 1280 × 1024.\n`,
    });
    assert.ok(!existsSync(path.join(folder, 'media')));
    await drawPicture(picture, 160, 159);
    assert.match(makePicture(folder, 'avatar-jane-doe', picture).stderr, /needs at least 160 × 160/);
    const unknown = makePicture(folder, 'heros', picture);
    assert.deepEqual([unknown.status, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /^There is no place called heros\.\nUsage: /);
  }));

it('unused files, large files and long words only cause warnings', () => {
  const oldPictures = Array.from({ length: 25 }, (_, at) => [`media/old-${at + 10}.jpg`, 'x'] as const);
  const picture = readFileSync(path.join(TEST_CAMPAIGN, 'media/hero-1280.webp'));
  const changes = {
    ...Object.fromEntries(oldPictures),
    'media/.DS_Store': 'x',
    'emails/codes.yaml': 'x',
    'media/hero-1280.webp': Buffer.concat([picture, Buffer.alloc(556_000 - picture.length)]),
    'site.yaml': (text: string) => text.replace(/^title: .*$/m, `title: ${'A long title '.repeat(5)}`),
    'article/article.md': (text: string) => text.replace(/^# .*$/m, `# ${'A long title '.repeat(5)}`),
  };
  withChangedCampaign(changes, (folder) => {
    assert.deepEqual(campaignMistakes(folder), []);
    assert.deepEqual(
      withFolderName(folder, campaignWarnings(folder)).map((sentence) =>
        sentence.replace(/yaml:\d+/, 'yaml'),
      ),
      [
        'campaign/site.yaml: title: has 64 characters. Use at most 34, so that it fits on phones, in inboxes and in search results.',
        'campaign/emails/code.yaml: subject: has 88 characters. Use at most 60, so that it fits on phones, in inboxes and in search results.',
        'campaign/emails/guide.yaml: subject: has 77 characters. Use at most 60, so that it fits on phones, in inboxes and in search results.',
        'campaign/emails/codes.yaml: this file is not used. Delete it, or move it to unused/.',
        'campaign/media: 25 files are not used: old-10.jpg, old-11.jpg, old-12.jpg and 22 more. Delete them, or move them to unused/.',
        'campaign/media/hero-1280.webp: has a size of 556 kB, which visitors have to wait for. Save the file with less than 300 kB.',
      ],
    );
  });
});

it('a title of the article that the page does not show is reported', () =>
  withChangedCampaign(
    { 'article/article.md': (text) => text.replace(/^# .*$/m, '# The first chapter') },
    (folder) =>
      assert.deepEqual(withFolderName(folder, campaignWarnings(folder)), [
        'campaign/article/article.md: the page does not show the title “The first chapter”, but the title of site.yaml, “Master AI-Powered Outreach”. Write the same title in both files.',
      ]),
  ));

it('a file in media/ counts as used if a link leads to it, whatever its name', () =>
  withChangedCampaign(
    {
      'media/Preise für 2027.pdf': 'x',
      'media/übersicht.pdf': 'x',
      'media/100%.pdf': 'x',
      'site.yaml': (text) => text.replace("href: '#'", 'href: /media/Preise%20f%C3%BCr%202027.pdf'),
      'article/article.md': (text) => `${text}\n[Overview](/media/übersicht.pdf) [All](/media/100%25.pdf)\n`,
    },
    (folder) => assert.deepEqual(withFolderName(folder, campaignWarnings(folder)), []),
  ));

for (const [file, width, height, needed, place] of [
  ['hero-1280.webp', 300, 240, '1280 × 1024', 'hero'],
  ['inside-2-480.avif', 480, 320, '480 × 330', 'inside-2'],
  ['og.png', 600, 315, '1200 × 630', 'og'],
] as const)
  it(`${file} with ${width} × ${height} pixels is reported`, () =>
    withLastingCampaignCopy(async (folder) => {
      await drawPicture(path.join(folder, 'media', file), width, height);
      assert.deepEqual(withFolderName(folder, campaignWarnings(folder)), [
        `campaign/media/${file}: has ${width} × ${height} pixels, but its place needs ${needed} pixels. Run "npm run picture -- ${place} FILE" with a larger picture.`,
      ]);
    }));

const read = (folder: string, file: string): unknown =>
  parse(readFileSync(path.join(folder, file), 'utf8')) as unknown;
const SAMPLES = [TEST_CAMPAIGN, GERMAN_CAMPAIGN].map((folder) => ({
  landing: read(folder, 'landing.yaml') as Landing,
  site: read(folder, 'site.yaml') as Site,
}));

it('sample content is recognised by the people and publishers in both shipped campaigns', () => {
  assert.deepEqual(
    SAMPLE.people,
    SAMPLES.flatMap(({ landing }) => landing.testimonials?.cards.map(({ name }) => name) ?? []),
  );
  assert.deepEqual(
    SAMPLE.publishers,
    SAMPLES.map(({ site }) => site.publisher),
  );
});

it('the list of the sample’s sentences and pictures is up to date', () => {
  const { stderr, status } = spawnSync(process.execPath, [LIST_SAMPLE, '--check'], { encoding: 'utf8' });
  assert.deepEqual([stderr, status], ['', 0]);
});

it('every remaining place with sample content is reported', () => {
  for (const [campaign, ...more] of [[TEST_CAMPAIGN, 'media/film.vtt texts'], [GERMAN_CAMPAIGN]] as const) {
    const found = sampleOnPage(campaign).map((warning) =>
      warning.replace(
        /^.*?\/(?:campaign|german)\/(.+?):.* the sample’s (invented \w+|\w+)\b.*$/,
        (_, file: string, what: string) => `${what === 'pictures' ? '' : file} ${what}`.trim(),
      ),
    );
    assert.deepEqual(found.toSorted(), [
      'article/article.md texts',
      'emails/guide.yaml texts',
      'landing.yaml invented figures',
      'landing.yaml invented people',
      'landing.yaml texts',
      ...more,
      'pictures',
      'site.yaml publisher',
      'site.yaml texts',
    ]);
  }
});

const FREIGHT: readonly (readonly [title: string, file: string, text: string, ...warnings: string[]])[] = [
  [
    'one of two sentences of a text',
    'emails/guide.yaml',
    'inside: >-\n  Inside are ten tariffs for pallets. We will write to you when the\n  next chapter opens.\n',
    'campaign/emails/guide.yaml:1: “We will write to you when the next chapter opens.” is still the sample’s text. Write it for your own guide.',
  ],
  [
    'a sentence in a variant',
    'variants/b/landing.yaml',
    'hero:\n  headline: Master AI-Powered Cold Outreach\n',
    'campaign/variants/b/landing.yaml:2: “Master AI-Powered Cold Outreach” is still the sample’s text. Write it for your own guide.',
  ],
  [
    'short texts about the subject, with all their lines',
    'landing.yaml',
    `problems:
  title: Why Most Cold Outreach Fails
benefits:
  title: Six lorries
  cards:
    - title: Deliverability Mastery
    - title: Campaign Optimisation
figures:
  - label: another team’s ROI
    from: from 4:1
solution:
  letter: { paragraphs: [{ text: 'Dear Marta,' }] }
`,
    'campaign/landing.yaml:2: 6 of the sample’s texts are still here: “Why Most Cold Outreach Fails” (line 2), “Deliverability Mastery” (line 6), “Campaign Optimisation” (line 7) and 3 more (lines 9, 10, 12). Write them for your own guide.',
  ],
  [
    'neutral texts of sections, buttons and links',
    'landing.yaml',
    `hero:
  button: Get Your Free Copy
benefits:
  title: What You'll Learn
  cards: [{ note: Available now }]
inside: { title: Look inside }
howItWorks: { title: See How It Works }
solution: { title: The Solution, qualities: [{ title: Measurable }] }
`,
  ],
  [
    'the sentence of the consent',
    'consent.yaml',
    readFileSync(path.join(TEST_CAMPAIGN, 'consent.yaml'), 'utf8'),
  ],
  ['a file that is not valid', 'landing.yaml', 'hero: *none\n\tbadge: x'],
];
for (const [title, file, text, ...warnings] of FREIGHT)
  it(`${warnings.length > 0 ? 'reports' : 'does not report'} ${title}`, () =>
    inFolder((folder) => {
      changeFiles(folder, { [file]: text });
      assert.deepEqual(withFolderName(folder, sampleOnPage(folder)), warnings);
    }));

it('a sample picture is recognised by its content or by the name of an invented person', () =>
  inFolder((folder) => {
    changeFiles(folder, { 'media/hero-640.webp': 'our own' });
    assert.deepEqual(sampleOnPage(folder), []);
    cpSync(path.join(TEST_CAMPAIGN, 'media/hero-640.avif'), path.join(folder, 'media/lorry-640.avif'));
    changeFiles(folder, { 'media/avatar-sarah-lindqvist.webp': 'our own' });
    assert.deepEqual(withFolderName(folder, sampleOnPage(folder)), [
      'campaign/media/avatar-sarah-lindqvist.webp: the sample’s pictures are still here: avatar-sarah-lindqvist, lorry. Replace them with your own (docs/customising.md, Pictures).',
    ]);
  }));

it('invented people and figures are reported until the last one is replaced', () =>
  withCampaignCopy((folder) => {
    const change = (...changes: readonly (readonly [from: string | RegExp, to: string])[]) => {
      changeFiles(folder, {
        'landing.yaml': (text) => changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
      });
      return sampleOnPage(folder)
        .filter((sentence) => sentence.includes('invented'))
        .map((sentence) => sentence.replace(/^.*?: /, ''));
    };
    assert.deepEqual(
      change(['Sarah Lindqvist', 'Ines Maar'], [/11\.4%|9\.7:1|10\.2x|3\.5x|>10 X average ROI/g, '12.5%']),
      [
        'the sample’s invented people are still on the page: Marcus Adeyemi. Replace them with your own customers, with their permission.',
        'the sample’s invented figures are still on the page: 3.2%. Replace them with figures that you can prove.',
      ],
    );
    assert.deepEqual(change(['Marcus Adeyemi', 'Tom Okafor'], ['3.2%', '13.2%']), []);
  }));
