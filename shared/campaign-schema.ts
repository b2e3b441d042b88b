// The shape of every file of words in campaign/. A file that does not fit stops the build and the start with a
// sentence that names the file and the entry, so that an operator's slip never reaches a visitor.
import * as z from 'zod/mini';

const words = z.string({ error: 'must be a text' }).check(z.trim(), z.minLength(1, 'must not be empty'));
const link = z.object({ label: words, href: words });
const items = <Item extends z.core.SomeType>(item: Item, length: number) =>
  z.array(item).check(z.length(length, `must have ${length} entries`));

/** campaign/site.yaml */
export const Site = z.object({
  title: words,
  pageTitle: words,
  description: words,
  language: words,
  publisher: words,
  copyright: words,
  footerLinks: z.array(link),
  shareText: words,
});
export type Site = z.infer<typeof Site>;

const BENEFIT_ICONS = ['prompt', 'knowledge', 'drivers', 'deliverability', 'refinement', 'results'] as const;
export type BenefitIcon = (typeof BENEFIT_ICONS)[number];

/** campaign/landing.yaml */
export const Landing = z.object({
  hero: z.object({
    badge: words,
    headline: words,
    subtext: words,
    button: words,
    trustLines: items(words, 2),
    imageAlt: words,
  }),
  benefits: z.object({
    title: words,
    intro: words,
    cards: items(z.object({ icon: z.enum(BENEFIT_ICONS), title: words, description: words }), 6),
  }),
  howItWorks: z.object({
    title: words,
    intro: words,
    points: items(z.object({ title: words, description: words }), 3),
  }),
  video: z.object({ label: words, playLabel: words, caption: words }),
  problems: z.object({
    title: words,
    intro: words,
    cards: items(z.object({ title: words, description: words }), 3),
  }),
  solution: z.object({
    title: words,
    text: words,
    qualities: items(z.object({ title: words, description: words }), 3),
    proof: words,
  }),
  testimonials: z.object({
    title: words,
    cards: items(z.object({ name: words, role: words, image: words, quote: words, metric: words }), 2),
  }),
  closing: z.object({ title: words, text: words, button: words, note: words }),
  withoutScript: words,
});
export type Landing = z.infer<typeof Landing>;

/** campaign/consent.yaml */
export const Consent = z.object({
  text: words.check(
    z.refine(
      (text) => !text.includes('{year}'),
      'must not contain {year}: each receipt keeps the sentence as it is written here',
    ),
  ),
});
export type Consent = z.infer<typeof Consent>;

/** campaign/emails/code.yaml */
export const CodeEmail = z.object({
  subject: words,
  greeting: words,
  instruction: words,
  validity: words,
  notYou: words,
  signature: words,
});
export type CodeEmail = z.infer<typeof CodeEmail>;

/**
 * A text in which the page fills in something.
 * @param names of the places: each must be there, and no other
 */
const wordsWith = (...names: string[]) => words.check(z.superRefine(placesOf(names, names)));

/** What complains about the places in {braces} of a text. */
const placesOf =
  (known: readonly string[], needed: readonly string[]) =>
  (text: string, context: z.core.$RefinementCtx): void => {
    const complain = (message: string) => context.addIssue({ code: 'custom', message });
    for (const name of needed) if (!text.includes(`{${name}}`)) complain(`must contain {${name}}`);
    const advice = known.length > 0 ? `use {${known.join('}, {')}}` : 'nothing is filled in here';
    for (const [place, name = ''] of text.matchAll(/\{(\w+)\}/g))
      if (!known.includes(name)) complain(`there is no ${place}; ${advice}`);
  };

/** Entries that belong together: these, and no others. */
const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `there is no entry ${issue.keys.join(', ')}; the entries are ${Object.keys(shape).join(', ')}`
        : `must have the entries ${Object.keys(shape).join(', ')}`,
  });

/** A text that counts something: one, or one for each plural form (words.ts chooses). */
const countedWords = (name: string) => {
  const form = z.optional(words.check(z.superRefine(placesOf([name], []))));
  const forms = section({ zero: form, one: form, two: form, few: form, many: form, other: wordsWith(name) });
  return z.union([wordsWith(name), forms], {
    error: 'must be a text, or one for each plural form, "other" among them',
  });
};

const plain = wordsWith();
const toast = section({ title: plain, description: plain });

/** campaign/interface.yaml */
export const Interface = section({
  header: section({ toggleTheme: plain, toggleThemeTip: plain }),
  film: section({ captions: plain, captionsLanguage: plain }),
  form: section({
    title: plain,
    intro: plain,
    name: plain,
    company: plain,
    email: plain,
    suggestion: wordsWith('address'),
    send: plain,
    sending: plain,
    leaveEmpty: plain,
  }),
  validation: section({
    nameTooShort: wordsWith('minimum'),
    nameTooLong: wordsWith('maximum'),
    nameNotOneLine: plain,
    companyTooShort: wordsWith('minimum'),
    companyTooLong: wordsWith('maximum'),
    companyNotOneLine: plain,
    email: plain,
    consent: plain,
  }),
  otherInput: section({
    required: plain,
    invalid: plain,
    checkField: wordsWith('message', 'field'),
  }),
  verification: section({
    title: plain,
    sentTo: wordsWith('digits', 'email'),
    wrongAddress: plain,
    code: wordsWith('digits'),
    digit: wordsWith('number', 'digits'),
    verifying: plain,
    reference: wordsWith('reference'),
    resendIn: countedWords('seconds'),
    resend: plain,
    canResendIn: countedWords('seconds'),
    canResendNow: plain,
    lookInSpam: plain,
  }),
  content: section({
    back: plain,
    backTip: plain,
    share: plain,
    shareTip: plain,
    readingProgress: plain,
    opening: plain,
    accessEnded: plain,
    getNewCode: plain,
    notLoaded: plain,
    tryAgain: plain,
  }),
  toasts: section({
    region: wordsWith('hotkey'),
    close: plain,
    codeSent: toast,
    verified: toast,
    submissionFailed: toast,
    verificationFailed: toast,
    linkCopied: toast,
    shareFailed: toast,
  }),
  notFound: section({ title: plain, text: plain, link: plain, pageTitle: wordsWith('title') }),
  loadFailure: section({ text: wordsWith('link'), link: plain }),
});
export type Interface = z.infer<typeof Interface>;

/**
 * Every complaint about a content file, one sentence each.
 * @param file the file as the operator knows it, such as `campaign/site.yaml`
 */
export function campaignComplaints(file: string, issues: readonly z.core.$ZodIssue[]): string[] {
  return issues.map((issue) => `${file}: ${issue.path.join('.') || 'the file'}: ${issue.message}.`);
}
