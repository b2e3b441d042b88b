import { isDeepStrictEqual } from 'node:util';

import type { Db } from '#server/db/engine/connect.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';

/**
 * Also records the change.
 * @param tx holds the lock of the e-mail address
 * @param change email: as stored; id: of the record; now: milliseconds since 1970; changes: computed from the current answers;
 * onCorrected: called for a lead
 * @returns null for an unknown person. An empty change isn't recorded
 */
export async function correctLead(
  tx: Db,
  {
    email,
    id,
    now,
    changes,
    onCorrected,
  }: {
    email: string;
    id: string;
    now: number;
    changes: (before: LeadAnswers) => Partial<LeadAnswers>;
    onCorrected?: (leadId: string) => Promise<void>;
  },
): Promise<{ readonly before: LeadAnswers; readonly after: LeadAnswers } | null> {
  const lead = await tx.selectFrom('leads').selectAll().where('email', '=', email).executeTakeFirst();
  const imported =
    lead === undefined
      ? await tx.selectFrom('imported_leads').selectAll().where('email', '=', email).executeTakeFirst()
      : undefined;
  const found = lead ?? imported;
  if (found === undefined) return null;
  const before = answersOf(found);
  const after = { ...before, ...changes(before) };
  if (isDeepStrictEqual(after, before)) return { before, after };
  const note = {
    id,
    name_before: before.name,
    company_before: before.company,
    answers_before: before.answers,
    ...after,
    corrected_at: now,
  };
  if (lead !== undefined) {
    await tx.updateTable('leads').set(after).where('id', '=', lead.id).execute();
    await tx
      .insertInto('corrections')
      .values({ ...note, lead_id: lead.id })
      .execute();
    await onCorrected?.(lead.id);
  } else {
    await tx.updateTable('imported_leads').set(after).where('id', '=', found.id).execute();
    await tx
      .insertInto('imported_corrections')
      .values({ ...note, imported_id: found.id })
      .execute();
  }
  return { before, after };
}
