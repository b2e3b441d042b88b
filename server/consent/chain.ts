// Each entry holds the hash of the previous one, and the newest is signed with a key outside the database. One process at a
// time appends.
import { hash as hashOf, randomBytes } from 'node:crypto';

import { sql, type RawBuilder, type Selectable } from 'kysely';

import type { RowFacts } from '#server/consent/row-facts.ts';
import { acquireLocks, type Db } from '#server/db/engine/connect.ts';
import { changedRows } from '#server/db/engine/row-counts.ts';
import type { Schema } from '#server/db/all-tables.ts';
import { isoTime } from '#server/platform/time.ts';
import { signerOf, type Secrets } from '#server/secrets/secrets.ts';

export type ChainEntry = Selectable<Schema['consent_chain']>;
export type ChainHead = { readonly position: number; readonly hash: string };

export type RowKind = keyof RowFacts;

export type Contents = RowFacts & {
  readonly consent: RowFacts['consent'] & {
    readonly page: string;
    readonly message_id: string | null;
    readonly mailed_at: string | null;
    readonly reply: string | null;
  };
  readonly erasure: { readonly erased_at: string };
  readonly acceptance: { readonly errors: readonly ChainError[]; readonly accepted_at: string };
};

/** Contains no personal data, because an accepted error stays in the chain. */
export type ChainError = {
  /** Null if a consent or withdrawal has no entry. */
  readonly position: number | null;
  readonly expected: string;
  readonly found: string;
  /** The entries that the error leaves unproven, as the first and last; [0, -1] for none. */
  readonly unproves: 'all' | readonly [first: number, last: number];
  /** Hash of the finding, so accepting an error accepts no other at this position. */
  readonly fingerprint: string;
};

export type NewEntry = {
  readonly [Kind in ChainEntry['kind']]: {
    readonly kind: Kind;
    /** The ID of the row that the entry proves; of the emptied entry's row for an erasure. Acceptances are numbered. */
    readonly rowId: string;
    readonly content: Contents[Kind];
  };
}[ChainEntry['kind']];

const SALT_BYTES = 16;
export const sha256 = (text: string): string => hashOf('sha256', text);

/** The salt is erased with the content. Without the salt, nobody can guess the content from the hash. */
export const hashOfContent = (salt: string, content: string): string => sha256(`${salt}\n${content}`);

/** Covers the whole entry except sealed_at, which only tells a reader of the table when the entry was appended. */
export const hashOfEntry = (
  entry: Pick<ChainEntry, 'previous' | 'position' | 'kind' | 'row_id' | 'content_hash'>,
): string =>
  sha256([entry.previous, entry.position, entry.kind, entry.row_id, entry.content_hash].join('\n'));

export const BEGINNING: ChainHead = { position: 0, hash: '0'.repeat(64) };

const signedTextOf = ({ position, hash }: ChainHead): string => `${position}:${hash}`;

export async function chainHead(db: Db): Promise<ChainHead> {
  const head = await db
    .selectFrom('consent_chain')
    .select(['position', 'hash'])
    // Forged entries at 0 or below are reported as errors, and nothing continues them.
    .where('position', '>', 0)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return head ?? BEGINNING;
}

export const lockChain = (tx: Db): Promise<void> => acquireLocks(tx, 'consent chain');

const HEAD_ID = 'head';

/** The newest signed head. Unsigned entries may follow it. */
export type SignedHead = ChainHead & {
  readonly isGenuine: boolean;
  readonly isByNewestSecret: boolean;
  readonly signedAt: number;
};

export async function signedHead(db: Db, secrets: Secrets): Promise<SignedHead | null> {
  const row = await db
    .selectFrom('consent_chain_head')
    .selectAll()
    .where('id', '=', HEAD_ID)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { position, hash, signature, signed_at: signedAt } = row;
  const { sign, verifies } = signerOf(secrets, 'consent chain');
  const isGenuine = verifies(signedTextOf(row), signature);
  const isByNewestSecret = signature === sign(signedTextOf(row));
  return { position, hash, isGenuine, isByNewestSecret, signedAt };
}

export async function isChainSigned(db: Db, secrets: Secrets): Promise<boolean> {
  const newest = await chainHead(db);
  const signed = await signedHead(db, secrets);
  return signed !== null && signed.isGenuine && signedTextOf(signed) === signedTextOf(newest);
}

async function signHead(tx: Db, secrets: Secrets, { position, hash }: ChainHead, now: number): Promise<void> {
  const signature = signerOf(secrets, 'consent chain').sign(signedTextOf({ position, hash }));
  const signed = { position, hash, signature, signed_at: now };
  await tx
    .insertInto('consent_chain_head')
    .values({ id: HEAD_ID, ...signed })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(signed))
    .execute();
}

