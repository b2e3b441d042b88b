// Which commands stand in the record, and with what. What a person who uses them typed to search is left out: it may be personal.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';

import type { Deed } from '#desk/calls/door.ts';
import { noteCommand } from '#desk/record/record.ts';
import { shownSource } from '#server/attribution/source.ts';
import type { Service } from '#server/run/service.ts';
import { normaliseEmail } from '#shared/lead.ts';

type Noted = {
  readonly deed: Deed;
  /** Whether its first argument is the address that it was about. */
  readonly isAboutOne: boolean;
  /** Options whose values are noted. */
  readonly options?: readonly string[];
};

const NOTED: Readonly<Record<string, Noted>> = {
  export: {
    deed: 'exported',
    isAboutOne: false,
    options: ['format', 'state', 'source', 'flag', 'sinceLast', 'again'],
  },
  person: { deed: 'exported', isAboutOne: true },
  import: { deed: 'imported', isAboutOne: false },
  correct: { deed: 'corrected', isAboutOne: true },
  erase: { deed: 'erased', isAboutOne: true },
  'send-guide': { deed: 'sent-guide', isAboutOne: true },
  'suppress add': { deed: 'suppressed', isAboutOne: true, options: ['reason'] },
  'suppress remove': { deed: 'unsuppressed', isAboutOne: true },
  'suppress import': { deed: 'suppressed', isAboutOne: false },
  'suppress export': { deed: 'exported', isAboutOne: false },
  'consent export': { deed: 'exported', isAboutOne: true },
  'webhooks retry': { deed: 'retried-webhooks', isAboutOne: false },
};

/** Notes a command that was done, if it is one that the record has. */
export async function noteDone(command: CommandUnknownOpts, service: () => Promise<Service>): Promise<void> {
  const name = nameOf(command);
  const noted = Object.hasOwn(NOTED, name) ? NOTED[name] : undefined;
  const values = command.opts() as Readonly<Record<string, unknown>>;
  if (noted === undefined || values['list'] === true || values['dryRun'] === true) return;
  const details = (noted.options ?? []).flatMap((option) => {
    const value = values[option];
    if (typeof value !== 'string') return [];
    // A source may hold an address, and details are not erased.
    return [`${option}: ${option === 'source' ? shownSource(value) : value}`];
  });
  const [typed] = command.args;
  const about = noted.isAboutOne && typed !== undefined ? normaliseEmail(typed) : null;
  await noteCommand(await service(), noted.deed, about, [name, ...details].join(', '));
}

/** `suppress add` */
function nameOf(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${parent.name()} ${command.name()}`;
}
