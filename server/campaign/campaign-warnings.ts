// What can be used as it is and is hardly what the operator wanted: files that nothing reads, pictures that weigh too much,
// words that will not fit. Shown wherever the words are checked; a warning stops nothing.
import { statSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { namesIn, nameOf, readText, weightWarning } from '#server/campaign/pictures-and-films.ts';
import {
  both,
  landingOf,
  MEDIA,
  mediaOfPages,
  readArticle,
  readCampaign,
  readWords,
  type Campaign,
} from '#server/campaign/campaign.ts';
import { nearestName } from '#server/platform/nearest-name.ts';
import { hasEntry, lineOfEntry } from '#server/campaign/missing-and-wrong-words.ts';
import { inVariant, OWN_PAGE, VARIANT_FILES, variantsIn } from '#server/campaign/variants.ts';
import { Interface, type Landing, type Site } from '#shared/campaign-schema.ts';
import { fill } from '#shared/words.ts';

const READ_ALWAYS = [
  'site.yaml',
  'landing.yaml',
  'interface.yaml',
  'consent.yaml',
  'form.yaml',
  'errors.yaml',
  'free-mail-domains.txt',
  'emails/code.yaml',
  'emails/guide.yaml',
  'emails/breaker.yaml',
  'emails/new-lead.yaml',
  'article/article.md',
  'media/og.png',
  ...[
    'favicon.svg',
    'favicon.ico',
    'apple-touch-icon.png',
    'icon-192.png',
    'icon-512.png',
    'icon-maskable-512.png',
  ].map((name) => `icons/${name}`),
];

/**
 * Looks at words and files that can be used.
 * @param folder the campaign folder
 * @returns one sentence for each thing that should be looked at; none while there are mistakes about the words
 */
export function campaignWarnings(folder: string): string[] {
  const words = readCampaign(folder);
  const landing = readWords(folder, 'landing.yaml', landingOf(folder));
  if (words.type === 'mistakes' || landing.type === 'mistakes') return [];
  const { site, guideEmail } = words.campaign;
  const ofVariants = variantsIn(folder).flatMap((name) => {
    const own = readWords(folder, 'landing.yaml', landingOf(folder), name);
    const ownInterface = readWords(folder, 'interface.yaml', Interface, name);
    return own.type === 'words' && ownInterface.type === 'words'
      ? [{ name, landing: own.words, interface: ownInterface.words }]
      : [];
  });
  const article = readText(folder, 'article/article.md');
  const inArticle = article?.type === 'text' ? article.text : '';
  const read = new Set([
    ...READ_ALWAYS,
    ...mediaOf(site, landing.words).map((name) => `media/${name}`),
    ...ofVariants.flatMap(({ name, landing: own }) => [
      ...VARIANT_FILES.map((file) => inVariant(name, file)),
      ...mediaOf(site, own).map((file) => `media/${file}`),
    ]),
    ...Array.from(inArticle.matchAll(/\bmedia\/[\w.-]+/g), ([name]) => name),
    ...[guideEmail.attachment, site.download?.file]
      .filter((name) => name !== undefined)
      .map((name) => `article/${name}`),
  ]);
  const files = filesIn(folder);
  return [
    ...readArticle(folder).slips.map(({ sentence }) => sentence),
    ...tooLong(folder, { ...words.campaign, landing: landing.words }),
    ...ofVariants.flatMap(({ name, ...own }) => tooLong(folder, { ...words.campaign, ...own }, name)),
    ...otherConsents(folder, words.campaign),
    ...ofVariants.flatMap(({ name, ...own }) =>
      isSamePage(name, own, { ...words.campaign, landing: landing.words })
        ? [
            `${nameOf(folder, `variants/${name}`)}: has the same words as the page itself, so the two would be compared in vain; put the words that differ into landing.yaml there, or take the folder away.`,
          ]
        : [],
    ),
    ...files
      .filter((file) => !read.has(file))
      .map((file) => `${nameOf(folder, file)}: nothing reads this file${meantBy(file, [...read])}.`),
    ...files
      .filter((file) => read.has(file) && file.startsWith('media/'))
      .flatMap((file) => {
        const warning = weightWarning(path.join(folder, file));
        return warning === null ? [] : [`${nameOf(folder, file)}: ${warning}.`];
      }),
  ];
}

/**
 * Whether search engines are asked not to list the page.
 * @param folder the campaign folder
 * @returns one sentence, or none
 */
export function unlistedPage(folder: string): string[] {
  const words = readCampaign(folder);
  if (words.type === 'mistakes' || !words.campaign.site.noindex) return [];
  const read = readText(folder, 'site.yaml');
  const line = read?.type === 'text' ? lineOfEntry(read.text, ['noindex']) : 1;
  return [
    `${nameOf(folder, 'site.yaml')}:${line}: noindex: search engines are asked not to list the page. Take the line out when it is to be found.`,
  ];
}

/** Whether a variant is the campaign's own page under another name. */
const isSamePage = (
  name: string,
  own: { readonly landing: Landing; readonly interface: Interface },
  page: Campaign & { readonly landing: Landing },
): boolean =>
  isDeepStrictEqual([own.landing, own.interface], [page.landing, page.interface]) &&
  page.variants.every((variant) => variant.name !== name || variant.consent.version === page.consent.version);

/** Variants whose visitors agree to other words: nothing is wrong with it, but it must not happen unseen. */
const otherConsents = (folder: string, { consent, variants }: Campaign): string[] =>
  variants
    .filter((variant) => variant.consent.version !== consent.version)
    .map(
      ({ name, consent: own }) =>
        `${nameOf(folder, inVariant(name, 'consent.yaml'))}: visitors of variant ${name} agree to other words than those of ${OWN_PAGE}. ` +
        `Each lead keeps the wording it saw, here version ${own.version}; a difference between the variants may come from these words.`,
    );

/** The files of media/ that the words speak of. */
function mediaOf({ logo }: Site, { hero, video, inside, promise, testimonials, logos }: Landing): string[] {
  return [
    ...(logo === undefined ? [] : [logo]),
    ...(hero.imageAlt === undefined ? [] : MEDIA.hero),
    ...(video === undefined ? [] : MEDIA.video),
    ...(promise?.imageAlt === undefined ? [] : MEDIA.promise),
    ...(inside?.pictures ?? []).flatMap((_, index) => mediaOfPages(index)),
    ...both((testimonials?.cards ?? []).flatMap(({ image }) => image ?? [])),
    ...(testimonials?.cards ?? []).flatMap((card) => card.logo ?? []),
    ...(logos?.companies ?? []).flatMap((company) => company.logo ?? []),
  ];
}

/** What the operator put into the folder; not what a system leaves there, and no notes. */
function filesIn(folder: string, within = ''): string[] {
  return namesIn(path.join(folder, within))
    .filter((name) => !/^\.|^Thumbs\.db$|^README/i.test(name))
    .flatMap((name) => {
      const file = path.posix.join(within, name);
      return statSync(path.join(folder, file)).isDirectory() ? filesIn(folder, file) : [file];
    });
}

function meantBy(file: string, read: readonly string[]): string {
  const name = read.find((one) => one.toLowerCase() === file.toLowerCase()) ?? nearestName(file, read, 1);
  return name === null ? '' : `; it would be called ${name}`;
}

/** Characters. Those of the page were measured on a telephone of 375 by 667 pixels, and are a little less than just fits. */
const MOST_CHARACTERS = {
  header: 34,
  badge: 42,
  headline: 70,
  button: 34,
  /** Of a mail, on a desktop; telephones show half of it. */
  subject: 60,
  pageTitle: 70,
  description: 200,
};

type Rule = readonly [
  file: string,
  entry: readonly PropertyKey[],
  text: string | undefined,
  most: number,
  why: string,
];

function tooLong(
  folder: string,
  { site, landing, codeEmail, guideEmail, interface: words }: Campaign & { readonly landing: Landing },
  variant: string | null = null,
): string[] {
  const { header, badge, headline, button, subject, pageTitle, description } = MOST_CHARACTERS;
  const twoLines = 'on a telephone it takes two lines';
  const cut = 'mail programs cut off what is longer';
  const filled = (text: string) =>
    fill(text, { title: site.title, code: '000000', reference: 'ABC', host: 'guide.example.com' });
  const rules: Rule[] = [
    ['site.yaml', ['title'], site.title, header, 'on a telephone the header takes two lines'],
    ['site.yaml', ['pageTitle'], site.pageTitle, pageTitle, 'search engines cut off what is longer'],
    ['site.yaml', ['description'], site.description, description, 'search engines cut off what is longer'],
    ['landing.yaml', ['hero', 'badge'], landing.hero.badge, badge, twoLines],
    [
      'landing.yaml',
      ['hero', 'headline'],
      landing.hero.headline,
      headline,
      'on a telephone the button leaves the first screen',
    ],
    ['landing.yaml', ['hero', 'button'], landing.hero.button, button, twoLines],
    ['landing.yaml', ['closing', 'button'], landing.closing.button, button, twoLines],
    ['landing.yaml', ['video', 'button'], landing.video?.button, button, twoLines],
    ['interface.yaml', ['form', 'send'], words.form.send, button, twoLines],
    ['interface.yaml', ['form', 'sending'], words.form.sending, button, twoLines],
    ['emails/code.yaml', ['subject'], filled(codeEmail.subject), subject, cut],
    ['emails/guide.yaml', ['subject'], filled(guideEmail.subject), subject, cut],
  ];
  return rules.flatMap(([file, entry, text = '', most, why]) => {
    const length = Array.from(text).length;
    if (length <= most) return [];
    const place = variant === null ? file : inVariant(variant, file);
    const read = readText(folder, place);
    // What a variant does not have is not its own.
    if (variant !== null && !(read?.type === 'text' && hasEntry(read.text, entry))) return [];
    const line = read?.type === 'text' ? lineOfEntry(read.text, entry) : 1;
    return [
      `${nameOf(folder, place)}:${line}: ${entry.join('.')}: has ${length} characters, and ${most} fit: ${why}.`,
    ];
  });
}
