// Checks the chain of consent proofs: that its entries follow each other up to a head that we signed, and that what was sealed and the
// rows as they stand say the same, both ways. Changes nothing.
import { sql } from 'kysely';

import { collectGarbage, createCollector } from '#server/platform/collect-garbage.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import {
  checkEntry,
  entriesAfter,
  erasuresOf,
  readSealed,
  returnedOf,
  stateOf,
  type ChainFault,
  type FaultKind,
  type Sealed,
} from '#server/db/across/consent-entries.ts';
import { OVERLAP_MS, unsealedPages } from '#server/db/across/consent-sealing.ts';
import {
  acceptancesIn,
  GENESIS,
  hashOfEntry,
  signedHead,
  type AcceptedFault,
  type ChainEntry,
  type ChainHead,
  type ChainSigner,
  type ConsentProof,
  type RemovalProof,
  type WithdrawalProof,
} from '#server/db/tables/consent-chain.ts';

/** They end with a new signature, which is what accepting them makes. */
const ENDED_BY_SIGNING: ReadonlySet<string> = new Set<FaultKind>(['unsigned', 'cut', 'signature']);

export type ChainReport = {
  readonly entries: number;
  /** Of people who were erased: their places are checked, their contents are gone. */
  readonly erased: number;
  readonly head: ChainHead;
  /** How many faults there are; the first hundred are listed. */
  readonly faultCount: number;
  readonly faults: readonly ChainFault[];
  /** Faults that the operator has looked into ("consent accept"); the first hundred. */
  readonly accepted: readonly AcceptedFault[];
};

/** An entry, what was sealed in it if that can be read, and the address that its row belongs to now. */
export type CheckedEntry = {
  readonly entry: ChainEntry;
  readonly sealed: Sealed | null;
  readonly standingEmail: string | null;
};

const MOST_FAULTS = 100;

/**
 * Checks the whole chain, a page at a time, beside processes that append to it.
 * @param options now: milliseconds since 1970. anchor: the head that was printed at another time; it has to be in the chain.
 *   onChecked: called with the number of entries checked so far; may throw to end the check. onEntry: called for each entry, before its
 *   faults. onFault: called for each fault, without a limit
 */
export async function verifyChain(
  db: Db,
  {
    signer,
    now,
    anchor,
    onChecked = () => {},
    onEntry = () => {},
    onFault = () => {},
  }: {
    signer: ChainSigner;
    now: number;
    anchor?: ChainHead | undefined;
    onChecked?: (entries: number) => void;
    onEntry?: (entry: CheckedEntry) => void;
    onFault?: (fault: ChainFault, isAccepted: boolean) => void;
  },
): Promise<ChainReport> {
  const acceptances = await readAcceptances(db, signer);
  const accepted: AcceptedFault[] = acceptances.ended.slice(0, MOST_FAULTS);
  const faults: ChainFault[] = [];
  let faultCount = 0;
  const report = (fault: ChainFault) => {
    const isAccepted = acceptances.known.has(keyOf(fault));
    if (!isAccepted) faultCount += 1;
    const list = isAccepted ? accepted : faults;
    if (list.length < MOST_FAULTS) list.push(fault);
    onFault(fault, isAccepted);
  };
  let entries = 0;
  let erased = 0;
  let head: ChainHead = { position: 0, hash: GENESIS };
  let after = Number.MIN_SAFE_INTEGER;
  let isAnchored = anchor?.position === 0 && anchor.hash === GENESIS;
  // What starting left: the peak is 10 MB lower.
  collectGarbage();
  const collect = createCollector();

  /** @returns whether there was anything to check */
  const checkRest = async (): Promise<boolean> => {
    const before = entries;
    const readAfter = (position: number) => entriesAfter(db, position);
    for await (const page of pagesAfter(after, readAfter, ({ position }) => position)) {
      collect();
      const erasures = await erasuresOf(db, page);
      const emptied: number[] = [];
      for (const row of page) {
        const checked = checkEntry(row, erasures);
        const { entry, sealed } = checked;
        entries += 1;
        after = entry.position;
        if (checked.isErased) erased += 1;
        if (sealed !== null && 'erasure' in sealed) emptied.push(...sealed.positions);
        onEntry(checked);
        const place = placeFault(head, entry);
        if (place !== null) report(place);
        for (const fault of checked.faults) report(fault);
        if (entry.position > 0) head = { position: entry.position, hash: entry.hash };
        if (entry.position === anchor?.position) isAnchored = entry.hash === anchor.hash;
      }
      for (const fault of await returnedOf(db, emptied)) report(fault);
      onChecked(entries);
    }
    return entries > before;
  };

  await checkRest();
  // What is appended meanwhile is signed meanwhile: a head is compared when it was read after all that it covers.
  let signed = await signedHead(db, signer);
  while (await checkRest()) signed = await signedHead(db, signer);
  for (const fault of await headFaults(db, signed, head)) report(fault);
  await findForgotten(db, { now, collect, report });
  if (anchor !== undefined && !isAnchored) report({ kind: 'anchor', position: anchor.position, state: '' });
  return { entries, erased, head, faultCount, faults, accepted };
}

const keyOf = ({ position, kind, state }: AcceptedFault): string => `${position} ${kind} ${state}`;

/** Acceptances that the signed head covers: a stranger may append others. */
async function readAcceptances(db: Db, signer: ChainSigner) {
  const known = new Set<string>();
  const ended: AcceptedFault[] = [];
  const signed = await signedHead(db, signer);
  if (signed === null || !signed.isGenuine) return { known, ended };
  for (const entry of await acceptancesIn(db)) {
    const sealed = readSealed(entry);
    if (entry.position > signed.position || sealed === null || !('accepted' in sealed)) continue;
    for (const fault of sealed.faults) {
      if (ENDED_BY_SIGNING.has(fault.kind)) ended.push(fault);
      else known.add(keyOf(fault));
    }
  }
  return { known, ended };
}

