// One entry of the chain of consent proofs at a time: reads it with the row that it is about, and finds what is wrong with it by itself.
// consent-check.ts checks that the entries follow each other.
import { isDeepStrictEqual } from 'node:util';

import { sql } from 'kysely';

import type { Db } from '#server/db/engine/connect.ts';
import { statement, type Value } from '#server/db/engine/statement.ts';
import {
  ANSWERS,
  removalProofOf,
  standingProofOf,
  withdrawalProofOf,
  type StandingConsent,
  type StandingRemoval,
  type StandingWithdrawal,
} from '#server/db/across/consent-sealing.ts';
import {
  hashOfContent,
  sha256,
  type AcceptanceNote,
  type ChainEntry,
  type ConsentProof,
  type ErasureNote,
  type RemovalProof,
  type WithdrawalProof,
} from '#server/db/tables/consent-chain.ts';

/** What is wrong with an entry, or with the whole chain. */
export type FaultKind =
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

/** What the content of an entry can be. */
export type Sealed = ConsentProof | WithdrawalProof | RemovalProof | ErasureNote | AcceptanceNote;

const PAGE_SIZE = 100;

/** Hash of what is wrong, for {@link ChainFault}. */
export const stateOf = (...what: readonly unknown[]): string => sha256(JSON.stringify(what)).slice(0, 32);

