import { CommandFailure } from '#desk/command-failure.ts';
import { FORMATS_WITH_STATE, type FormatName } from '#desk/export/export-columns.ts';
import type { LeadState } from '#server/db/contacts/filter.ts';

/**
 * Other programs' formats lack a state column, so unverified people would count as leads.
 * @throws {CommandFailure}
 */
export function refuseUnproven({ state, format }: { state: LeadState; format: FormatName }): void {
  if (state !== 'verified' && !FORMATS_WITH_STATE.includes(format))
    throw new CommandFailure(
      `A file for ${format} cannot say that a person is not verified here, so it only contains verified leads. Use --format ${FORMATS_WITH_STATE.join(' or ')}, which have a column for it.`,
      2,
    );
}
