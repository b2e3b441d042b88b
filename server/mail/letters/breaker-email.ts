// The notice to the operator that the breaker opened.
import { fill } from '#shared/words.ts';
import type { BreakerEmail } from '#shared/campaign-schema.ts';

const REASONS = {
  'too many codes a minute': 'tooManyCodes',
  'too few codes entered': 'tooFewEntered',
} as const satisfies Record<string, keyof BreakerEmail['reasons']>;

/** Composes subject and text from the operator's words. */
export function composeBreakerNotice(
  words: BreakerEmail,
  { reason, title }: { reason: keyof typeof REASONS; title: string },
): { subject: string; text: string } {
  const values = { title, reason: words.reasons[REASONS[reason]] };
  return { subject: fill(words.subject, values), text: fill(words.text, values) };
}
