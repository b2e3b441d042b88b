// The form's logic: what was typed, what is wrong with it, and where the focus goes. The picture is form-stage.tsx.
import type { Interface } from '#shared/campaign-schema.ts';
import { complaintIn, Lead } from '#shared/lead.ts';

export type LeadField = keyof Lead;

/** What stands in the form, right or wrong. */
export type LeadDraft = { readonly [Field in LeadField]: Field extends 'consent' ? boolean : string };

export type LeadErrors = Readonly<Partial<Record<LeadField, string>>>;

/** Specification, section 5: the defaults. In the order of the screen. */
export const EMPTY_DRAFT: LeadDraft = { name: '', company: '', email: '', consent: false };
const LEAD_FIELDS = Object.keys(EMPTY_DRAFT) as readonly LeadField[];

/** The valid lead, or the first complaint about each field, in these words. */
export function checkDraft(
  draft: LeadDraft,
  words: Interface['validation'],
): { type: 'lead'; lead: Lead } | { type: 'errors'; errors: LeadErrors } {
  const result = Lead.safeParse(draft);
  if (result.success) return { type: 'lead', lead: result.data };
  const errors: Partial<Record<LeadField, string>> = {};
  for (const issue of result.error.issues) {
    const field = LEAD_FIELDS.find((name) => name === issue.path[0]);
    if (field !== undefined) errors[field] ??= complaintIn(words, issue.message) ?? issue.message;
  }
  return { type: 'errors', errors };
}

/** The field to look at first. */
export const firstInvalidField = (errors: LeadErrors): LeadField | undefined =>
  LEAD_FIELDS.find((field) => errors[field] !== undefined);
