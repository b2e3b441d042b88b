import * as z from 'zod/mini';

import type { Interface } from '#shared/campaign-schema.ts';
import { errorIn, type LeadForm } from '#shared/lead.ts';
import { orNull } from '#shared/or-null.ts';
import { SITE_PATH } from '#web/site-path.ts';

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

/**
 * In sessionStorage, because name and e-mail address are personal data. The same tab may open another guide on this host.
 */
const KEY = `lead-draft${SITE_PATH}`;

export const KeptText = z.object({ name: z.string(), company: z.string(), email: z.string() });

export function readDraft(schema: z.ZodMiniType<Omit<LeadDraft, 'consent'>>): LeadDraft | null {
  // Storage may be forbidden.
  const text = orNull<unknown>(() => JSON.parse(sessionStorage.getItem(KEY) ?? 'null'));
  const kept = schema.safeParse(text);
  return kept.success ? { ...kept.data, consent: false } : null;
}

export function keepDraft(draft: LeadDraft): void {
  const { consent: _, ...text } = draft;
  try {
    if (Object.values(text).some(Boolean)) sessionStorage.setItem(KEY, JSON.stringify(text));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is forbidden.
  }
}

export const forgetDraft = (): void => keepDraft(EMPTY_DRAFT);
