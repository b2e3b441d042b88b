// Puts addresses on the list of those that get no mail, and takes them off where that was a slip.
import { CommandFailure } from '#desk/command-failure.ts';
import { sealAll } from '#desk/people/consent-proofs.ts';
import { minuteOf } from '#desk/shown-time.ts';
import { listEntries, removeSlips, type ListEntry } from '#server/db/across/suppression-removal.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { suppress } from '#server/db/tables/suppressions.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Service } from '#server/run/service.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';
import { withdrawConsent } from '#server/visitors/unsubscribe/withdraw.ts';

/** Reasons that the operator can give. `erased` is not among them: an erasure adds it. */
export const GIVEN_REASONS = ['by-hand', 'unsubscribed', 'complained', 'bounced'] as const;
export type GivenReason = (typeof GIVEN_REASONS)[number];

/**
 * Puts an address on the list of those that get no mail. A lead's consent is withdrawn with it, unless the reason says nothing of it.
 * @param entry email: as stored
 * @returns false when it stood there for that reason already
 */
export async function suppressAddress(
  { database, secrets, webhooks, clock }: Pick<Service, 'database' | 'secrets' | 'webhooks' | 'clock'>,
  { email, reason, note }: { email: string; reason: GivenReason; note: string | null },
): Promise<boolean> {
  const { db } = database;
  const now = clock();
  const leadId = reason === 'by-hand' ? undefined : await findLeadId(db, email);
  // A lead's consent is withdrawn, too.
  if (leadId !== undefined && reason !== 'bounced') {
    const way = reason === 'complained' ? 'complaint' : 'by-hand';
    const outcome = await withdrawConsent(
      { database, secrets, webhooks },
      { leadId, way, note, clientAddress: null, userAgent: null, now },
    );
    return outcome === 'withdrawn';
  }
  const isNew = await db.transaction().execute(async (tx) => {
    if (!(await suppress(tx, { keys: pseudonymsOf(secrets, email), reason, email, note, now }))) return false;
    if (leadId !== undefined) await webhooks.queue(tx, { type: 'lead.bounced', leadId, now });
    return true;
  });
  webhooks.wake();
  return isNew;
}

const addressOf = ({ secrets }: Pick<Service, 'secrets'>, email: string) => ({
  keys: pseudonymsOf(secrets, email),
  email,
});

/** Why an address is on the list. @param email as stored */
export const entriesOf = (
  service: Pick<Service, 'database' | 'secrets'>,
  email: string,
): Promise<readonly ListEntry[]> => listEntries(service.database.db, addressOf(service, email));

/** Whether the operator can take an entry off. @param hasReason whether they say why it was a slip */
export const isSlip = ({ owner }: Pick<ListEntry, 'owner'>, hasReason: boolean): boolean =>
  owner === 'operator' || (owner === 'noted' && hasReason);

/**
 * Finds the entries that the operator can take off.
 * @param note why they were slips; null: not said
 * @throws {CommandFailure} when there are none
 */
export async function findSlips(
  service: Pick<Service, 'database' | 'secrets'>,
  email: string,
  note: string | null,
): Promise<readonly ListEntry[]> {
  const entries = await entriesOf(service, email);
  const slips = entries.filter((entry) => isSlip(entry, note !== null));
  if (slips.length === 0) throw nothingToRemove(email, entries);
  return slips;
}

/**
 * Takes entries off the list. The reason goes into the chain of consents.
 * @param options slips: of {@link findSlips}
 * @throws {CommandFailure} when the person has decided it themselves meanwhile
 */
export async function undoSlips(
  service: Service,
  {
    email,
    slips,
    note,
    signal,
  }: { email: string; slips: readonly ListEntry[]; note: string | null; signal: AbortSignal },
): ReturnType<typeof removeSlips> {
  // What the removal undoes stands before it in the chain.
  if (note !== null) await sealAll(service, { signal });
  signal.throwIfAborted();
  const result = await removeSlips(service.database, {
    address: addressOf(service, email),
    reasons: slips.map((entry) => entry.reason),
    note,
    signer: chainSignerOf(service.secrets),
    now: service.clock(),
  });
  if (result.removed.length === 0) throw nothingToRemove(email, result.left);
  return result;
}

/** unsubscribed since 2026-11-20 12:00, “asked by telephone” */
export const sayEntry = ({ reason, since, note }: ListEntry): string =>
  `${reason} since ${minuteOf(isoTime(since))}${note === null ? '' : `, “${note}”`}`;

function nothingToRemove(email: string, entries: readonly ListEntry[]): CommandFailure {
  if (entries.length === 0) return new CommandFailure(`${email} is not on the list.`);
  const noted = entries.find(({ owner }) => owner === 'noted');
  const stands = `${email} is on the list: ${entries.map(sayEntry).join('; ')}.`;
  return new CommandFailure(
    noted === undefined
      ? `${stands} The person decided that themselves, so a new verified consent alone ends it.`
      : `${stands} You noted that the person unsubscribed: they come back with a new verified consent. If your note was a slip, say why: --reason "…".`,
  );
}
