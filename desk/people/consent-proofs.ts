// The proofs of a person's consent: sealed, checked with the whole chain they stand in, and as a page to print.
import { setImmediate } from 'node:timers/promises';

import { consentPage } from '#desk/people/consent-page.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { personalDataOf } from '#desk/people/held-data.ts';
import {
  checkedProofsOf,
  type PlacedConsent,
  type PlacedRemoval,
  type PlacedWithdrawal,
} from '#server/db/across/consent-check.ts';
import type { ChainFault } from '#server/db/across/consent-entries.ts';
import type { AcceptedFault } from '#server/db/tables/consent-chain.ts';
import { createCollector } from '#server/platform/collect-garbage.ts';
import type { Service } from '#server/run/service.ts';
import { chainSignerOf } from '#server/secrets/secrets.ts';
import { sealConsents } from '#server/upkeep/consent-sealer.ts';

/** Work on the whole chain takes seconds for each 100,000 consents. */
export type Watching = {
  readonly signal: AbortSignal;
  readonly onSealed: (count: number) => void;
  readonly onChecked: (count: number) => void;
};

/** Puts every proof into the chain that can be sealed. */
export const sealAll = (
  service: Service,
  { signal, onSealed }: Pick<Watching, 'signal'> & Partial<Pick<Watching, 'onSealed'>>,
): Promise<unknown> => {
  const collect = createCollector();
  return sealConsents(service, {
    shouldStop: () => signal.aborted,
    ...(onSealed && { onSealed }),
    rest: () => {
      collect();
      return setImmediate();
    },
  });
};

/** The options of a check of the whole chain. */
export const checking = (
  { secrets, clock }: Pick<Service, 'secrets' | 'clock'>,
  { signal, onChecked }: Pick<Watching, 'signal' | 'onChecked'>,
) => ({
  signer: chainSignerOf(secrets),
  now: clock(),
  onChecked: (checked: number) => {
    signal.throwIfAborted();
    onChecked(checked);
  },
});

/**
 * The proofs of an address.
 * @param email as stored
 * @returns a document for programs, a page to print, and whether they prove the consent: no fault was found that is not accepted
 * @throws {CommandFailure} when there are none
 */
export async function consentProofs(
  service: Service,
  email: string,
  watching: Watching,
): Promise<{
  readonly document: {
    readonly email: string;
    readonly faults: readonly string[];
    readonly proofs: readonly PlacedConsent[];
    readonly withdrawals: readonly PlacedWithdrawal[];
    readonly removals: readonly PlacedRemoval[];
  };
  readonly page: string;
  readonly isProved: boolean;
}> {
  await sealAll(service, watching);
  const { database, campaign, clock } = service;
  const checked = await checkedProofsOf(database.db, email, checking(service, watching));
  const { consents: proofs, withdrawals, removals, faults: found } = checked;
  if (proofs.length + withdrawals.length + removals.length + found.length === 0) {
    await personalDataOf(database.db, email);
    throw new CommandFailure(
      `${email} has verified no consent here, so there is no proof. The story says what is held: show ${email}`,
    );
  }
  const faults = found.map((fault) => `${fault.isAccepted ? 'Accepted: ' : ''}${sayChainFault(fault)}`);
  const document = { email, faults, proofs, withdrawals, removals };
  return {
    document,
    page: consentPage({ ...document, title: campaign.site.title, writtenAt: new Date(clock()) }),
    isProved: found.every(({ isAccepted }) => isAccepted),
  };
}

const FAULTS: Readonly<Record<ChainFault['kind'], string>> = {
  start: 'it stands before the beginning of the chain',
  gap: 'entries before it are missing',
  link: 'it does not follow the entry before it',
  content: 'its content was changed',
  foreign: 'its content is nothing that this page seals',
  receipt: 'it was sealed for another receipt',
  emptied: 'its content is gone, though the person was not erased',
  returned: 'the person was erased, and its content is there again',
  missing: 'its receipt or withdrawal is gone, though the person was not erased',
  differs: 'its receipt or withdrawal was changed',
  unsealed: 'it is in no entry',
  unsigned: 'from here on, no signature covers the chain',
  cut: 'it was the newest one, signed by this page, and is gone or another now',
  signature: 'it is the newest one, and none of the secrets of APP_SECRET signed it',
  anchor: 'it is not the entry that was anchored',
};

/** One sentence about a fault. */
export function sayChainFault({
  position,
  kind,
  fields,
  id = '',
}: AcceptedFault & Pick<ChainFault, 'fields'>): string {
  // An acceptance that a later release wrote may name other kinds.
  const what = (FAULTS as Readonly<Record<string, string>>)[kind] ?? kind;
  const where = position === null ? `Receipt or withdrawal ${id}` : `Entry ${position}`;
  return `${where}: ${what}${fields === undefined ? '' : ` (${fields.join(', ')})`}.`;
}
