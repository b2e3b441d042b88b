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

export type DraftControl = {
  readonly draft: LeadDraft;
  readonly change: (draft: LeadDraft) => void;
  readonly restore: (lead: LeadForm) => void;
  /** Removes the draft from storage only; the page keeps it. */
  readonly forget: () => void;
  readonly clear: () => void;
};

export function useDraft(): DraftControl {
  const [draft, setDraft] = useState<LeadDraft>(
    () => readDraft(asksMore || news ? KeptOwnText : KeptText) ?? EMPTY_DRAFT,
  );
  return {
    draft,
    change: (changed) => {
      setDraft(changed);
      keepDraft(asksMore ? keptOwnDraft(changed) : changed);
    },
    restore: (lead) =>
      setDraft((current) => (current === EMPTY_DRAFT ? { ...lead, consent: false } : current)),
    forget: forgetDraft,
    clear: () => {
      setDraft(EMPTY_DRAFT);
      forgetDraft();
    },
  };
}
