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
 * Every complaint about a content file, one sentence each.
 * @param file the file as the operator knows it, such as `campaign/site.yaml`
 */
export function campaignComplaints(file: string, issues: readonly z.core.$ZodIssue[]): string[] {
  return issues.map((issue) => `${file}: ${issue.path.join('.') || 'the file'}: ${issue.message}.`);
}
