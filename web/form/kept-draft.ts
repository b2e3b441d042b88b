import * as z from 'zod/mini';

import type { LeadDraft } from '#web/form/lead-draft.ts';
import { SITE_PATH } from '#web/site-path.ts';

/** The same tab may open another guide on this host. */
const KEY = `lead-draft${SITE_PATH}`;

export const KeptText = z.object({ name: z.string(), company: z.string(), email: z.string() });

type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

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

export function keepDraft(storage: () => DraftStorage, draft: LeadDraft): void {
  const { consent: _, ...text } = draft;
  if (!Object.values(text).some(Boolean)) {
    forgetDraft(storage);
    return;
  }
  try {
    storage().setItem(KEY, JSON.stringify(text));
  } catch {
    // Storage is forbidden.
  }
}

export function forgetDraft(storage: () => DraftStorage): void {
  try {
    storage().removeItem(KEY);
  } catch {
    // Storage is forbidden.
  }
}
