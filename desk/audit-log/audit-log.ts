import { hostname } from 'node:os';

import { v7 as uuid } from 'uuid';

import type { DeskAction, LogEntry } from '#desk/endpoints/auth.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { emailOfContact } from '#server/db/contacts/people.ts';
import { addToDeskLog, wasLoggedSince, type DeskLogRow } from '#server/db/tables/desk-log.ts';
import { MINUTE_MS, isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';

/** Names the actor in a session that has no e-mail address. */
export const AT_THE_MACHINE = 'at the machine';
const COMMAND_LINE = 'command line';

/** An open page requests the same person repeatedly, which is logged only once. */
const REPEATED_VIEW_MS = 10 * MINUTE_MS;

/** `who`: an e-mail address; `from`: an IP address or machine name. */
export type Actor = { readonly who: string; readonly from: string };

type LogLine = Actor & {
  readonly action: DeskAction;
  readonly about: string | null;
  /** Contains no personal data. */
  readonly details?: string | undefined;
};

export async function logAction(service: LogParts, line: LogLine): Promise<void> {
  const { database, clock } = service;
  if (line.action === 'viewed') {
    const { who, action, about, details = '' } = line;
    const since = clock() - REPEATED_VIEW_MS;
    if (await wasLoggedSince(database.db, { who, action, about, details, since })) return;
  }
  await database.db.transaction().execute((tx) => addLine(tx, service, line));
}

/** Other actions are about contacts, and an erased contact must not return to the log. */
const ABOUT_DESK_USERS: ReadonlySet<DeskAction> = new Set(['signed-out', 'sent-report']);

type LogParts = Pick<Service, 'database' | 'clock' | 'secrets'>;

async function addLine(tx: Db, { clock, secrets }: LogParts, line: LogLine): Promise<void> {
  const { action, about } = line;
  const pseudonym = about === null || ABOUT_DESK_USERS.has(action) ? null : pseudonymsOf(secrets, about)[0];
  await addToDeskLog(tx, rowOf(line, clock()), pseudonym);
}

/** @param details must not contain personal data */
export type LogAction = (action: DeskAction, about: string | null, details?: string) => Promise<void>;
type ChangeParts = LogParts & Pick<Service, 'webhooks'>;

/** @param change throws to roll back */
export async function changeAndLog<Done>(
  service: ChangeParts,
  actor: Actor,
  change: (tx: Db, log: LogAction) => Promise<Done>,
): Promise<Done> {
  const done = await service.database.db
    .transaction()
    .execute((tx) =>
      change(tx, (action, about, details) => addLine(tx, service, { ...actor, action, about, details })),
    );
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
  change: (tx: Db, email: string, log: LogAction) => Promise<Done>,
): Promise<Done | null> =>
  changeAndLog(service, actor, async (tx, log) => {
    const findEmail = async () => ('email' in person ? person.email : emailOfContact(tx, person.id));
    const found = await findEmail();
    if (found === undefined) return null;
    await acquireLocks(tx, found);
    // The person may have been erased while this transaction waited for the lock.
    const email = await findEmail();
    return email === undefined ? null : change(tx, email, log);
  });

const STRANGER = 'a stranger';

export const logRefusal = (
  tx: Db,
  { email, from, details, at }: { email: string | null; from: string; details: string; at: number },
): Promise<void> =>
  addToDeskLog(
    tx,
    rowOf({ who: email ?? STRANGER, action: 'refused', about: null, details, from }, at),
    null,
  );

const rowOf = ({ who, action, about, details = '', from }: LogLine, at: number): DeskLogRow => ({
  id: uuid({ msecs: at, seq: microseconds() }),
  at,
  who,
  action,
  about,
  details,
  client_address: from,
});

const microseconds = (): number => Math.floor(performance.now() * 1_000) % 2 ** 31;

export const commandLine = (): Actor => ({ who: COMMAND_LINE, from: sourceOf(process.env) });

export const logCommand = (
  service: LogParts,
  action: DeskAction,
  about: string | null,
  details?: string,
): Promise<void> => logAction(service, { ...commandLine(), action, about, details });

const sourceOf = ({ SSH_CONNECTION: ssh }: NodeJS.ProcessEnv): string => ssh?.split(' ', 1)[0] || hostname();

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
