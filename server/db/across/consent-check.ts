// Checks the chain of consent proofs: that its entries follow each other up to a head that we signed, and that what was sealed and the
// rows as they stand say the same, both ways. Changes nothing.
import { isDeepStrictEqual } from 'node:util';

import { sql } from 'kysely';

import { createCollector } from '#server/platform/collect-garbage.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { pagesAfter } from '#server/db/engine/pages.ts';
import {
  ANSWERS,
  OVERLAP_MS,
  standingProofOf,
  unsealedPages,
  withdrawalProofOf,
  type StandingConsent,
  type StandingWithdrawal,
} from '#server/db/across/consent-sealing.ts';
import {
  acceptancesIn,
  GENESIS,
  hashOfContent,
  hashOfEntry,
  sha256,
  signedHead,
  type AcceptanceNote,
  type AcceptedFault,
  type ChainEntry,
  type ChainHead,
  type ChainSigner,
  type ConsentProof,
  type ErasureNote,
  type WithdrawalProof,
} from '#server/db/tables/consent-chain.ts';

/** What is wrong with an entry, or with the whole chain. */
type FaultKind =
  /** It stands before the first place. */
  | 'start'
  /** Entries are missing before it. */
  | 'gap'
  /** It does not follow the one before. */
  | 'link'
  /** Its content does not fit its hash. */
  | 'content'
  /** Its content is nothing that this page seals. */
  | 'foreign'
  /** It carries the id of another receipt. */
  | 'receipt'
  /** Its content went, and no erasure names it; or what it was made of stands. */
  | 'emptied'
  /** An erasure names it, and its content is there. */
  | 'returned'
  /** Its receipt or withdrawal went, and the entry was not erased. */
  | 'missing'
  /** Its row says something else. */
  | 'differs'
  /** A receipt or withdrawal that is in no entry, long after it was made. */
  | 'unsealed'
  /** From it on, no signature covers the chain. */
  | 'unsigned'
  /** The signed head is not in the chain. */
  | 'cut'
  /** None of our secrets signed the head. */
  | 'signature'
  /** It is not the one that was anchored. */
  | 'anchor';

export type ChainFault = {
  /** Null for `unsealed`. */
  readonly position: number | null;
  readonly kind: FaultKind;
  /** `differs`: what was sealed and is otherwise now. */
  readonly fields?: readonly string[];
  /** `unsealed`: the id of the row. */
  readonly id?: string;
  /** Hash of what is wrong; an acceptance holds for this state alone. */
  readonly state: string;
};

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
type Sealed = ConsentProof | WithdrawalProof | ErasureNote | AcceptanceNote;

const PAGE_SIZE = 500;
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
  const collect = createCollector();

  /** @returns whether there was anything to check */
  const checkRest = async (): Promise<boolean> => {
    const before = entries;
    const readAfter = (position: number) => pageAfter(db, position);
    for await (const page of pagesAfter(after, readAfter, ({ entry }) => entry.position)) {
      collect(page.length);
      const emptied: number[] = [];
      for (const row of page) {
        const { entry } = row;
        entries += 1;
        after = entry.position;
        const checked = checkEntry(row);
        if (checked.isErased) erased += 1;
        if (checked.sealed !== null && 'erasure' in checked.sealed) emptied.push(...checked.sealed.positions);
        onEntry({ entry, sealed: checked.sealed, standingEmail: row.standing?.email ?? null });
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
  await findForgotten(db, now, report);
  if (anchor !== undefined && !isAnchored) report({ kind: 'anchor', position: anchor.position, state: '' });
  return { entries, erased, head, faultCount, faults, accepted };
}

const keyOf = ({ position, kind, state }: AcceptedFault): string => `${position} ${kind} ${state}`;
const stateOf = (...what: readonly unknown[]): string => sha256(JSON.stringify(what)).slice(0, 32);

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
  readonly faults: readonly (ChainFault & { readonly isAccepted: boolean })[];
}> {
  const consents: PlacedConsent[] = [];
  const withdrawals: PlacedWithdrawal[] = [];
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
    },
    onFault: (fault, isAccepted) => {
      const [first, last] = [own[0], own.at(-1)];
      if (first === undefined || last === undefined) return;
      const isBreak = isBreakFor(fault, first, last) && (breaks += 1) <= MOST_FAULTS;
      if (isBreak || (fault.position !== null && own.includes(fault.position)))
        found.push({ ...fault, isAccepted });
    },
  });
  return { consents, withdrawals, faults: found };
}

/** What the content says; null when it is gone, does not fit its hash, or is nothing that this page seals. */
function readSealed({
  content,
  salt,
  content_hash: hash,
}: Pick<ChainEntry, 'content' | 'salt' | 'content_hash'>): Sealed | null {
  if (content === null || salt === null || hashOfContent(salt, content) !== hash) return null;
  try {
    const sealed = JSON.parse(content) as Sealed;
    if ('receipt' in sealed || 'withdrawal' in sealed) return sealed;
    if ('erasure' in sealed)
      return sealed.positions.every((position) => Number.isSafeInteger(position)) ? sealed : null;
    return 'accepted' in sealed && Array.isArray(sealed.faults) ? sealed : null;
  } catch {
    return null;
  }
}

const idIn = (sealed: Sealed): string => {
  if ('receipt' in sealed) return sealed.receipt;
  if ('withdrawal' in sealed) return sealed.withdrawal;
  return 'erasure' in sealed ? sealed.erasure : sealed.accepted;
};

type Row = Awaited<ReturnType<typeof pageAfter>>[number];

