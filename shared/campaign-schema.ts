// The words of a campaign. The build and the start report a mistake with its file, line and entry, and stop.
import * as z from 'zod/mini';

import { TOUCH_NAMES } from '#shared/funnel.ts';
import { colourMistakes } from '#shared/colours.ts';
import { API_ERRORS, type ApiErrorCode } from '#shared/errors.ts';
import { isImportHeading } from '#shared/import-headings.ts';
import { longestAnswer } from '#shared/lengths-and-resend.ts';
import { orNull } from '#shared/or-null.ts';
import { TOOL_NAMES, TOOLS, type ToolName } from '#shared/tools.ts';
import { isSingleLine } from '#shared/typed-input.ts';
import { linkMistake } from '#shared/words.ts';

/** Refused, because text is shown exactly as written. */
const MARKUP =
  /&(?:[a-z]+\d*|#\d+|#x[\da-f]+);|<\/?(?:a|b|br|div|em|font|h[1-6]|i|img|li|mark|ol|p|script|small|span|strong|sub|sup|u|ul)\b[^>]*>|\*\*[^*\s][^*]*\*\*/gi;
/** Captures label and target. */
export const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;

export type WordsMistake = {
  /** A phrase that follows the name of the entry. */
  readonly message: string;
  readonly entry?: readonly PropertyKey[];
  /** The part of the text that is wrong. */
  readonly about?: string;
};

export const reporting = <Words>(find: (words: Words) => Iterable<WordsMistake>) =>
  z.superRefine<Words>((words, context) => {
    for (const { message, entry = [], about } of find(words))
      context.addIssue({ code: 'custom', path: [...entry], params: { about }, message });
  });

const textWithout = (...patterns: readonly RegExp[]) =>
  z.string({ error: 'must be text' }).check(
    z.trim(),
    z.minLength(1, 'must not be empty'),
    reporting(function* (text: string) {
      for (const [about] of patterns.flatMap((pattern) => [...text.matchAll(pattern)])) {
        const advice = about.startsWith('&') ? 'Type the character itself' : 'Use plain words';
        yield { about, message: `${about} would be shown exactly as written. ${advice}` };
      }
    }),
  );

// Kinds of text, by their placeholders: `words` may contain {year}, `plain` none, `wordsWith` those named, and `wordsWithAll` must
// contain all of those named. `texts` and `plainTexts` define several entries of one kind.

const anyWords = textWithout(MARKUP, LINK);

/** Accepts text with `{name}` placeholders. Unknown names are errors. */
const wordsWith = (...names: readonly string[]) => withPlaceholders(anyWords, names);

/**
 * A word in braces, also one that a translator or an input method changed: {título}, ｛title｝. Several words, such as {First Name},
 * are text, because a guide about e-mails may quote them.
 */
const IN_BRACES = /[{｛]+\s*[\p{L}\p{N}_-][\p{L}\p{M}\p{N}_-]*\s*[}｝]+/gu;

const withPlaceholders = (text: typeof anyWords, names: readonly string[]) =>
  text.check(
    reporting(function* (value: string) {
      const valid = names.map((name) => `{${name}}`);
      const known = valid.length === 0 ? 'This text has no placeholders' : `Use one of ${valid.join(', ')}`;
      for (const [about] of value.matchAll(IN_BRACES))
        if (!valid.includes(about)) yield { about, message: `there is no ${about}. ${known}` };
      const rest = value.replaceAll(/[{｛][^{}｛｝]*[}｝]/g, '');
      for (const name of names)
        for (const about of [`{${name}`, `${name}}`])
          if (rest.includes(about)) yield { about, message: `${about} lacks a brace. Write {${name}}` };
    }),
  );

const containing = (name: string) =>
  z.refine<string>((text) => text.includes(`{${name}}`), `must contain {${name}}`);

/** Accepts text with `{name}` placeholders, and requires each of them. */
const wordsWithAll = (...names: readonly string[]) => wordsWith(...names).check(...names.map(containing));

const words = wordsWith('year');
const plain = wordsWith();

/** Defines several entries with the same schema. */
const sameFor = <Schema, Name extends string>(schema: Schema, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
const texts = <Name extends string>(...names: readonly Name[]) => sameFor(words, ...names);
const plainTexts = <Name extends string>(...names: readonly Name[]) => sameFor(plain, ...names);

const href = words.check(
  reporting(function* (text: string) {
    const message = linkMistake(text, null);
    if (message !== null) yield { message };
  }),
);
const link = z.strictObject({ label: words, href });
const page = words.check(
  z.refine(
    (text) => linkMistake(text, null) === null && /^(?:https?:\/)?\//i.test(text),
    'must begin with https://, or with / for a page of this site',
  ),
);
const items = <Item extends z.core.SomeType>(item: Item) =>
  z.array(item).check(z.minLength(1, 'must have at least one entry'));

/** Accepts text that matches the pattern, with the same error for anything else. */
const matching = (pattern: RegExp, error: string) => z.string({ error }).check(z.regex(pattern, error));

const colour = matching(/^#[\da-f]{6}$/i, "must be a colour such as '#0e5a43', in quotes");
const colourPair = z.strictObject({ light: colour, dark: colour });
const colours = z.strictObject({ accent: colourPair, plate: colourPair }).check(reporting(colourMistakes));
const svg = words.check(
  z.regex(
    /^[\w.-]+\.svg$/,
    "must be the name of a file in media/ that ends with .svg, with only letters from a to z, digits, dots, hyphens and _, such as 'logo.svg'",
  ),
);

const isLanguage = (tag: string): boolean =>
  orNull(() => Intl.DisplayNames.supportedLocalesOf(tag).length > 0) === true;

/**
 * The host goes into the Content-Security-Policy unchanged, so characters that end a directive are refused.
 * @param file pattern of the file name
 */
const scriptOf = (file: string, advice: string) =>
  matching(
    new RegExp(String.raw`^https://[\w.-]+(?::\d+)?/(?:[\w./~-]+/)?${file}$`),
    `must be a URL: ${advice}`,
  );

/** Visit counters that set no cookies. The name of each script is checked, so that a wrong URL is noticed early. */
const analytics = z.discriminatedUnion(
  'tool',
  [
    z.strictObject({
      tool: z.literal('plausible'),
      script: scriptOf(
        String.raw`pa-[\w-]+\.js`,
        'copy the one that Plausible shows under Site installation, which ends with a file such as pa-XXXX.js',
      ),
    }),
    z.strictObject({
      tool: z.literal('umami'),
      script: scriptOf(
        String.raw`[\w.-]+\.js`,
        'write the URL of Umami’s script, such as https://cloud.umami.is/script.js',
      ),
      site: matching(
        /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
        'must be the website ID shown by Umami, such as b59e9c65-ae32-47f1-8400-119fcf4861c4',
      ),
    }),
    z.strictObject({
      tool: z.literal('matomo'),
      script: scriptOf(
        String.raw`(?:matomo|piwik)\.js`,
        'write the URL of matomo.js on your Matomo server, such as https://stats.example.com/matomo.js',
      ).check(
        // Matomo's snippet loads the script from its CDN but counts at another host.
        z.refine(
          (url) => !url.startsWith('https://cdn.matomo.cloud/'),
          'must be the script on your own Matomo host, such as https://acme.matomo.cloud/matomo.js, because the CDN does not count visits',
        ),
      ),
      site: matching(/^[1-9]\d*$/, "must be the site ID shown by Matomo, such as '1'"),
    }),
  ],
  { error: 'must be one of plausible, umami, matomo' },
);
export type Analytics = z.infer<typeof analytics>;

const fileInArticle = matching(
  /^[\w .-]+\.\w+$/,
  'must be the name of a file in article/, with only letters from a to z, digits, spaces, dots, hyphens and _, such as guide.pdf',
);

export const Site = z.strictObject({
  ...texts('title', 'pageTitle', 'description', 'publisher', 'copyright', 'shareText'),
  language: words.check(z.refine(isLanguage, 'must be a language tag, such as en, de or pt-BR')),
  postalAddress: z.optional(plain),
  footerLinks: z.array(link),
  readOn: z.optional(link),
  // Opened once the code is right, instead of the article.
  afterCode: z.optional(page),
  download: z.optional(z.strictObject({ label: words, file: fileInArticle })),
  // Keeps the page out of search engines.
  noindex: z.optional(z.boolean({ error: 'must be true or false, without quotes' })),
  // Without a counter, the page contacts no other host.
  analytics: z.optional(analytics),
  colors: z.optional(colours),
  logo: z.optional(svg),
});
export type Site = z.infer<typeof Site>;

/** The page's own icons (web/ui/icons.tsx); other names come from server/campaign/pictures.ts. */
export const DRAWN_ICONS = [
  'prompt',
  'knowledge',
  'drivers',
  'deliverability',
  'refinement',
  'results',
] as const;
export type DrawnIcon = (typeof DRAWN_ICONS)[number];

/**
 * Optional sections between the hero and the closing card, in default order. A video right after `howItWorks` becomes part
 * of it.
 */
export const SECTIONS = [
  'logos',
  'benefits',
  'howItWorks',
  'video',
  'problems',
  'solution',
  'testimonials',
  'questions',
] as const;
export type SectionName = (typeof SECTIONS)[number];

/** An SVG with a viewBox, or a picture whose name contains its size. */
const logo = words.check(
  z.regex(
    /^[\w.-]+(?:\.svg|-[1-9]\d{0,3}x[1-9]\d{0,3}\.(?:avif|webp|png))$/,
    "must be the name of a file in media/, with only letters from a to z, digits, dots, hyphens and _: an SVG, such as 'acme.svg', or a picture with its width and height in its name, such as 'acme-320x80.webp'",
  ),
);

/** Two lines of an e-mail that fails, the second struck out. Braces are shown as written, because such e-mails contain them. */
const exhibit = z.strictObject(sameFor(anyWords, 'line', 'struck'));

/** An example e-mail. Each paragraph can name the part of the method that it comes from. */
const letter = z.strictObject({
  title: words,
  paragraphs: items(z.strictObject({ part: z.optional(words), text: words })),
  note: z.optional(words),
  reply: z.optional(words),
});

/** A card or point of a list. */
const titled = z.strictObject(texts('title', 'description'));

export const Landing = z.strictObject({
  hero: z.strictObject({
    ...texts('badge', 'headline', 'subtext', 'button'),
    trustLines: items(words),
    imageAlt: z.optional(words),
  }),
  figures: z.optional(items(z.strictObject({ from: z.optional(words), ...texts('value', 'label') }))),
  // Defaults to the order of SECTIONS.
  sections: z.optional(items(z.enum(SECTIONS))),
  logos: z.optional(
    z.strictObject({
      title: words,
      companies: items(z.strictObject({ name: words, logo: z.optional(logo) })),
    }),
  ),
  benefits: z.optional(
    z.strictObject({
      ...texts('title', 'intro'),
      cards: items(z.strictObject({ ...texts('icon', 'title', 'description'), note: z.optional(words) })),
    }),
  ),
  inside: z.optional(z.strictObject({ title: words, pictures: items(words) })),
  howItWorks: z.optional(z.strictObject({ ...texts('title', 'intro'), points: items(titled) })),
  video: z.optional(
    z.strictObject({
      ...texts('label', 'playLabel', 'caption', 'notPlayable'),
      button: z.optional(words),
    }),
  ),
  problems: z.optional(
    z.strictObject({
      ...texts('title', 'intro'),
      cards: items(z.strictObject({ ...titled.shape, exhibit: z.optional(exhibit) })),
    }),
  ),
  solution: z.optional(
    z.strictObject({
      ...texts('title', 'text', 'proof'),
      qualities: items(titled),
      letter: z.optional(letter),
    }),
  ),
  testimonials: z.optional(
    z.strictObject({
      title: words,
      cards: items(
        z.strictObject({
          ...texts('name', 'role', 'quote', 'metric'),
          // Without a picture, initials are shown.
          image: z.optional(words),
          logo: z.optional(svg),
        }),
      ),
    }),
  ),
  questions: z.optional(
    z.strictObject({
      title: words,
      intro: z.optional(words),
      answers: items(z.strictObject(texts('question', 'answer'))),
    }),
  ),
  bar: z.optional(z.strictObject(texts('text', 'button'))),
  closing: z.strictObject(texts('title', 'text', 'button', 'note')),
  promise: z.optional(
    z.strictObject({
      ...texts('title', 'line'),
      points: items(words),
      imageAlt: z.optional(words),
    }),
  ),
  withoutScript: words,
});
export type Landing = z.infer<typeof Landing>;

export const sectionsOf = (landing: Landing): SectionName[] =>
  (landing.sections ?? SECTIONS).filter((name) => landing[name] !== undefined);

/** The titles of the page's first list, which the guide's cover shows as its chapters. */
export const chaptersOf = ({ benefits, howItWorks, solution }: Landing): string[] =>
  (benefits?.cards ?? howItWorks?.points ?? solution?.qualities ?? []).map(({ title }) => title);

/**
 * Returns true if the video is part of `howItWorks`.
 * @param sections in the page's order
 */
export const isVideoInHowItWorks = (sections: readonly SectionName[]): boolean =>
  sections[sections.indexOf('video') - 1] === 'howItWorks';

// Accepts {year} here only to refuse it below with a better message.
const consentSentence = withPlaceholders(textWithout(MARKUP), ['year']).check(
  z.refine(
    (text) => !text.includes('{year}'),
    'must not contain {year}, because each receipt stores this text exactly as written',
  ),
  reporting(function* (text: string) {
    for (const [, label = '', about = ''] of text.matchAll(LINK)) {
      const mistake = /^https?:/i.test(about) ? linkMistake(about, null) : 'must begin with https://';
      if (mistake !== null) yield { about, message: `${about} ${mistake}` };
      if (about.includes('('))
        yield { about, message: `${about} must not contain parentheses. Write %28 and %29 instead` };
      if (label.trim() === '') yield { about, message: 'contains a link without words' };
    }
    const message = 'contains an incomplete link. Write [privacy policy](https://example.com/privacy)';
    const [about] = /\](?:\(|\s+\((?=https?:|\/))|\)\[(?=https?:)/.exec(text.replace(LINK, '')) ?? [];
    if (about !== undefined) yield { about, message };
  }),
);

export const Consent = z
  .strictObject({
    text: consentSentence,
    // The sentence next to a second, optional checkbox.
    newsConsent: z.optional(consentSentence),
    // A form with an earlier wording is refused instead of accepted.
    refuseEarlier: z.optional(z.boolean({ error: 'must be true or false, without quotes' })),
  })
  .check(
    z.refine(({ text, newsConsent }) => newsConsent !== text, {
      error: 'must differ from text, because each box needs its own sentence',
      path: ['newsConsent'],
    }),
  );
export type Consent = z.infer<typeof Consent>;

/** For toasts and mail subjects. */
const oneLine = z.refine<string>(isSingleLine, 'must be one line');

const lineOfWords = plain.check(oneLine);

/** Fields of the form's request and columns of exports, which own-answers.test.ts compares with this list. */
const RESERVED_IDS: ReadonlySet<string> = new Set(
  `name company email consent website answers id status first_name last_name first_verified_at last_verified_at consent_given_at
   consent_version consent_text news_consent news_consent_given_at news_consent_version news_consent_text source flags state
   state_since first_source unsubscribe_url first_read_at variant earlier_answers ${TOUCH_NAMES.join(' ')}`.split(
    /\s+/,
  ),
);

const propertyIn = (tool: ToolName) => {
  const { columns, news } = TOOLS[tool];
  const taken = new Set(Object.keys({ ...columns, ...news }).map((heading) => heading.toLowerCase()));
  return z.optional(
    lineOfWords.check(
      z.refine(
        (heading) => !taken.has(heading.toLowerCase()),
        'is already a column of this file. Choose another property',
      ),
    ),
  );
};
const properties = Object.fromEntries(TOOL_NAMES.map((tool) => [tool, propertyIn(tool)])) as Record<
  ToolName,
  ReturnType<typeof propertyIn>
>;

const AUTOCOMPLETE = [
  'off',
  'tel',
  'tel-national',
  'organization-title',
  'url',
  'nickname',
  'honorific-prefix',
  'language',
  'given-name',
  'family-name',
  'street-address',
  'postal-code',
  'address-level1',
  'address-level2',
  'country-name',
  'country',
  'bday',
] as const;

export const FIELD_KINDS = ['text', 'telephone', 'number', 'url', 'choice', 'choices', 'long text'] as const;
/** All answers together, so that they fit into a request of 16 kB. */
const ANSWERS_MAX_LENGTH = 3000;

const option = lineOfWords.check(
  z.maxLength(100, 'must have at most 100 characters'),
  z.refine((text) => !text.includes(';'), 'must not contain a semicolon, which separates several answers'),
);

const ownField = z
  .strictObject({
    id: z.string({ error: 'must be text' }).check(
      z.regex(
        /^[a-z][a-z0-9_]{0,39}$/,
        'must begin with a lower-case letter and contain only lower-case letters, digits and _, such as job_title',
      ),
      z.refine(
        (id) => !RESERVED_IDS.has(id) && !isImportHeading(id),
        'is a reserved name. Choose another name',
      ),
    ),
    label: lineOfWords.check(
      z.maxLength(100, 'must have at most 100 characters'),
      z.refine(
        (label) => !isImportHeading(label),
        'is the heading of another column in imports. Choose another label',
      ),
    ),
    kind: z.enum(FIELD_KINDS),
    required: z.optional(z.boolean({ error: 'must be true or false' })),
    hint: z.optional(words),
    maxLength: z.optional(
      z
        .int({ error: 'must be a number of characters, such as 80' })
        .check(z.minimum(1, 'must be at least 1'), z.maximum(2000, 'must be at most 2000')),
    ),
    autocomplete: z.optional(z.enum(AUTOCOMPLETE)),
    options: z.optional(z.array(option).check(z.minLength(2, 'must have at least two entries'))),
    properties: z.optional(z.strictObject(properties)),
  })
  .check(
    reporting(function* ({ kind, options, maxLength, autocomplete }) {
      const isChoice = kind === 'choice' || kind === 'choices';
      const notApplicable = 'does not apply to this kind. Remove the entry';
      if (isChoice && options === undefined)
        yield { entry: ['kind'], message: 'needs options. Add a list of answers to choose from' };
      if (!isChoice && options !== undefined)
        yield {
          entry: ['options'],
          message: 'only apply to the kinds choice and choices. Remove the options, or change the kind',
        };
      if (isChoice && maxLength !== undefined) yield { entry: ['maxLength'], message: notApplicable };
      if (kind === 'choices' && autocomplete !== undefined)
        yield { entry: ['autocomplete'], message: notApplicable };
      for (const [at, text] of options?.entries() ?? [])
        if (options?.indexOf(text) !== at)
          yield { entry: ['options', at], message: 'is in the list twice. Remove one of the two' };
    }),
  );
export type OwnField = z.infer<typeof ownField>;

const ownFields = z.array(ownField).check(
  reporting(function* (fields: readonly OwnField[]) {
    const firstWith = (key: (field: OwnField) => string | undefined, at: number) =>
      fields.findIndex((field) => key(field) !== undefined && key(field) === key(fields[at]!));
    let length = 0;
    for (const [at, field] of fields.entries()) {
      for (const entry of ['id', 'label'] as const)
        if (firstWith((other) => other[entry].toLowerCase(), at) < at)
          yield {
            entry: [at, entry],
            message: `${field[entry]} is already used by another field. Choose another ${entry}`,
          };
      for (const tool of TOOL_NAMES) {
        const property = field.properties?.[tool];
        if (property !== undefined && firstWith((other) => other.properties?.[tool], at) < at)
          yield {
            entry: [at, 'properties', tool],
            message: `${property} is already used for another field. Choose another property`,
          };
      }
      const before = length;
      length += longestAnswer(field);
      if (before <= ANSWERS_MAX_LENGTH && length > ANSWERS_MAX_LENGTH)
        yield {
          entry: [at],
          message: `the answers up to this field may have ${length} characters, but a form accepts only ${ANSWERS_MAX_LENGTH}. Set a smaller maxLength, or ask fewer questions`,
        };
    }
  }),
);

export const Form = z.strictObject({
  fields: z.optional(ownFields),
  // Required in languages other than English and German, which have defaults in server/campaign/own-form.ts.
  messages: z.optional(
    z.partial(
      z.strictObject({
        ...plainTexts('choose', 'required', 'notPlain', 'telephone', 'number', 'url', 'choice'),
        tooLong: wordsWithAll('maximum'),
        changed: plain.check(oneLine),
      }),
    ),
  ),
});

export type FormMessages = {
  readonly [Name in keyof NonNullable<z.infer<typeof Form>['messages']>]-?: string;
};

export type OwnForm = { readonly fields: readonly OwnField[]; readonly messages: FormMessages };

const bodyOfCodeEmail = wordsWith('code', 'reference', 'lifetime', 'title').check(
  z.refine(
    (text) => !text.includes('{code}'),
    'must not contain {code}, because the body already shows the code',
  ),
);

export const CodeEmail = z.strictObject({
  subject: wordsWith('code', 'reference', 'lifetime', 'title').check(
    oneLine,
    z.refine((text) => text.includes('{code}'), 'must contain {code}, so that the inbox shows the code'),
  ),
  ...sameFor(bodyOfCodeEmail, 'preview', 'instruction', 'validity', 'notYou'),
});
export type CodeEmail = z.infer<typeof CodeEmail>;

const bodyOfGuideEmail = wordsWith('title', 'host', 'days');

export const GuideEmail = z.strictObject({
  subject: bodyOfGuideEmail.check(oneLine),
  greeting: bodyOfGuideEmail,
  inside: z.optional(bodyOfGuideEmail),
  link: bodyOfGuideEmail.check(oneLine),
  linkNote: bodyOfGuideEmail,
  attached: bodyOfGuideEmail,
  /** The file in article/ that GUIDE_EMAIL=attachment sends. */
  attachment: z.optional(fileInArticle),
  why: bodyOfGuideEmail,
  unsubscribe: bodyOfGuideEmail.check(oneLine),
});
export type GuideEmail = z.infer<typeof GuideEmail>;

export const BreakerEmail = z.strictObject({
  subject: wordsWith('title', 'reason').check(oneLine),
  text: wordsWith('title', 'reason'),
  reasons: z.strictObject(plainTexts('tooManyCodes', 'tooFewEntered')),
});
export type BreakerEmail = z.infer<typeof BreakerEmail>;

/** Statuses with Retry-After (RFC 9110, section 10.2.3; RFC 6585, section 4). */
const WITH_WAIT: ReadonlySet<number> = new Set([429, 503]);

type ErrorSentences = Readonly<Record<ApiErrorCode, typeof anyWords>>;

export const Errors = z.strictObject(
  Object.fromEntries(
    Object.entries(API_ERRORS).map(([code, status]) => [
      code,
      wordsWith(...(WITH_WAIT.has(status) ? ['when'] : [])).check(oneLine),
    ]),
  ) as ErrorSentences,
);
export type Errors = z.infer<typeof Errors>;

/** Accepts one text, or one per plural form (pluralForm in words.ts). */
const countedWords = (name: string, ...others: readonly string[]) => {
  const counted = wordsWith(name, ...others).check(containing(name));
  const form = z.optional(wordsWith(name, ...others));
  const forms = z.strictObject({ ...sameFor(form, 'zero', 'one', 'two', 'few', 'many'), other: counted });
  return z.union([counted, forms], {
    error: 'must be text, or one text for each plural form, including "other"',
  });
};

const ofNewLead = wordsWith('title', 'host');
const newLeadSteps = z.strictObject({
  ...plainTexts('seen', 'opened', 'asked', 'mailed', 'entered'),
  ...plainTexts('quarter', 'half', 'threeQuarters', 'whole'),
});

/** One entry per value of NEW_LEAD_EMAIL. The weekly mail takes its other words from `day`. */
export const NewLeadEmail = z.strictObject({
  each: z.strictObject({
    subject: wordsWith('title', 'host', 'name', 'company').check(oneLine),
    text: ofNewLead,
    desk: ofNewLead.check(oneLine),
  }),
  day: z.strictObject({
    subject: countedWords('count', 'day', 'title', 'host'),
    title: countedWords('count'),
    text: wordsWith('day', 'before', 'title', 'host'),
    share: wordsWith('share', 'views'),
    ...plainTexts('funnel', 'visitors', 'fromForm', 'sources', 'leads'),
    note: wordsWith('zone'),
    steps: newLeadSteps,
  }),
  /** Absent from campaigns written before the weekly mail existed. */
  week: z.optional(
    z.strictObject({
      subject: countedWords('count', 'week', 'title', 'host'),
      text: wordsWith('week', 'before', 'title', 'host'),
    }),
  ),
  /** The optional words are absent from campaigns written before they existed. */
  labels: z.strictObject({
    ...plainTexts('source', 'verified', 'remarks'),
    campaign: z.optional(plain),
  }),
  sources: z.strictObject(plainTexts('direct', 'others', 'erased')),
  remarks: z.strictObject({ ...plainTexts('freeMail', 'disposable'), news: z.optional(plain) }),
  more: countedWords('count'),
  why: z.strictObject(sameFor(ofNewLead, 'each', 'day', 'week')),
});
export type NewLeadEmail = z.infer<typeof NewLeadEmail>;

const toast = z.strictObject(plainTexts('title', 'description'));
const failure = z.strictObject(plainTexts('title', 'description', 'timedOut'));
const pageTitle = wordsWithAll('title');

export const Interface = z.strictObject({
  header: z.strictObject(plainTexts('toggleTheme', 'toggleThemeTip')),
  steps: z.optional(z.strictObject(plainTexts('label', 'form', 'code', 'guide'))),
  form: z.strictObject({
    pageTitle,
    ...plainTexts('title', 'intro', 'name', 'company', 'email'),
    suggestion: wordsWithAll('address'),
    strayCharacter: wordsWithAll('character'),
    ...plainTexts('send', 'sending', 'leaveEmpty'),
  }),
  validation: z.strictObject({
    nameTooShort: wordsWithAll('minimum'),
    nameTooLong: wordsWithAll('maximum'),
    companyTooShort: wordsWithAll('minimum'),
    companyTooLong: wordsWithAll('maximum'),
    ...plainTexts('nameNotOneLine', 'companyNotOneLine', 'email', 'consent'),
  }),
  otherInput: z.strictObject({
    ...plainTexts('required', 'invalid'),
    checkField: wordsWithAll('message', 'field'),
  }),
  verification: z.strictObject({
    pageTitle,
    ...plainTexts('title', 'wrongAddress', 'verifying', 'notChecked', 'tryAgain', 'restoring', 'notRestored'),
    sentTo: wordsWithAll('digits', 'email'),
    code: wordsWithAll('digits'),
    digit: wordsWithAll('number', 'digits'),
    reference: wordsWithAll('reference'),
    wrongCode: z.optional(wordsWithAll('reference')),
    resendIn: countedWords('seconds'),
    canResendIn: countedWords('seconds'),
    ...plainTexts('resend', 'canResendNow', 'newTab', 'correctAddress'),
    openMail: wordsWithAll('provider'),
    mailRefused: wordsWith('domain'),
    mailDelayed: wordsWith('domain'),
    mailSentLate: wordsWith('domain'),
    whileYouWait: z.optional(plain),
    nothingCame: z.strictObject({ title: plain, advice: items(plain) }),
  }),
  content: z.strictObject({
    pageTitle,
    ...plainTexts('back', 'backTip', 'share', 'shareTip', 'readingProgress'),
    readingTime: z.optional(countedWords('minutes')),
    prompt: z.optional(z.strictObject({ ...plainTexts('label', 'copy'), copied: toast, notCopied: toast })),
    ...plainTexts('opening', 'accessEnded', 'cookiesRefused', 'getNewCode', 'notLoaded', 'tryAgain'),
    endTitle: z.optional(plain),
    endText: z.optional(plain),
    endButton: z.optional(plain),
  }),
  article: z.optional(
    z.strictObject({
      contents: z.optional(plain),
      continueAt: z.optional(wordsWithAll('section')),
      notes: z.optional(z.strictObject(plainTexts('title', 'back'))),
      chapters: z.optional(
        z.strictObject({
          ...plainTexts('title', 'read', 'next'),
          open: z.int({ error: 'must be a number, such as 1' }).check(z.gte(0, 'must not be negative')),
        }),
      ),
    }),
  ),
  toasts: z.strictObject({
    region: wordsWithAll('hotkey'),
    announced: words,
    close: plain,
    codeSent: toast,
    verified: toast,
    submissionFailed: failure,
    verificationFailed: failure,
    linkCopied: toast,
    shareFailed: toast,
  }),
  unsubscribe: z.strictObject({
    pageTitle,
    ...plainTexts('title', 'text', 'button', 'doneTitle', 'doneText', 'unknownTitle', 'unknownText', 'home'),
  }),
  guideLink: z.strictObject({ pageTitle, ...plainTexts('title', 'text', 'home') }),
  notFound: z.strictObject({ pageTitle, ...plainTexts('title', 'text', 'link') }),
  nextStep: z.strictObject(plainTexts('loading', 'notLoaded', 'tryAgain')),
  loadFailure: z.strictObject({ text: wordsWithAll('link'), link: plain }),
});
export type Interface = z.infer<typeof Interface>;