/** Signs an unused chain, and any head again after a change of the secret. The operator decides about unsigned entries. */
export async function keepChainSigned(db: Db, secrets: Secrets, now: number): Promise<void> {
  const headToSign = async (from: Db): Promise<ChainHead | null> => {
    const signed = await signedHead(from, secrets);
    if (signed === null) return (await isUnused(from)) ? BEGINNING : null;
    return signed.isGenuine && !signed.isByNewestSecret ? signed : null;
  };
  if ((await headToSign(db)) === null) return;
  await db.transaction().execute(async (tx) => {
    await lockChain(tx);
    const head = await headToSign(tx);
    if (head !== null) await signHead(tx, secrets, head, now);
  });
}

/** A chain without entries is used if there are consents: otherwise a deleted chain could be signed as an empty one. */
async function isUnused(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from consent_chain union all select 1 from consent_receipts union all select 1 from withdrawals limit 1
  `.execute(db);
  return rows.length === 0;
}

/**
 * Appends entries, and signs the new head if the previous one was signed: only the operator may accept an unsigned entry. The
 * caller must have locked the chain.
 * @returns the position of the newest entry
 */
export async function appendEntries(
  tx: Db,
  added: readonly NewEntry[],
  { secrets, now, accepts = false }: { secrets: Secrets; now: number; accepts?: boolean },
): Promise<number> {
  let head = await chainHead(tx);
  if (added.length === 0) return head.position;
  const mustSign = accepts || (await isChainSigned(tx, secrets));
  const entries = added.map(({ kind, rowId, content }) => {
    const text = JSON.stringify(content);
    const salt = randomBytes(SALT_BYTES).toString('hex');
    const entry = {
      position: head.position + 1,
      kind,
      row_id: rowId,
      content: text,
      salt,
      content_hash: hashOfContent(salt, text),
      previous: head.hash,
    };
    head = { position: entry.position, hash: hashOfEntry(entry) };
    return { ...entry, hash: head.hash, sealed_at: now };
  });
  await tx.insertInto('consent_chain').values(entries).execute();
  if (mustSign) await signHead(tx, secrets, head, now);
  return head.position;
}

/** The position of an entry's erasure, for a query of `consent_chain as entry`. */
export const erasurePosition = sql<number | null>`(
  select erasure.position from consent_chain erasure
  where erasure.row_id = entry.row_id and erasure.kind = 'erasure' and entry.kind <> 'erasure'
)`;

/**
 * Empties an erased person's entries. Positions stay, and an erasure is appended for each, because an empty entry without one
 * is a forgery. Returns the number of empty entries, including those erased before.
 */
export const createProofEraser =
  (secrets: Secrets, now: number) =>
  /** @param isAbout selects the person's entries, by column names without a table */
  async (tx: Db, isAbout: RawBuilder<boolean>): Promise<number> => {
    await lockChain(tx);
    const erased = await tx
      .selectFrom('consent_chain as entry')
      .select('entry.row_id')
      .where(isAbout)
      .where('entry.kind', '<>', 'erasure')
      .where(erasurePosition, 'is', null)
      .orderBy('entry.position')
      .execute();
    const content = { erased_at: isoTime(now) };
    const erasures = erased.map(({ row_id: rowId }) => ({ kind: 'erasure', rowId, content }) as const);
    await appendEntries(tx, erasures, { secrets, now });
    return changedRows(
      tx
        .updateTable('consent_chain')
        .set({ content: null, salt: null })
        .where(isAbout)
        .where('kind', '<>', 'erasure'),
    );
  };

/** Limits an entry's content to about 300 kB, because each entry of a long chain may have an error. */
const ERRORS_PER_ENTRY = 1_000;
const acceptanceId = (number: number): string => `acceptance-${number}`;

/**
 * Records in the chain that the operator knows these errors, so verifyChain no longer counts them. Signs the new head even if
 * the previous one was unsigned, so the signature covers the chain in its current state.
 */
export async function acceptErrors(
  db: Db,
  { errors, secrets, now }: { errors: readonly ChainError[]; secrets: Secrets; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockChain(tx);
    const known = (await acceptancesIn(tx)).length;
    const entries: NewEntry[] = [];
    for (let from = 0; from < errors.length; from += ERRORS_PER_ENTRY)
      entries.push({
        kind: 'acceptance',
        rowId: acceptanceId(known + entries.length + 1),
        content: { errors: errors.slice(from, from + ERRORS_PER_ENTRY), accepted_at: isoTime(now) },
      });
    await appendEntries(tx, entries, { secrets, now, accepts: true });
  });
}

/** Reads them one by one, because they are few, and row_id has an index. Numbers have no gaps, so a deleted one hides the rest. */
export async function acceptancesIn(db: Db): Promise<readonly ChainEntry[]> {
  const entries: ChainEntry[] = [];
  for (;;) {
    const entry = await db
      .selectFrom('consent_chain')
      .selectAll()
      .where('row_id', '=', acceptanceId(entries.length + 1))
      .where('kind', '=', 'acceptance')
      .executeTakeFirst();
    if (entry === undefined) return entries;
    entries.push(entry);
  }
}
