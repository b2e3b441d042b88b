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
    // Which places the page has is known where its sections are read (server/campaign/campaign.ts).
    const complaint = linkComplaint(text, null);
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
  colors: z.optional(colours),
  logo: z.optional(svg),
});
export type Site = z.infer<typeof Site>;

/** The icons that the page draws itself (web/ui/icons.tsx). Other names are those of a set (server/campaign/icon-set.ts). */
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
 * The sections between the hero and the closing card, in the order in which they stand when the campaign gives none. Each may
 * be left out. A film that comes right after `howItWorks` stands within it.
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

/** A logo that says how wide and how high it is: an SVG by its viewBox, any other picture by its name. */
const logo = words.check(
  z.regex(
    /^[\w.-]+(?:\.svg|-[1-9]\d{0,3}x[1-9]\d{0,3}\.(?:avif|webp|png))$/,
    "must be the name of a file in media/: an SVG, such as 'acme.svg', or a picture with its width and height in its name, such as 'acme-320x80.webp'",
  ),
);

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
  // Without it the sections stand in the order of SECTIONS.
  sections: z.optional(items(z.enum(SECTIONS))),
  logos: z.optional(
    z.strictObject({
      title: words,
      // Without a picture the name stands.
      companies: items(z.strictObject({ name: words, logo: z.optional(logo) })),
    }),
  ),
  benefits: z.optional(
    z.strictObject({
      title: words,
      intro: words,
      cards: items(
        z.strictObject({
          icon: words,
          title: words,
          description: words,
          note: z.optional(words),
        }),
      ),
    }),
  ),
  // Without it there are no pictures of pages.
  inside: z.optional(z.strictObject({ title: words, pictures: items(words) })),
  howItWorks: z.optional(
    z.strictObject({
      title: words,
      intro: words,
      points: items(z.strictObject({ title: words, description: words })),
    }),
  ),
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
  problems: z.optional(
    z.strictObject({
      title: words,
      intro: words,
      cards: items(z.strictObject({ title: words, description: words })),
    }),
  ),
  solution: z.optional(
    z.strictObject({
      title: words,
      text: words,
      qualities: items(z.strictObject({ title: words, description: words })),
      proof: words,
    }),
  ),
  testimonials: z.optional(
    z.strictObject({
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
  ),
  questions: z.optional(
    z.strictObject({
      title: words,
      intro: z.optional(words),
      answers: items(z.strictObject({ question: words, answer: words })),
    }),
  ),
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

/** The sections that a landing page has between the hero and the closing card, in their order. */
export const sectionsOf = (landing: Landing): SectionName[] =>
  (landing.sections ?? SECTIONS).filter((name) => landing[name] !== undefined);

/** The titles of what the guide holds, for its list of contents; none where the campaign lists nothing of that kind. */
export const chaptersOf = ({ benefits, howItWorks, solution }: Landing): string[] =>
  (benefits?.cards ?? howItWorks?.points ?? solution?.qualities ?? []).map(({ title }) => title);

/** Whether the film stands within `howItWorks`, and not in a section for itself. @param sections in their order */
export const filmHasPoints = (sections: readonly SectionName[]): boolean => {
  const at = sections.indexOf('video');
  return at > 0 && sections[at - 1] === 'howItWorks';
};

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
  attachment: z.optional(
    z.string().check(z.regex(/^[\w .-]+\.\w+$/, 'must be the name of a file in article/')),
  ),
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
