import { useState } from 'react';

import { news } from '#campaign/consent.yaml';
import { asksMore } from '#campaign/form.yaml';
import type { LeadForm } from '#shared/lead.ts';
import { forgetDraft, keepDraft, KeptText, readDraft } from '#web/form/kept-draft.ts';
import { EMPTY_DRAFT, type LeadDraft } from '#web/form/lead-draft.ts';
import { keptOwnDraft, KeptOwnText } from '#web/form/own-form.ts';

/** Not localStorage, because name and e-mail address are personal data. */
const tabStorage = () => sessionStorage;

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
    () => readDraft(tabStorage, asksMore || news ? KeptOwnText : KeptText) ?? EMPTY_DRAFT,
  );
  const forget = () => forgetDraft(tabStorage);
  return {
    draft,
    change: (changed) => {
      setDraft(changed);
      keepDraft(tabStorage, asksMore ? keptOwnDraft(changed) : changed);
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
