// Warns about words and files that are usable but probably unintended. A warning never stops a start or a build.
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import {
  filesIn,
  inVariant,
  displayPath,
  OWN_PAGE,
  readText,
  VARIANT_FILES,
  variantsIn,
} from '#server/campaign/campaign-folder.ts';
import { type Campaign, readCampaign } from '#server/campaign/campaign.ts';
import { mediaOf, mistakeInFile, sizeWarning, weightWarning } from '#server/campaign/pictures.ts';
import { textsIn } from '#server/campaign/sample.ts';
import { landingSchemaOf } from '#server/campaign/words-and-files.ts';
import { lineOfEntry, readWords } from '#server/campaign/words-file.ts';
import { type Mistake, describeMistake } from '#server/platform/mistakes.ts';
import { Interface, type Landing } from '#shared/campaign-schema.ts';
import { orNull } from '#shared/or-null.ts';
import { fill } from '#shared/words.ts';

type Page = { readonly variant: string | null; readonly landing: Landing; readonly interface: Interface };

/** Returns the campaign's own page and those of its variants, without invalid ones. */
const readPages = (folder: string): Page[] =>
  [null, ...variantsIn(folder)].flatMap((variant) => {
    const landing = readWords(folder, 'landing.yaml', landingSchemaOf(folder), variant);
    const words = readWords(folder, 'interface.yaml', Interface, variant);
    return landing.type === 'words' && words.type === 'words'
      ? [{ variant, landing: landing.words, interface: words.words }]
      : [];
  });

export function campaignWarnings(folder: string): string[] {
  const words = readCampaign(folder);
  const pages = readPages(folder);
  if (words.type === 'mistakes' || pages[0]?.variant !== null) return [];
  const { campaign } = words;
  return [
    ...pages.flatMap((page) => lengthWarnings(campaign, page)),
    ...titleWarnings(campaign),
    ...variantWarnings(campaign),
    ...fileWarnings(folder, filesReadBy(campaign, pages)),
  ].map(describeMistake);
}

export function unlistedPage(folder: string): string[] {
  const words = readCampaign(folder);
  if (words.type === 'mistakes' || !words.campaign.site.noindex) return [];
  return [
    describeMistake({
      file: displayPath(folder, 'site.yaml'),
      line: lineOfEntry(folder, 'site.yaml', ['noindex']) ?? 1,
      message:
        'noindex: this line asks search engines not to list the page. Remove it once the page should be found.',
    }),
  ];
}

function titleWarnings({ folder, site, article }: Campaign): Mistake[] {
  if (article.title === site.title) return [];
  const message = `the page does not show the title “${article.title}”, but the title of site.yaml, “${site.title}”. Write the same title in both files.`;
  return [{ file: displayPath(folder, 'article/article.md'), message }];
}

function variantWarnings({ folder, consent, variants }: Campaign): Mistake[] {
  return variants
    .filter((variant) => !isDeepStrictEqual(variant.consent, consent))
    .map(({ name, consent: { version } }) => ({
      file: displayPath(folder, inVariant(name, 'consent.yaml')),
      message:
        `visitors of variant ${name} agree to a different wording than visitors of ${OWN_PAGE}. ` +
        `Each lead keeps the wording shown to the visitor, here version ${version}. Differences between the variants may come from this wording.`,
    }));
}

const ALWAYS_READ = [
  'site.yaml',
  'landing.yaml',
  'interface.yaml',
  'consent.yaml',
  'form.yaml',
  'errors.yaml',
  'free-mail-domains.txt',
  ...['code', 'guide', 'breaker', 'new-lead'].map((name) => `emails/${name}.yaml`),
  'article/article.md',
  'media/og.png',
  ...['favicon.svg', 'favicon.ico', 'apple-touch-icon.png'].map((name) => `icons/${name}`),
  ...['icon-192.png', 'icon-512.png', 'icon-maskable-512.png'].map((name) => `icons/${name}`),
];

