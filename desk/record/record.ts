// The record of who did what, in the desk in a browser and by commands (`desk log`). Kept as long as RETENTION_DAYS says.
import { hostname } from 'node:os';

import { v7 as uuid } from 'uuid';

import type { Deed, LogEntry } from '#desk/calls/door.ts';
import { ERASED_PERSON } from '#server/db/across/personal-data.ts';
import { addToDeskLog, wasNotedSince, type DeskLogRow } from '#server/db/tables/desk-log.ts';
import { MINUTE_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/run/service.ts';

/** Who did it, where it was no address of DESK_PEOPLE. */
export const AT_THE_MACHINE = 'at the machine';
const COMMAND_LINE = 'command line';

/** A page that is open asks for a person again and again: one look is one line. */
const ONE_LOOK_MS = 10 * MINUTE_MS;

type Line = {
  readonly who: string;
  readonly deed: Deed;
  /** The address that it was about. */
  readonly about: string | null;
  /** Such as the filter and format of an export. Never personal. */
  readonly details?: string | undefined;
  /** The network address, or the machine. */
  readonly from: string;
};

/** Notes what was done. An erased address is not noted, also not as that of the person who erased it. */
export async function noteDeed(
  { database, clock }: Pick<Service, 'database' | 'clock'>,
  { who, deed, about, details = '', from }: Line,
): Promise<void> {
  const at = clock();
  if (deed === 'looked' && about !== null) {
    const since = at - ONE_LOOK_MS;
    if (await wasNotedSince(database.db, { who, deed, about, since })) return;
  }
  const isOfThemselves = deed === 'erased' && about === who;
  await addToDeskLog(database, {
    id: uuid({ msecs: at, seq: microseconds() }),
    at,
    who: isOfThemselves ? ERASED_PERSON : who,
    deed,
    about: deed === 'erased' ? null : about,
    details,
    client_address: isOfThemselves ? '' : from,
  });
  // An erasure leaves SQLite's log empty, and so does its line.
  if (deed === 'erased') database.emptyLog();
}

/** Orders the lines of one process within a millisecond. */
const microseconds = (): number => Math.floor(performance.now() * 1_000) % 2 ** 31;

/** Notes what a command did. */
export const noteCommand = (
  service: Pick<Service, 'database' | 'clock'>,
  deed: Deed,
  about: string | null,
  details?: string,
): Promise<void> =>
  noteDeed(service, { who: COMMAND_LINE, deed, about, details, from: machineOf(process.env) });

/** The other end of an ssh connection, or the name of this machine. */
const machineOf = ({ SSH_CONNECTION: ssh }: NodeJS.ProcessEnv): string => ssh?.split(' ', 1)[0] || hostname();

export const logEntryOf = ({
  id,
  at,
  who,
  deed,
  about,
  details,
  client_address: from,
}: DeskLogRow): LogEntry => ({
  id,
  at: isoTime(at),
  who,
  deed: deed as Deed,
  about,
  details,
  from,
});
