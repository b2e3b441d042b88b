// The form's draft while the page lives; what outlives a reload is kept-draft.ts's.
import { useState } from 'react';

import type { Lead } from '#shared/lead.ts';
import { forgetDraft, keepDraft, readDraft } from '#web/form/kept-draft.ts';
import { EMPTY_DRAFT, type LeadDraft } from '#web/form/lead-form.ts';

/** This tab's alone, and gone with it: a name and an address are nobody else's business. */
const tabStorage = () => sessionStorage;

export type DraftControl = {
  readonly draft: LeadDraft;
  readonly change: (draft: LeadDraft) => void;
  /** Takes up what a reloaded code screen was waiting for, where the tab kept nothing. */
  readonly restore: (lead: Lead) => void;
  /** The code was entered: a reload shall not bring the draft back. The page still has it. */
  readonly forget: () => void;
  readonly clear: () => void;
};

/** The draft of this page. */
export function useDraft(): DraftControl {
  const [draft, setDraft] = useState<LeadDraft>(() => readDraft(tabStorage) ?? EMPTY_DRAFT);
  const forget = () => forgetDraft(tabStorage);
  return {
    draft,
    change: (changed) => {
      setDraft(changed);
      keepDraft(tabStorage, changed);
    },
    restore: (lead) =>
      setDraft((current) => (current === EMPTY_DRAFT ? { ...lead, consent: false } : current)),
    forget,
    clear: () => {
      setDraft(EMPTY_DRAFT);
      forget();
    },
  };
}