function placeFault(before: ChainHead, entry: ChainEntry): ChainFault | null {
  const { position, hash, content_hash: contentHash } = entry;
  const fault = (kind: FaultKind) => ({
    kind,
    position,
    // The hash before covers all that comes before it: a fault that was accepted vouches for that as well.
    state: stateOf(before.hash, contentHash, hash),
  });
  if (position < 1) return fault('start');
  if (position !== before.position + 1) return fault('gap');
  return hash === hashOfEntry(before.hash, position, contentHash) ? null : fault('link');
}

type InChain<Proof> = Pick<ChainEntry, 'position' | 'receipt_id' | 'salt' | 'content_hash' | 'hash'> & {
  readonly proof: Proof;
};
export type PlacedConsent = InChain<ConsentProof>;
export type PlacedWithdrawal = InChain<WithdrawalProof>;
export type PlacedRemoval = InChain<RemovalProof>;

/** Whether a fault of the chain leaves unproved what stands between these places: its end vouches for all that comes before. */
function isBreakFor({ kind, position }: ChainFault, first: number, last: number): boolean {
  if (kind === 'cut' || kind === 'signature') return true;
  if (kind === 'unsigned') return last >= (position ?? 0);
  return (kind === 'gap' || kind === 'link') && first <= (position ?? 0);
}

/**
 * What was sealed about an address, the oldest first, with what shows its place in the chain. Goes through the whole chain, because its
 * end vouches for each entry, and because a row that was changed no longer leads to its entry.
 * @param options as for {@link verifyChain}
 * @returns also the faults of these entries, and those of the chain that leave them unproved. An entry whose content does not fit its
 *   hash is among the faults alone
 */
export async function checkedProofsOf(
  db: Db,
  email: string,
  options: Pick<Parameters<typeof verifyChain>[1], 'signer' | 'now' | 'onChecked'>,
): Promise<{
  readonly consents: readonly PlacedConsent[];
  readonly withdrawals: readonly PlacedWithdrawal[];
  readonly removals: readonly PlacedRemoval[];
  readonly faults: readonly (ChainFault & { readonly isAccepted: boolean })[];
}> {
  const consents: PlacedConsent[] = [];
  const withdrawals: PlacedWithdrawal[] = [];
  const removals: PlacedRemoval[] = [];
  const own: number[] = [];
  const found: (ChainFault & { readonly isAccepted: boolean })[] = [];
  let breaks = 0;
  await verifyChain(db, {
    ...options,
    onEntry: ({ entry, sealed, standingEmail }) => {
      const sealedEmail = sealed !== null && 'email' in sealed ? sealed.email : null;
      if (email !== sealedEmail && email !== standingEmail) return;
      const { position, receipt_id, salt, content_hash, hash } = entry;
      own.push(position);
      const place = { position, receipt_id, salt, content_hash, hash };
      if (sealedEmail !== email) return;
      if (sealed !== null && 'receipt' in sealed) consents.push({ ...place, proof: sealed });
      if (sealed !== null && 'withdrawal' in sealed) withdrawals.push({ ...place, proof: sealed });
      if (sealed !== null && 'removal' in sealed) removals.push({ ...place, proof: sealed });
    },
    onFault: (fault, isAccepted) => {
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined) return;
      const isBreak = isBreakFor(fault, first, last) && (breaks += 1) <= MOST_FAULTS;
      if (isBreak || (fault.position !== null && own.includes(fault.position)))
        found.push({ ...fault, isAccepted });
    },
  });
  return { consents, withdrawals, removals, faults: found };
}

/** Compares the signed head with the chain. The state of these faults is never compared: a new signature ends them. */
async function headFaults(
  db: Db,
  signed: Awaited<ReturnType<typeof signedHead>>,
  newest: ChainHead,
): Promise<readonly ChainFault[]> {
  if (signed === null) return newest.position === 0 ? [] : [{ kind: 'unsigned', position: 1, state: '' }];
  const { position, isGenuine } = signed;
  const found: ChainFault[] = isGenuine ? [] : [{ kind: 'signature', position, state: '' }];
  const hash = position === 0 ? GENESIS : await hashAt(db, position);
  if (hash !== signed.hash) found.push({ kind: 'cut', position, state: '' });
  else if (newest.position > position) found.push({ kind: 'unsigned', position: position + 1, state: '' });
  return found;
}

const hashAt = async (db: Db, position: number): Promise<string | undefined> =>
  (await db.selectFrom('consent_chain').select('hash').where('position', '=', position).executeTakeFirst())
    ?.hash;

/** Reports receipts and withdrawals that should have been sealed by now. The newest still wait for the outcome of their mail. */
async function findForgotten(
  db: Db,
  { now, collect, report }: { now: number; collect: () => void; report: (fault: ChainFault) => void },
): Promise<void> {
  for await (const ids of unsealedPages(db, '')) {
    collect();
    if (ids.length === 0) continue;
    const isRecent = (column: 'verified_at' | 'withdrawn_at') =>
      sql<boolean>`${sql.ref(column)} between ${now - OVERLAP_MS} and ${now + OVERLAP_MS}`;
    const rows = await db
      .selectFrom('consent_receipts')
      .select('id')
      .where('id', 'in', ids)
      .where((eb) => eb.not(isRecent('verified_at')))
      .unionAll(
        db
          .selectFrom('withdrawals')
          .select('id')
          .where('id', 'in', ids)
          .where((eb) => eb.not(isRecent('withdrawn_at'))),
      )
      .execute();
    for (const { id } of rows) report({ kind: 'unsealed', position: null, id, state: stateOf(id) });
  }
}
