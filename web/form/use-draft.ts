import { useState } from 'react';

import { news } from '#campaign/consent.yaml';
import { asksMore } from '#campaign/form.yaml';
import type { LeadForm } from '#shared/lead.ts';
import {
  EMPTY_DRAFT,
  forgetDraft,
  keepDraft,
  KeptText,
  readDraft,
  type LeadDraft,
} from '#web/form/lead-draft.ts';
import { keptOwnDraft, KeptOwnText } from '#web/form/own-form.ts';

export function useDraft() {
  const [draft, setDraft] = useState<LeadDraft>(
    () => readDraft(asksMore || news ? KeptOwnText : KeptText) ?? EMPTY_DRAFT,
  );
  const change = (changed: LeadDraft) => {
    setDraft(changed);
    keepDraft(asksMore ? keptOwnDraft(changed) : changed);
  };
  return {
    draft,
    change,
    restore: (lead: LeadForm) =>
      setDraft((current) => (current === EMPTY_DRAFT ? { ...lead, consent: false } : current)),
    /** Removes the draft from storage only; the page keeps it. */
    forget: forgetDraft,
    clear: () => change(EMPTY_DRAFT),
  };
}
