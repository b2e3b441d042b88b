import { hostname } from 'node:os';

import { v7 as uuid } from 'uuid';

import type { DeskAction, LogEntry } from '#desk/endpoints/auth.ts';
import { lockNames, type Db } from '#server/db/engine/connect.ts';
import { emailOfPerson } from '#server/db/contacts/people.ts';
import { addToDeskLog, wasLoggedSince, type DeskLogRow } from '#server/db/tables/desk-log.ts';
import { MINUTE_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';

/** Names the actor in a session that has no e-mail address. */
export const AT_THE_MACHINE = 'at the machine';
const COMMAND_LINE = 'command line';

/** An open page requests the same person repeatedly; these requests share one line. */
const ONE_LOOK_MS = 10 * MINUTE_MS;

/** `who`: an e-mail address; `from`: an IP address or machine name. */
export type Actor = { readonly who: string; readonly from: string };

type Line = Actor & {
  readonly deed: DeskAction;
  readonly about: string | null;
  /** Contains no personal data. */
  readonly details?: string | undefined;
};

export async function logAction(service: RecordParts, line: Line): Promise<void> {
  const { database, clock } = service;
  if (line.deed === 'looked') {
    const { who, deed, about, details = '' } = line;
    const since = clock() - ONE_LOOK_MS;
    if (await wasLoggedSince(database.db, { who, deed, about, details, since })) return;
  }
  await database.db.transaction().execute((tx) => addLine(tx, service, line));
}

/** Other actions concern people. An erased person must not return to the log. */
const ABOUT_DESK_USERS: ReadonlySet<DeskAction> = new Set(['signed-out', 'sent-report']);

type RecordParts = Pick<Service, 'database' | 'clock' | 'secrets'>;

async function addLine(tx: Db, { clock, secrets }: RecordParts, line: Line): Promise<void> {
  const { deed, about } = line;
  const pseudonym = about === null || ABOUT_DESK_USERS.has(deed) ? null : pseudonymsOf(secrets, about)[0];
  await addToDeskLog(tx, rowOf(line, clock()), pseudonym);
}

/** @param details must not contain personal data */
export type Note = (deed: DeskAction, about: string | null, details?: string) => Promise<void>;
type ChangeParts = RecordParts & Pick<Service, 'webhooks'>;

/** @param change throws to roll back */
export async function changeAndNote<Done>(
  service: ChangeParts,
  actor: Actor,
  change: (tx: Db, note: Note) => Promise<Done>,
): Promise<Done> {
  const done = await service.database.db
    .transaction()
    .execute((tx) =>
      change(tx, (deed, about, details) => addLine(tx, service, { ...actor, deed, about, details })),
    );
  service.webhooks.wake();
  return done;
}

/**
 * Like {@link changeAndNote}, but with the person locked against a parallel change or erasure.
 * @param person an ID, or the e-mail address as stored
 * @returns null if the ID is unknown
 */
export const changePerson = <Done>(
  service: ChangeParts,
  actor: Actor,
  person: { readonly id: string } | { readonly email: string },
  change: (tx: Db, email: string, note: Note) => Promise<Done>,
): Promise<Done | null> =>
  changeAndNote(service, actor, async (tx, note) => {
    const find = async () => ('email' in person ? person.email : emailOfPerson(tx, person.id));
    const seen = await find();
    if (seen === undefined) return null;
    await lockNames(tx, seen);
    // The person may have been erased while this transaction waited for the lock.
    const email = await find();
    return email === undefined ? null : change(tx, email, note);
  });

const STRANGER = 'a stranger';

export const noteRefused = (
  tx: Db,
  { email, from, details, at }: { email: string | null; from: string; details: string; at: number },
): Promise<void> =>
  addToDeskLog(tx, rowOf({ who: email ?? STRANGER, deed: 'refused', about: null, details, from }, at), null);

const rowOf = ({ who, deed, about, details = '', from }: Line, at: number): DeskLogRow => ({
  id: uuid({ msecs: at, seq: microseconds() }),
  at,
  who,
  deed,
  about,
  details,
  client_address: from,
});

const microseconds = (): number => Math.floor(performance.now() * 1_000) % 2 ** 31;

export const commandLine = (): Actor => ({ who: COMMAND_LINE, from: machineOf(process.env) });

export const noteCommand = (
  service: RecordParts,
  deed: DeskAction,
  about: string | null,
  details?: string,
): Promise<void> => logAction(service, { ...commandLine(), deed, about, details });

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
  deed: deed as DeskAction,
  about,
  details,
  from,
});
