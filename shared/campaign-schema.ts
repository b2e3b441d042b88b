// The shape of every file of words in campaign/. A file that does not fit stops the build and the start with a
// sentence that names the file, the line and the entry, so that an operator's slip never reaches a visitor.
import * as z from 'zod/mini';

import { colourComplaints, type Colours } from '#shared/colours.ts';
import { API_ERRORS, type ApiErrorCode } from '#shared/errors.ts';
import { linkComplaint } from '#shared/links.ts';
import { isSingleLine } from '#shared/single-line.ts';

/** What only HTML or Markdown would understand. Wherever these words are shown, it would be shown as it stands. */
const MARKUP =
  /&(?:[a-z]+\d*|#\d+|#x[\da-f]+);|<\/?(?:a|b|br|div|em|font|h[1-6]|i|img|li|mark|ol|p|script|small|span|strong|sub|sup|u|ul)\b[^>]*>|\*\*[^*\s][^*]*\*\*|\[[^\]]+\]\([^)\s]+\)/gi;

const anyWords = z.string({ error: 'must be a text' }).check(
  z.trim(),
  z.minLength(1, 'must not be empty'),
  z.superRefine((text: string, context) => {
    for (const [about] of text.matchAll(MARKUP))
      context.addIssue({
        code: 'custom',
        params: { about },
        message: `${about} would be shown as it stands here; ${about.startsWith('&') ? 'type the character itself' : 'use plain words'}`,
      });
  }),
);

/** Words in which `{name}` stands for something. Another name is a slip that visitors would read. */
const wordsWith = (...names: readonly string[]) =>
  anyWords.check((payload) => {
    for (const [about, inner = ''] of payload.value.matchAll(/\{([^{}]*)(?:\}|$)/g)) {
      const written = inner.trim();
      if (names.includes(inner) && about.endsWith('}')) continue;
      const meant = names.find((name) =>
        about.endsWith('}') ? name.toLowerCase() === written.toLowerCase() : written.startsWith(name),
      );
      // A text may hold a brace that is none of ours.
      if (meant === undefined && !/^[\w-]+$/.test(written)) continue;
      const known = names.length === 0 ? 'nothing is filled in here' : `use one of {${names.join('}, {')}}`;
      payload.issues.push({
        code: 'custom',
        input: payload.value,
        params: { about },
        message:
          meant === undefined ? `there is no ${about}; ${known}` : `write {${meant}} in place of ${about}`,
        continue: true,
      });
    }
  });

/** Of the page itself, where the year is filled in. */
const words = wordsWith('year');

const href = words.check(
  z.superRefine((text: string, context) => {
    const complaint = linkComplaint(text);
    if (complaint !== null) context.addIssue({ code: 'custom', message: complaint });
  }),
);
const link = z.strictObject({ label: words, href });
/** How many is the folder's to choose. */
const items = <Item extends z.core.SomeType>(item: Item) =>
  z.array(item).check(z.minLength(1, 'must have at least one entry'));

const colour = z
  .string({ error: "must be a colour such as '#0e5a43', in quotes" })
  .check(z.regex(/^#[\da-f]{6}$/i, "must be a colour such as '#0e5a43', in quotes"));
const colourPair = z.strictObject({ light: colour, dark: colour });
const colours = z.strictObject({ accent: colourPair, plate: colourPair }).check(
  z.superRefine((pairs: Colours, context) => {
    for (const { entry, complaint } of colourComplaints(pairs))
      context.addIssue({ code: 'custom', path: entry, message: complaint });
  }),
);
/** A file in media/. */
const svg = words.check(
  z.regex(/^[\w.-]+\.svg$/, "must be the name of a file in media/ that ends with .svg, such as 'logo.svg'"),
);

/** Whether browsers and Intl take it (BCP 47). */
function isLanguage(tag: string): boolean {
  try {
    return Intl.DisplayNames.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

/**
 * The address of a visit counter's script. Its host is the only other one that the page asks for anything; it goes into the
 * Content-Security-Policy as it is, so it has no sign that would begin another line there.
 * @param file a pattern
 */
const scriptOf = (file: string, cure: string) => {
  const error = `must be an address: ${cure}`;
  return z
    .string({ error })
    .check(z.regex(new RegExp(String.raw`^https://[\w.-]+(?::\d+)?/(?:[\w./~-]+/)?${file}$`), { error }));
};
const siteId = (form: RegExp, error: string) => z.string({ error }).check(z.regex(form, error));

/** The visit counters that set no cookie. Each names the file of its script, so that a slip is found before a visitor finds it. */
const analytics = z.discriminatedUnion(
  'tool',
  [
    z.strictObject({
      tool: z.literal('plausible'),
      script: scriptOf(
        String.raw`pa-[\w-]+\.js`,
        'https://, and a file such as pa-XXXX.js, as Plausible shows it under Site installation',
      ),
    }),
    z.strictObject({
      tool: z.literal('umami'),
      script: scriptOf(
        String.raw`[\w.-]+\.js`,
        'https:// and the file of the script, as in https://cloud.umami.is/script.js',
      ),
      site: siteId(
        /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
        'must be the Website ID that Umami shows, such as b59e9c65-ae32-47f1-8400-119fcf4861c4',
      ),
    }),
    z.strictObject({
      tool: z.literal('matomo'),
      script: scriptOf(
        String.raw`(?:matomo|piwik)\.js`,
        'https:// and the file matomo.js of your Matomo, as in https://stats.example.com/matomo.js',
      ),
      site: siteId(/^[1-9]\d*$/, "must be the number that Matomo gave to the site, such as '1'"),
    }),
  ],
  { error: 'must be one of plausible, umami, matomo' },
);
export type Analytics = z.infer<typeof analytics>;

/** A file that lies in article/, which no address of the page leads to. */
const fileInArticle = z
  .string({ error: 'must be the name of a file in article/' })
  .check(z.regex(/^[\w .-]+\.\w+$/, 'must be the name of a file in article/'));

/** campaign/site.yaml */
export const Site = z.strictObject({
  title: words,
  pageTitle: words,
  description: words,
  language: words.check(z.refine(isLanguage, 'must be the tag of a language, such as en, de or pt-BR')),
  publisher: words,
  copyright: words,
  // Where the publisher can be written to. Without it no mail shows one.
  postalAddress: z.optional(wordsWith()),
  footerLinks: z.array(link),
  shareText: words,
  readOn: z.optional(link),
  // The guide as a file, for a button under the article. Without it there is no such button.
  download: z.optional(z.strictObject({ label: words, file: fileInArticle })),
  // Keeps the page out of search engines until the line is taken out.
  noindex: z.optional(z.boolean({ error: 'must be true or false, without quotes' })),
  // Without it the page asks no other host for anything.
  analytics: z.optional(analytics),
  colors: z.optional(colours),
  logo: z.optional(svg),
});
export type Site = z.infer<typeof Site>;

const BENEFIT_ICONS = ['prompt', 'knowledge', 'drivers', 'deliverability', 'refinement', 'results'] as const;
export type BenefitIcon = (typeof BENEFIT_ICONS)[number];

/** campaign/landing.yaml */
export const Landing = z.strictObject({
  hero: z.strictObject({
    badge: words,
    headline: words,
    subtext: words,
    button: words,
    trustLines: items(words),
    // Without it the guide's cover is drawn there (web/guide/guide-cover.tsx).
    imageAlt: z.optional(words),
  }),
  // Without them the hero ends with its lines of trust.
  figures: z.optional(items(z.strictObject({ from: z.optional(words), value: words, label: words }))),
  benefits: z.strictObject({
    title: words,
    intro: words,
    cards: items(
      z.strictObject({
        icon: z.enum(BENEFIT_ICONS),
        title: words,
        description: words,
        note: z.optional(words),
      }),
    ),
  }),
  // Without it there are no pictures of pages.
  inside: z.optional(z.strictObject({ title: words, pictures: items(words) })),
  howItWorks: z.strictObject({
    title: words,
    intro: words,
    points: items(z.strictObject({ title: words, description: words })),
  }),
  // Without it there is no film.
  video: z.optional(
    z.strictObject({
      label: words,
      playLabel: words,
      caption: words,
      notPlayable: words,
      // Without it no button stands over the film when it has ended.
      button: z.optional(words),
    }),
  ),
  problems: z.strictObject({
    title: words,
    intro: words,
    cards: items(z.strictObject({ title: words, description: words })),
  }),
  solution: z.strictObject({
    title: words,
    text: words,
    qualities: items(z.strictObject({ title: words, description: words })),
    proof: words,
  }),
  testimonials: z.strictObject({
    title: words,
    // Without a picture, a person's initials stand.
    cards: items(
      z.strictObject({
        name: words,
        role: words,
        image: z.optional(words),
        logo: z.optional(svg),
        quote: words,
        metric: words,
      }),
    ),
  }),
  // Without it no bar follows the visitor down the page.
  bar: z.optional(z.strictObject({ text: words, button: words })),
  closing: z.strictObject({ title: words, text: words, button: words, note: words }),
  // Without it the form stands alone.
  promise: z.optional(
    z.strictObject({
      title: words,
      points: items(words),
      line: words,
      // The same.
      imageAlt: z.optional(words),
    }),
  ),
  withoutScript: words,
});
export type Landing = z.infer<typeof Landing>;

/** campaign/consent.yaml */
export const Consent = z.strictObject({
  text: words.check(
    z.refine(
      (text) => !text.includes('{year}'),
      'must not contain {year}: each receipt keeps the sentence as it is written here',
    ),
  ),
});
export type Consent = z.infer<typeof Consent>;

/** What a toast or the subject of a mail shows. */
const oneLine = z.refine<string>(isSingleLine, 'must be one line');

const bodyOfCodeEmail = wordsWith('code', 'reference', 'lifetime', 'title').check(
  z.refine((text) => !text.includes('{code}'), 'must not contain {code}; the body shows it once already'),
);

/** campaign/emails/code.yaml */
export const CodeEmail = z.strictObject({
  subject: wordsWith('code', 'reference', 'lifetime', 'title').check(
    oneLine,
    z.refine((text) => text.includes('{code}'), 'must contain {code}, so that the code shows in the inbox'),
  ),
  greeting: bodyOfCodeEmail,
  instruction: bodyOfCodeEmail,
  validity: bodyOfCodeEmail,
  notYou: bodyOfCodeEmail,
  signature: bodyOfCodeEmail,
});
export type CodeEmail = z.infer<typeof CodeEmail>;

const bodyOfGuideEmail = wordsWith('title', 'host', 'days');

/** campaign/emails/guide.yaml */
export const GuideEmail = z.strictObject({
  subject: bodyOfGuideEmail.check(oneLine),
  greeting: bodyOfGuideEmail,
  // What the guide holds. Without it the mail does not say.
  inside: z.optional(bodyOfGuideEmail),
  link: bodyOfGuideEmail.check(oneLine),
  linkNote: bodyOfGuideEmail,
  attached: bodyOfGuideEmail,
  /** The file that GUIDE_EMAIL=attachment sends: its name in article/. */
  attachment: z.optional(fileInArticle),
  why: bodyOfGuideEmail,
  unsubscribe: bodyOfGuideEmail.check(oneLine),
  signature: bodyOfGuideEmail,
});
export type GuideEmail = z.infer<typeof GuideEmail>;

/** campaign/emails/breaker.yaml */
export const BreakerEmail = z.strictObject({
  subject: wordsWith('title', 'reason').check(oneLine),
  text: wordsWith('title', 'reason'),
  reasons: z.strictObject({ tooManyCodes: wordsWith(), tooFewEntered: wordsWith() }),
});
export type BreakerEmail = z.infer<typeof BreakerEmail>;

/** The statuses whose answers say when to try again (RFC 9110, section 10.2.3; RFC 6585, section 4). */
const WITH_WAIT: ReadonlySet<number> = new Set([429, 503]);

type ErrorSentences = Readonly<Record<ApiErrorCode, typeof anyWords>>;

/** campaign/errors.yaml: the sentence of each error. */
export const Errors = z.strictObject(
  Object.fromEntries(
    Object.entries(API_ERRORS).map(([code, status]) => [
      code,
      wordsWith(...(WITH_WAIT.has(status) ? ['when'] : [])).check(oneLine),
    ]),
  ) as ErrorSentences,
);
export type Errors = z.infer<typeof Errors>;

/** Words in which each of the names must be filled in, and no other. */
const wordsWithAll = (...names: readonly string[]) =>
  wordsWith(...names).check(
    ...names.map((name) => z.refine<string>((text) => text.includes(`{${name}}`), `must contain {${name}}`)),
  );

/**
 * A text that counts something: one, or one for each plural form (words.ts chooses).
 * @param others what may be filled in as well
 */
const countedWords = (name: string, ...others: readonly string[]) => {
  const counted = wordsWith(name, ...others).check(
    z.refine<string>((text) => text.includes(`{${name}}`), `must contain {${name}}`),
  );
  const form = z.optional(wordsWith(name, ...others));
  const forms = z.strictObject({
    zero: form,
    one: form,
    two: form,
    few: form,
    many: form,
    other: counted,
  });
  return z.union([counted, forms], {
    error: 'must be a text, or one for each plural form, "other" among them',
  });
};

const plain = wordsWith();
const ofNewLead = wordsWith('title', 'host');
const newLeadSteps = z.strictObject({
  seen: plain,
  opened: plain,
  asked: plain,
  mailed: plain,
  entered: plain,
  quarter: plain,
  half: plain,
  threeQuarters: plain,
  whole: plain,
});

/** campaign/emails/new-lead.yaml */
export const NewLeadEmail = z.strictObject({
  each: z.strictObject({
    subject: wordsWith('title', 'host', 'name', 'company').check(oneLine),
    text: ofNewLead,
  }),
  hour: z.strictObject({
    subject: countedWords('count', 'title', 'host'),
    text: wordsWith('title', 'host', 'day', 'from', 'to'),
  }),
  day: z.strictObject({
    subject: countedWords('count', 'day', 'title', 'host'),
    title: countedWords('count'),
    text: wordsWith('day', 'before', 'title', 'host'),
    funnel: plain,
    sources: plain,
    leads: plain,
    note: plain,
    steps: newLeadSteps,
  }),
  labels: z.strictObject({
    name: plain,
    company: plain,
    email: plain,
    source: plain,
    verified: plain,
    remarks: plain,
  }),
  sources: z.strictObject({ direct: plain, others: plain, erased: plain }),
  remarks: z.strictObject({ freeMail: plain, disposable: plain }),
  more: countedWords('count'),
  why: ofNewLead,
});
export type NewLeadEmail = z.infer<typeof NewLeadEmail>;

const toast = z.strictObject({ title: plain, description: plain });
const failure = z.strictObject({ title: plain, description: plain, timedOut: plain });

/** campaign/interface.yaml */
export const Interface = z.strictObject({
  header: z.strictObject({ toggleTheme: plain, toggleThemeTip: plain }),
  // Without it the form and the code screen do not say how far one has come.
  steps: z.optional(z.strictObject({ label: plain, form: plain, code: plain, guide: plain })),
  form: z.strictObject({
    pageTitle: wordsWithAll('title'),
    title: plain,
    intro: plain,
    name: plain,
    company: plain,
    email: plain,
    suggestion: wordsWithAll('address'),
    send: plain,
    sending: plain,
    leaveEmpty: plain,
  }),
  validation: z.strictObject({
    nameTooShort: wordsWithAll('minimum'),
    nameTooLong: wordsWithAll('maximum'),
    nameNotOneLine: plain,
    companyTooShort: wordsWithAll('minimum'),
    companyTooLong: wordsWithAll('maximum'),
    companyNotOneLine: plain,
    email: plain,
    consent: plain,
  }),
  otherInput: z.strictObject({
    required: plain,
    invalid: plain,
    checkField: wordsWithAll('message', 'field'),
  }),
  verification: z.strictObject({
    pageTitle: wordsWithAll('title'),
    title: plain,
    sentTo: wordsWithAll('digits', 'email'),
    wrongAddress: plain,
    code: wordsWithAll('digits'),
    digit: wordsWithAll('number', 'digits'),
    verifying: plain,
    notChecked: plain,
    tryAgain: plain,
    restoring: plain,
    notRestored: plain,
    reference: wordsWithAll('reference'),
    resendIn: countedWords('seconds'),
    resend: plain,
    canResendIn: countedWords('seconds'),
    canResendNow: plain,
    openMail: wordsWithAll('provider'),
    newTab: plain,
    mailRefused: wordsWith('domain'),
    correctAddress: plain,
    mailDelayed: wordsWith('domain'),
    mailSentLate: wordsWith('domain'),
    nothingCame: z.strictObject({ title: plain, advice: items(plain) }),
  }),
  content: z.strictObject({
    pageTitle: wordsWithAll('title'),
    back: plain,
    backTip: plain,
    share: plain,
    shareTip: plain,
    readingProgress: plain,
    // Without it the page does not say how long the article takes.
    readingTime: z.optional(countedWords('minutes')),
    // Without it a prompt stands without a label and without a button.
    prompt: z.optional(z.strictObject({ label: plain, copy: plain, copied: toast, notCopied: toast })),
    opening: plain,
    accessEnded: plain,
    cookiesRefused: plain,
    getNewCode: plain,
    notLoaded: plain,
    tryAgain: plain,
    endTitle: plain,
    endText: plain,
    endButton: plain,
  }),
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
    pageTitle: wordsWithAll('title'),
    title: plain,
    text: plain,
    button: plain,
    doneTitle: plain,
    doneText: plain,
    unknownTitle: plain,
    unknownText: plain,
    home: plain,
  }),
  guideLink: z.strictObject({ pageTitle: wordsWithAll('title'), title: plain, text: plain, home: plain }),
  notFound: z.strictObject({ title: plain, text: plain, link: plain, pageTitle: wordsWithAll('title') }),
  nextStep: z.strictObject({ loading: plain, notLoaded: plain, tryAgain: plain }),
  loadFailure: z.strictObject({ text: wordsWithAll('link'), link: plain }),
});
export type Interface = z.infer<typeof Interface>;