function filesReadBy({ folder, site, guideEmail }: Campaign, pages: readonly Page[]): string[] {
  const article = readText(folder, 'article/article.md');
  const inArticle = article?.type === 'text' ? article.text : '';
  const inWords = filesIn(folder).flatMap((file) => textsIn(folder, file).map(({ text }) => text));
  return [
    ...ALWAYS_READ,
    ...variantsIn(folder).flatMap((name) => VARIANT_FILES.map((file) => inVariant(name, file))),
    ...[site.logo ?? [], pages.flatMap(({ landing }) => mediaOf(landing).flatMap(({ files }) => files))]
      .flat()
      .map((name) => `media/${name}`),
    // Links may lead to a file in media/, which is public.
    ...[inArticle, ...inWords].flatMap((text) =>
      Array.from(
        text.match(/\bmedia\/[^\s"'()<>?#,;]+/g) ?? [],
        (url) => orNull(() => decodeURIComponent(url)) ?? url,
      ),
    ),
    ...[guideEmail.attachment, site.download?.file].flatMap((name) =>
      name === undefined ? [] : [`article/${name}`],
    ),
  ];
}

function fileWarnings(folder: string, read: readonly string[]): Mistake[] {
  const files = filesIn(folder);
  const warning = (file: string, message: string) => ({
    file: displayPath(folder, file),
    message: `${message}.`,
  });
  const unused = files.filter((file) => !read.includes(file));
  const unusedByFolder = Map.groupBy(unused, (file) => path.posix.dirname(file));
  return [
    ...Array.from(unusedByFolder, ([within, names]) => {
      const [first = '', ...more] = names;
      return more.length === 0
        ? warning(first, 'this file is not used. Delete it, or move it to unused/')
        : warning(
            within,
            `${names.length} files are not used: ${listNames(names.map((name) => path.posix.basename(name)))}. Delete them, or move them to unused/`,
          );
    }),
    ...files
      .filter((file) => read.includes(file) && file.startsWith('media/'))
      .flatMap((file) => {
        const place = path.join(folder, file);
        const mistake = mistakeInFile(folder, path.posix.basename(file));
        return [mistake, weightWarning(place), mistake === null ? sizeWarning(place) : null].flatMap(
          (message) => (message === null ? [] : [warning(file, message)]),
        );
      }),
  ];
}

const MAX_NAMES = 3;

const listNames = (names: readonly string[]): string =>
  names.length <= MAX_NAMES + 1
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;

type Rule = readonly [file: string, entry: readonly PropertyKey[], text: string | undefined, max: number];

/** The limits were measured on a phone of 375 by 667 pixels, in inboxes and in search results, and have a small margin. */
function lengthWarnings(
  { folder, site, codeEmail, guideEmail }: Campaign,
  { variant, landing, interface: words }: Page,
): Mistake[] {
  const filled = (text: string) =>
    fill(text, { title: site.title, code: '000000', reference: 'ABC', host: 'guide.example.com' });
  const rules: Rule[] = [
    ['site.yaml', ['title'], site.title, 34],
    ['site.yaml', ['pageTitle'], site.pageTitle, 70],
    ['site.yaml', ['description'], site.description, 200],
    ['landing.yaml', ['hero', 'badge'], landing.hero.badge, 42],
    ['landing.yaml', ['hero', 'headline'], landing.hero.headline, 70],
    ['landing.yaml', ['hero', 'button'], landing.hero.button, 34],
    ['landing.yaml', ['closing', 'button'], landing.closing.button, 34],
    ['landing.yaml', ['video', 'button'], landing.video?.button, 34],
    ['interface.yaml', ['form', 'send'], words.form.send, 34],
    ['interface.yaml', ['form', 'sending'], words.form.sending, 34],
    ['emails/code.yaml', ['subject'], filled(codeEmail.subject), 60],
    ['emails/guide.yaml', ['subject'], filled(guideEmail.subject), 60],
  ];
  return rules.flatMap(([file, entry, text = '', max]) => {
    const length = Array.from(text).length;
    const place = variant === null ? file : inVariant(variant, file);
    const line = length <= max ? null : lineOfEntry(folder, place, entry);
    const message = `${entry.join('.')}: has ${length} characters. Use at most ${max}, so that it fits on phones, in inboxes and in search results.`;
    return line === null ? [] : [{ file: displayPath(folder, place), line, message }];
  });
}
