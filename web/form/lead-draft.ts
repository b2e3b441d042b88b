// What is typed into the form: its fields, what is wrong with them, and which one takes the focus.
import type { Interface } from '#shared/campaign-schema.ts';
import { complaintIn, Lead } from '#shared/lead.ts';

export type LeadField = keyof Lead;

/** What is typed into the form, valid or not. */
export type LeadDraft = { readonly [Field in LeadField]: Field extends 'consent' ? boolean : string };

export type LeadErrors = Readonly<Partial<Record<LeadField, string>>>;

/** Specification, section 5: the defaults. In the order of the screen. */
export const EMPTY_DRAFT: LeadDraft = { name: '', company: '', email: '', consent: false };
const LEAD_FIELDS = Object.keys(EMPTY_DRAFT) as readonly LeadField[];

/** The valid lead, or the first error of each field, in the operator's words. */
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
