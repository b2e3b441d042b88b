// Which states a format can take.
import { CommandFailure } from '#desk/command-failure.ts';
import { FORMATS_WITH_STATE, type FormatName } from '#desk/export/export-columns.ts';
import type { LeadState } from '#server/db/contacts/person.ts';

/**
 * Files for other programs have no column for the state: people who are not verified would count as leads there.
 * @throws {CommandFailure}
 */
export function refuseUnproven({ state, format }: { state: LeadState; format: FormatName }): void {
  if (state !== 'verified' && !FORMATS_WITH_STATE.includes(format))
    throw new CommandFailure(
      `A file for ${format} cannot say that a person is not verified here, so it holds verified leads only. Use --format ${FORMATS_WITH_STATE.join(' or ')}, which have a column for it.`,
      2,
    );
}
