import { CommandFailure } from '#desk/command-failure.ts';
import { sealAll } from '#desk/people/consent-proofs.ts';
import { formatMinute } from '#desk/shown-time.ts';
import type { Db } from '#server/db/engine/connect.ts';
import {
  type ListedSuppression,
  listSuppressions,
  undoSuppressions,
  withdrawIn,
} from '#server/consent/withdraw.ts';
import { findLeadId } from '#server/db/tables/leads.ts';
import { suppress, suppressionsOf } from '#server/db/tables/suppressions.ts';
import { isoTime } from '#server/platform/time.ts';
import type { Config } from '#server/settings/settings.ts';
import type { Service } from '#server/startup/service.ts';
import { pseudonymsOf } from '#server/secrets/secrets.ts';

/** Without `erased`, which only an erasure adds. */
export const GIVEN_REASONS = ['by-hand', 'unsubscribed', 'complained', 'bounced'] as const;
export type GivenReason = (typeof GIVEN_REASONS)[number];

/**
 * Suppresses an e-mail address, and withdraws a lead's consent if the reason implies it.
 * @param tx must have locked the e-mail address
 * @returns false if already suppressed for this reason
 */
export async function suppressAddress(
  tx: Db,
  { database, secrets, webhooks, clock }: Pick<Service, 'database' | 'secrets' | 'webhooks' | 'clock'>,
  { email, reason, note }: { email: string; reason: GivenReason; note: string | null },
): Promise<boolean> {
  const now = clock();
  const leadId = reason === 'by-hand' ? undefined : await findLeadId(tx, email);
  if (leadId !== undefined && reason !== 'bounced') {
    const way = reason === 'complained' ? 'complaint' : 'by-hand';
    const outcome = await withdrawIn(tx, { database, secrets, webhooks }, { leadId, way, note, now });
    return outcome === 'withdrawn';
  }
  if (!(await suppress(tx, { keys: pseudonymsOf(secrets, email), reason, email, note, now }))) return false;
  if (leadId !== undefined) await webhooks.queue(tx, { type: 'lead.bounced', leadId, now });
  return true;
}

const addressKeysOf = ({ secrets }: Pick<Service, 'secrets'>, email: string) => ({
  keys: pseudonymsOf(secrets, email),
  email,
});

/** Erased people's entries do not count, because the e-mail address is added to them again. */
export async function isSuppressedFor(
  db: Db,
  service: Pick<Service, 'secrets'>,
  { email, reason }: { readonly email: string; readonly reason: GivenReason },
): Promise<boolean> {
  const entries = await suppressionsOf(db, addressKeysOf(service, email));
  return entries.some((entry) => entry.reason === reason && entry.email !== null);
}

export const suppressionsFor = (
  db: Db,
  service: Pick<Service, 'secrets'>,
  email: string,
): Promise<readonly ListedSuppression[]> => listSuppressions(db, addressKeysOf(service, email));

export const isRemovable = ({ owner }: Pick<ListedSuppression, 'owner'>, hasReason: boolean): boolean =>
  owner === 'operator' || (owner === 'noted' && hasReason);

/** @param note why the suppressions were mistakes, or null */
export async function findRemovable(
  db: Db,
  service: Pick<Service, 'secrets' | 'config'>,
  { email, note }: { email: string; note: string | null },
): Promise<readonly ListedSuppression[]> {
  const entries = await suppressionsFor(db, service, email);
  const removable = entries.filter((entry) => isRemovable(entry, note !== null));
  if (removable.length === 0) throw nothingToRemove(email, entries, service.config);
  return removable;
}

/** A removal with a note becomes an entry of the chain at once, so the withdrawal that it undoes must be sealed before. */
export async function sealBeforeRemoval(
  service: Service,
  { note, signal }: { note: string | null; signal: AbortSignal },
): Promise<void> {
  if (note !== null) await sealAll(service, { signal });
  signal.throwIfAborted();
}

/** @param tx must have locked the e-mail address */
export async function removeSuppressions(
  tx: Db,
  { secrets, clock, config }: Pick<Service, 'secrets' | 'clock' | 'config'>,
  { email, removable, note }: { email: string; removable: readonly ListedSuppression[]; note: string | null },
): ReturnType<typeof undoSuppressions> {
  const result = await undoSuppressions(tx, {
    address: addressKeysOf({ secrets }, email),
    reasons: removable.map((entry) => entry.reason),
    note,
    secrets,
    now: clock(),
  });
  if (result.removed.length === 0) throw nothingToRemove(email, result.remaining, config);
  return result;
}

export const describeSuppressions = (
  entries: readonly ListedSuppression[],
  { timeZone }: Pick<Config, 'timeZone'>,
): string =>
  entries
    .map(
      ({ reason, since, note }) =>
        `${reason} since ${formatMinute(isoTime(since), timeZone)}${note === null ? '' : `, “${note}”`}`,
    )
    .join('; ');

function nothingToRemove(
  email: string,
  entries: readonly ListedSuppression[],
  config: Config,
): CommandFailure {
  if (entries.length === 0) return new CommandFailure(`${email} is not suppressed.`);
  const noted = entries.find(({ owner }) => owner === 'noted');
  const state = `${email} is suppressed: ${describeSuppressions(entries, config)}.`;
  return new CommandFailure(
    noted === undefined
      ? `${state} This was the person’s own decision, so only a newly verified consent can lift the suppression.`
      : `${state} You noted that the person unsubscribed, so a newly verified consent lifts the suppression. If your note was a mistake, explain why with --reason "…".`,
  );
}