/** What the content says; null when it is gone, does not fit its hash, or is nothing that this page seals. */
export function readSealed({
  content,
  salt,
  content_hash: hash,
}: Pick<ChainEntry, 'content' | 'salt' | 'content_hash'>): Sealed | null {
  if (content === null || salt === null || hashOfContent(salt, content) !== hash) return null;
  try {
    const sealed = JSON.parse(content) as Sealed;
    if ('receipt' in sealed || 'withdrawal' in sealed || 'removal' in sealed) return sealed;
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
  if ('removal' in sealed) return sealed.removal;
  return 'erasure' in sealed ? sealed.erasure : sealed.accepted;
};

type Row = Awaited<ReturnType<typeof entriesAfter>>[number];

/**
 * Checks an entry by itself, and against what it is about.
 * @param erasures of its page: {@link erasuresOf}
 */
export function checkEntry(
  entry: Row,
  erasures: ReadonlyMap<number, readonly number[]>,
): {
  readonly entry: ChainEntry;
  readonly sealed: Sealed | null;
  /** The address that its row belongs to now. */
  readonly standingEmail: string | null;
  readonly isErased: boolean;
  readonly faults: readonly ChainFault[];
} {
  const standing = standingOf(entry);
  const standingEmail = standing?.email ?? null;
  const { position, content, salt } = entry;
  const faultOf = (kind: FaultKind, fields?: readonly string[]): ChainFault => ({
    kind,
    position,
    ...(fields && { fields }),
    // The salt goes when the person is erased, and with it all that this hash could tell.
    state: stateOf(salt, content, entry.receipt_id, standing),
  });
  if (content === null || salt === null) {
    const isNamed = erasures.get(entry.erased_by ?? 0)?.includes(position) === true;
    const faults = isNamed && standing === null ? [] : [faultOf('emptied')];
    return { entry, sealed: null, standingEmail, isErased: true, faults };
  }
  const sealed = readSealed(entry);
  const faults: ChainFault[] = [];
  if (sealed === null) {
    const kind = hashOfContent(salt, content) === entry.content_hash ? 'foreign' : 'content';
    return { entry, sealed, standingEmail, isErased: false, faults: [faultOf(kind)] };
  }
  if (idIn(sealed) !== entry.receipt_id) faults.push(faultOf('receipt'));
  else if ('receipt' in sealed || 'withdrawal' in sealed || 'removal' in sealed) {
    if (standing === null) faults.push(faultOf('missing'));
    else {
      const fields = differences(sealed, standing);
      if (fields.length > 0) faults.push(faultOf('differs', fields));
    }
  }
  return { entry, sealed, standingEmail, isErased: false, faults };
}

/**
 * Fields that say something else than was sealed. Only what both have: a later release may ask for more, or less. Answers of a
 * campaign's own are not in a row that has none.
 */
const differences = (
  sealed: ConsentProof | WithdrawalProof | RemovalProof,
  standing: Readonly<Record<string, unknown>>,
): string[] =>
  Object.entries(sealed)
    .filter(
      ([field, value]) =>
        value !== standing[field] &&
        (field in standing || field === 'answers') &&
        !isDeepStrictEqual(value, standing[field]),
    )
    .map(([field]) => field);

const pageAfter = statement((db, value: Value<{ readonly after: number }>) =>
  db
    // The page first: either database then looks up the few rows that belong to it by their keys.
    .selectFrom((eb) =>
      eb
        .selectFrom('consent_chain')
        .selectAll()
        .where('position', '>', value('after'))
        .orderBy('position')
        .limit(PAGE_SIZE)
        .as('k'),
    )
    .leftJoin('consent_receipts as r', 'r.id', 'k.receipt_id')
    .leftJoin('withdrawals as t', 't.id', 'k.receipt_id')
    .leftJoin('suppression_removals as x', 'x.id', 'k.receipt_id')
    .leftJoin('leads as l', (join) =>
      join.on('l.id', '=', sql<string>`coalesce(r.lead_id, t.lead_id, x.lead_id)`),
    )
    .leftJoin('submissions as s', 's.id', 'r.submission_id')
    .leftJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    .selectAll('k')
    .select([
      'x.reasons',
      'x.note',
      'l.email',
      ...ANSWERS,
      'r.consent_version',
      'w.text',
      'r.verified_from_address',
      'r.same_browser',
      't.way',
    ])
    .select((eb) => [
      eb.fn.coalesce('r.id', 't.id', 'x.id').as('id'),
      eb.fn.coalesce('r.client_address', 't.client_address').as('client_address'),
      eb.fn.coalesce('r.user_agent', 't.user_agent').as('user_agent'),
      // As text: a stranger may have put a number there that is too large to be read as one.
      eb.cast<string | null>('r.given_at', 'text').as('given_at'),
      eb.cast<string | null>('r.verified_at', 'text').as('verified_at'),
      eb.cast<string | null>('t.withdrawn_at', 'text').as('withdrawn_at'),
      eb.cast<string | null>('x.removed_at', 'text').as('removed_at'),
    ])
    .orderBy('k.position'),
);

/** A page of entries, each with what the rows that it is about say now. */
export const entriesAfter = async (db: Db, after: number) => (await pageAfter(db, { after })).rows;

/** What a proof made now would say. Rows that it should refer to may be gone: their fields are null then, and differ. */
function standingOf(row: Row): Partial<ConsentProof & WithdrawalProof & RemovalProof> | null {
  const { verified_at, withdrawn_at, removed_at } = row;
  if (verified_at !== null) {
    const times = { given_at: Number(row.given_at), verified_at: Number(verified_at) };
    return standingProofOf({ ...row, ...times } as unknown as StandingConsent);
  }
  if (withdrawn_at !== null)
    return withdrawalProofOf({
      ...row,
      withdrawn_at: Number(withdrawn_at),
    } as unknown as StandingWithdrawal);
  if (removed_at !== null)
    return removalProofOf({ ...row, removed_at: Number(removed_at) } as unknown as StandingRemoval);
  return null;
}

/**
 * The erasures that emptied entries of a page. They are never deleted, so they can be read after it.
 * @returns by their places, the places that each of them names
 */
export async function erasuresOf(
  db: Db,
  page: readonly Pick<ChainEntry, 'erased_by'>[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  // A stranger may have written any number.
  const positions = new Set(
    page.flatMap(({ erased_by: at }) => (Number.isSafeInteger(at) ? (at ?? []) : [])),
  );
  if (positions.size === 0) return new Map();
  const entries = await db
    .selectFrom('consent_chain')
    .select(['position', 'content', 'salt', 'content_hash'])
    .where('position', 'in', [...positions])
    .execute();
  return new Map(
    entries.map((entry) => {
      const sealed = readSealed(entry);
      return [entry.position, sealed !== null && 'erasure' in sealed ? sealed.positions : []];
    }),
  );
}

/** Entries that an erasure names, and whose content is there. */
export async function returnedOf(db: Db, positions: readonly number[]): Promise<readonly ChainFault[]> {
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
