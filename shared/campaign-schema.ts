// The shape of every file of words in campaign/. A file that does not fit stops the build and the start with a
// sentence that names the file and the entry, so that an operator's slip never reaches a visitor.
import * as z from 'zod/mini';

import { colourComplaints, type Colours } from '#shared/colours.ts';

const words = z.string({ error: 'must be a text' }).check(z.trim(), z.minLength(1, 'must not be empty'));
const link = z.object({ label: words, href: words });
/** How many is the folder's to choose. */
const items = <Item extends z.core.SomeType>(item: Item) =>
  z.array(item).check(z.minLength(1, 'must have at least one entry'));

const language = words.check(
  z.refine(isLanguage, "must be a language as browsers write it, such as 'en', 'de' or 'pt-BR'"),
);
function isLanguage(tag: string): boolean {
  try {
    return Intl.DisplayNames.supportedLocalesOf(tag).length > 0;
  } catch {
    return false;
  }
}

const colour = z
  .string({ error: "must be a colour such as '#0e5a43', in quotes" })
  .check(z.regex(/^#[\da-f]{6}$/i, "must be a colour such as '#0e5a43', in quotes"));
const colourPair = z.object({ light: colour, dark: colour });
const colours = z.object({ accent: colourPair, plate: colourPair }).check(
  z.superRefine((pairs: Colours, context) => {
    for (const { entry, complaint } of colourComplaints(pairs))
      context.addIssue({ code: 'custom', path: entry, message: complaint });
  }),
);
/** A file in media/. */
const svg = words.check(
  z.regex(/^[\w.-]+\.svg$/, "must be the name of a file in media/ that ends with .svg, such as 'logo.svg'"),
);

/** campaign/site.yaml */
export const Site = z.object({
  title: words,
  pageTitle: words,
  description: words,
  language,
  publisher: words,
  copyright: words,
  footerLinks: z.array(link),
  shareText: words,
  colors: z.optional(colours),
  logo: z.optional(svg),
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
    trustLines: items(words),
    // Without it there is no picture.
    imageAlt: z.optional(words),
  }),
  benefits: z.object({
    title: words,
    intro: words,
    cards: items(z.object({ icon: z.enum(BENEFIT_ICONS), title: words, description: words })),
  }),
  howItWorks: z.object({
    title: words,
    intro: words,
    points: items(z.object({ title: words, description: words })),
  }),
  // Without it there is no film.
  video: z.optional(z.object({ label: words, playLabel: words, caption: words })),
  problems: z.object({
    title: words,
    intro: words,
    cards: items(z.object({ title: words, description: words })),
  }),
  solution: z.object({
    title: words,
    text: words,
    qualities: items(z.object({ title: words, description: words })),
    proof: words,
  }),
  testimonials: z.object({
    title: words,
    // Without a picture, a person's initials stand.
    cards: items(
      z.object({ name: words, role: words, image: z.optional(words), quote: words, metric: words }),
    ),
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
 * Every complaint about a content file, one sentence each.
 * @param file the file as the operator knows it, such as `campaign/site.yaml`
 */
export function campaignComplaints(file: string, issues: readonly z.core.$ZodIssue[]): string[] {
  return issues.map((issue) => `${file}: ${issue.path.join('.') || 'the file'}: ${issue.message}.`);
}
