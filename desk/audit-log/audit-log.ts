// The audit log (table desk_log): who did what in the desk. A change and its entry are committed together; repeated views are
// recorded at most every ten minutes.
import { hostname } from 'node:os';

import { v7 as uuid } from 'uuid';

import type { DeskAction, LogEntry } from '#desk/endpoints/auth.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { emailOfContact } from '#server/db/contacts/people.ts';
import { addToDeskLog, wasLoggedSince, type DeskLogRow } from '#server/db/tables/desk-log.ts';
import { MINUTE_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';

/** The actor in a session from `desk open`, which has no e-mail address. */
export const AT_THE_MACHINE = 'at the machine';
const COMMAND_LINE = 'command line';

/** An open page requests the same person repeatedly. Within this time, one user's views of one person are one entry. */
const REPEATED_VIEW_MS = 10 * MINUTE_MS;

/** `who`: an e-mail address, or a phrase such as AT_THE_MACHINE; `from`: an IP address or machine name. */
export type Actor = { readonly who: string; readonly from: string };

type NewEntry = Actor & {
  readonly action: DeskAction;
  /** E-mail address of the contact or desk user affected. */
  readonly about: string | null;
  /** Contains no personal data. */
  readonly details?: string | undefined;
};

type LogParts = Pick<Service, 'database' | 'clock' | 'secrets'>;

export async function logAction(service: LogParts, entry: NewEntry): Promise<void> {
  const { database, clock } = service;
  if (entry.action === 'viewed') {
    const { who, action, about, details = '' } = entry;
    const since = clock() - REPEATED_VIEW_MS;
    if (await wasLoggedSince(database.db, { who, action, about, details, since })) return;
  }
  await database.db.transaction().execute((tx) => addEntry(tx, service, entry));
}

/** Other actions are about contacts. If one has been erased, addToDeskLog stores the pseudonym instead. */
const ABOUT_DESK_USERS: ReadonlySet<DeskAction> = new Set(['signed-out', 'sent-report']);

async function addEntry(tx: Db, { clock, secrets }: LogParts, entry: NewEntry): Promise<void> {
  const { action, about } = entry;
  const pseudonym = about === null || ABOUT_DESK_USERS.has(action) ? null : pseudonymsOf(secrets, about)[0];
  await addToDeskLog(tx, rowOf(entry, clock()), pseudonym);
}

/** Logs an action of one actor. @param details must not contain personal data */
export type LogForActor = (action: DeskAction, about: string | null, details?: string) => Promise<void>;
type ChangeParts = LogParts & Pick<Service, 'webhooks'>;

/** @param change throws to roll back */
export async function changeAndLog<Done>(
  service: ChangeParts,
  actor: Actor,
  change: (tx: Db, log: LogForActor) => Promise<Done>,
): Promise<Done> {
  const done = await service.database.db
    .transaction()
    .execute((tx) =>
      change(tx, (action, about, details) => addEntry(tx, service, { ...actor, action, about, details })),
    );
  // The change may have queued a webhook event.
  service.webhooks.wake();
  return done;
}

/** An ID, or the e-mail address as stored. */
export type PersonRef = { readonly id: string } | { readonly email: string };

/**
 * Like {@link changeAndLog}, but with the person locked against a parallel change or erasure.
 * @returns null if the ID is unknown
 */
export const changePerson = <Done>(
  service: ChangeParts,
  actor: Actor,
  person: PersonRef,
  change: (tx: Db, email: string, log: LogForActor) => Promise<Done>,
): Promise<Done | null> =>
  changeAndLog(service, actor, async (tx, log) => {
    const findEmail = async () => ('email' in person ? person.email : emailOfContact(tx, person.id));
    const found = await findEmail();
    if (found === undefined) return null;
    await acquireLocks(tx, found);
    // The person may have been erased while this transaction waited for the lock. If only an e-mail address is given, `change`
    // itself looks for the person.
    const email = await findEmail();
    return email === undefined ? null : change(tx, email, log);
  });

const UNKNOWN_PERSON = 'a stranger';

export const logRefusedSignIn = (
  tx: Db,
  { email, from, details, at }: { email: string | null; from: string; details: string; at: number },
): Promise<void> =>
  addToDeskLog(
    tx,
    rowOf({ who: email ?? UNKNOWN_PERSON, action: 'refused', about: null, details, from }, at),
    null,
  );

const rowOf = ({ who, action, about, details = '', from }: NewEntry, at: number): DeskLogRow => ({
  id: uuid({ msecs: at, seq: microseconds() }),
  at,
  who,
  action,
  about,
  details,
  client_address: from,
});

/** Orders entries of the same millisecond. */
const microseconds = (): number => Math.floor(performance.now() * 1_000) % 2 ** 31;

export const cliActor = (): Actor => ({ who: COMMAND_LINE, from: sshClientOrHostname(process.env) });

export const logCommand = (
  service: LogParts,
  action: DeskAction,
  about: string | null,
  details?: string,
): Promise<void> => logAction(service, { ...cliActor(), action, about, details });

const sshClientOrHostname = ({ SSH_CONNECTION: ssh }: NodeJS.ProcessEnv): string =>
  ssh?.split(' ', 1)[0] || hostname();

export const logEntryOf = ({
  id,
  at,
  who,
  action,
  about,
  details,
  client_address: from,
}: DeskLogRow): LogEntry => ({
  id,
  at: isoTime(at),
  who,
  action: action as DeskAction,
  about,
  details,
  from,
});