function checkEntry({ entry, standing, erasure }: Row): {
  readonly sealed: Sealed | null;
  readonly isErased: boolean;
  readonly faults: readonly ChainFault[];
} {
  const { position, content, salt } = entry;
  const faultOf = (kind: FaultKind, fields?: readonly string[]): ChainFault => ({
    kind,
    position,
    ...(fields && { fields }),
    // The salt goes when the person is erased, and with it all that this hash could tell.
    state: stateOf(salt, content, entry.receipt_id, standing),
  });
  if (content === null || salt === null) {
    const note = erasure === null ? null : readSealed(erasure);
    const isNamed = note !== null && 'erasure' in note && note.positions.includes(position);
    const faults = isNamed && standing === null ? [] : [faultOf('emptied')];
    return { sealed: null, isErased: true, faults };
  }
  const sealed = readSealed(entry);
  const faults: ChainFault[] = [];
  if (sealed === null) {
    const kind = hashOfContent(salt, content) === entry.content_hash ? 'foreign' : 'content';
    return { sealed, isErased: false, faults: [faultOf(kind)] };
  }
  if (idIn(sealed) !== entry.receipt_id) faults.push(faultOf('receipt'));
  else if ('receipt' in sealed || 'withdrawal' in sealed) {
    if (standing === null) faults.push(faultOf('missing'));
    else {
      const fields = differences(sealed, standing);
      if (fields.length > 0) faults.push(faultOf('differs', fields));
    }
  }
  return { sealed, isErased: false, faults };
}

/** Fields that say something else than was sealed. Only what both have: a later release may ask for more, or less. */
const differences = (
  sealed: ConsentProof | WithdrawalProof,
  standing: Readonly<Record<string, unknown>>,
): string[] =>
  Object.entries(sealed)
    .filter(([field, value]) => field in standing && !isDeepStrictEqual(value, standing[field]))
    .map(([field]) => field);

/** A page of entries, each with what its row says now, and the entry of the erasure that emptied it. */
async function pageAfter(db: Db, after: number) {
  const rows = await db
    // The page first: either database then looks up the few rows that belong to it by their keys.
    .selectFrom((eb) =>
      eb
        .selectFrom('consent_chain')
        .selectAll()
        .where('position', '>', after)
        .orderBy('position')
        .limit(PAGE_SIZE)
        .as('k'),
    )
    .leftJoin('consent_receipts as r', 'r.id', 'k.receipt_id')
    .leftJoin('withdrawals as t', 't.id', 'k.receipt_id')
    .leftJoin('leads as l', (join) => join.on('l.id', '=', sql<string>`coalesce(r.lead_id, t.lead_id)`))
    .leftJoin('submissions as s', 's.id', 'r.submission_id')
    .leftJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    .leftJoin('consent_chain as e', 'e.position', 'k.erased_by')
    .selectAll('k')
    .select([
      'r.id as consent_id',
      't.id as withdrawal_id',
      'l.email',
      ...ANSWERS,
      'r.consent_version',
      'w.text',
      'r.verified_from_address',
      'r.same_browser',
      't.way',
      'e.content as erasure_content',
      'e.salt as erasure_salt',
      'e.content_hash as erasure_hash',
    ])
    .select((eb) => [
      eb.fn.coalesce('r.client_address', 't.client_address').as('client_address'),
      eb.fn.coalesce('r.user_agent', 't.user_agent').as('user_agent'),
      // As text: a stranger may have put a number there that is too large to be read as one.
      eb.cast<string | null>('r.given_at', 'text').as('given_at'),
      eb.cast<string | null>('r.verified_at', 'text').as('verified_at'),
      eb.cast<string | null>('t.withdrawn_at', 'text').as('withdrawn_at'),
    ])
    .orderBy('k.position')
    .execute();
  return rows.map((row) => {
    const { position, receipt_id, content, salt, content_hash, hash, sealed_at, erased_by } = row;
    const entry: ChainEntry = {
      position,
      receipt_id,
      content,
      salt,
      content_hash,
      hash,
      sealed_at,
      erased_by,
    };
    return {
      entry,
      standing: standingOf({
        ...row,
        given_at: Number(row.given_at),
        verified_at: Number(row.verified_at),
        withdrawn_at: Number(row.withdrawn_at),
      }),
      erasure:
        row.erasure_hash === null
          ? null
          : { content: row.erasure_content, salt: row.erasure_salt, content_hash: row.erasure_hash },
    };
  });
}

/** What a proof made now would say. Rows that it should refer to may be gone: their fields are null then, and differ. */
function standingOf(
  row: { readonly consent_id: string | null; readonly withdrawal_id: string | null } & Readonly<
    Record<string, unknown>
  >,
): Partial<ConsentProof & WithdrawalProof> | null {
  if (row.consent_id !== null)
    return standingProofOf({ ...row, id: row.consent_id } as unknown as StandingConsent);
  if (row.withdrawal_id !== null)
    return withdrawalProofOf({ ...row, id: row.withdrawal_id } as unknown as StandingWithdrawal);
  return null;
}

/** Entries that an erasure names, and whose content is there. */
async function returnedOf(db: Db, positions: readonly number[]): Promise<readonly ChainFault[]> {
  const found: ChainFault[] = [];
  for (let from = 0; from < positions.length; from += PAGE_SIZE) {
    const rows = await db
      .selectFrom('consent_chain')
      .select(['position', 'salt', 'content'])
      .where('position', 'in', positions.slice(from, from + PAGE_SIZE))
      .where('content', 'is not', null)
      .execute();
    for (const { position, salt, content } of rows)
      found.push({ kind: 'returned', position, state: stateOf(salt, content) });
  }
  return found;
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
async function findForgotten(db: Db, now: number, report: (fault: ChainFault) => void): Promise<void> {
  const collect = createCollector();
  for await (const ids of unsealedPages(db, '')) {
    collect(ids.length);
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
