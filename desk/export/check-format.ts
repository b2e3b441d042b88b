import { CommandFailure } from '#desk/command-failure.ts';
import { FORMATS_WITH_STATE, type FormatName } from '#desk/export/export-columns.ts';
import type { LeadState } from '#server/db/contacts/filter.ts';

/** @throws {CommandFailure} */
export function checkFormat(format: FormatName, state: LeadState): void {
  // Other programs' formats lack a state column, so unverified people would count as leads.
  if (state !== 'verified' && !FORMATS_WITH_STATE.includes(format))
    throw new CommandFailure(
      `The format ${format} only takes verified leads, because it has no column for unverified people. Use --format ${FORMATS_WITH_STATE.join(' or ')} instead.`,
      2,
    );
}
