// What was typed into the form, kept in this tab (sessionStorage) so that a reload loses nothing. The tick is
// not kept: after a reload the words beside the box may have changed, and a box that is already ticked is no consent.
import * as z from 'zod/mini';

import type { LeadDraft } from '#web/form/lead-draft.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** Another guide of the host may be open in the same tab. */
const KEY = `lead-draft${SITE_PATH}`;

/** What is kept of a form that asks nothing more. */
export const KeptText = z.object({ name: z.string(), company: z.string(), email: z.string() });

/** Every use may throw: browsers can forbid storage, and then the draft lives as long as the page. */
type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * The kept draft, its box not ticked; null when there is none.
 * @param schema what is taken of it
 */
export function readDraft(
  storage: () => DraftStorage,
  schema: z.ZodMiniType<Omit<LeadDraft, 'consent'>>,
): LeadDraft | null {
  try {
    const kept = schema.safeParse(JSON.parse(storage().getItem(KEY) ?? 'null'));
    return kept.success ? { ...kept.data, consent: false } : null;
  } catch {
    return null;
  }
}

/** Keeps a draft; forgets an empty one. @param draft without `answers` where none is given */
export function keepDraft(storage: () => DraftStorage, draft: LeadDraft): void {
  const { consent: _, ...text } = draft;
  if (!Object.values(text).some(Boolean)) {
    forgetDraft(storage);
    return;
  }
  try {
    storage().setItem(KEY, JSON.stringify(text));
  } catch {
    // The form works without storage.
  }
}

/** Forgets the draft. */
export function forgetDraft(storage: () => DraftStorage): void {
  try {
    storage().removeItem(KEY);
  } catch {
    // Where storage is forbidden there is nothing to forget.
  }
}
