import type * as z from 'zod/mini';

import type { Interface } from '#shared/campaign-schema.ts';
import { errorIn, type LeadForm } from '#shared/lead.ts';

export type LeadField = keyof typeof LeadForm.shape;

export type LeadDraft = { readonly [Field in LeadField]: Field extends 'consent' ? boolean : string } & Omit<
  LeadForm,
  LeadField
>;

/** Errors by field name; custom questions have the prefix `answers.` */
export type LeadErrors = Readonly<Partial<Record<string, string>>>;

/** Specification, section 5, in screen order. */
export const EMPTY_DRAFT: LeadDraft = { name: '', company: '', email: '', consent: false };

export function checkDraft(
  schema: Pick<z.ZodMiniType<LeadForm>, 'safeParse'>,
  draft: LeadDraft,
  words: Interface['validation'],
): { type: 'lead'; lead: LeadForm } | { type: 'errors'; errors: LeadErrors } {
  const result = schema.safeParse(draft);
  if (result.success) return { type: 'lead', lead: result.data };
  const errors: Partial<Record<string, string>> = {};
  for (const { path, message } of result.error.issues)
    errors[path.join('.')] ??= errorIn(words, message) ?? message;
  return { type: 'errors', errors };
}
