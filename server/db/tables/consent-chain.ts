// The chain of consent proofs: its entries, their hashes and the signature of the newest, made with a key that the database does not
// hold. One process at a time appends. across/consent-sealing.ts seals consents, across/consent-check.ts checks the whole chain.
import { hash as hashOf, randomBytes, randomUUIDv7 } from 'node:crypto';

import { sql, type RawBuilder, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import type { Schema } from '#server/db/schema.ts';
import { isoTime } from '#server/platform/time.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import type { OwnAnswers } from '#shared/own-answers.ts';

export type ChainEntry = Selectable<Schema['consent_chain']>;

/** Signs the head of the chain. Its key comes from APP_SECRET (secrets/secrets.ts), which is not in the database. */
export type ChainSigner = {
  readonly sign: (text: string) => string;
  /** Whether this text was signed with any of the secrets in use. */
  readonly verifies: (text: string, signature: string) => boolean;
};

/** What a proof says. Times are ISO 8601 in UTC; null is what was not known. */
export type ConsentProof = Omit<LeadAnswers, 'answers'> & {
  /** To the questions of the campaign's own; not there when it had none. */
  readonly answers?: OwnAnswers;
  readonly receipt: string;
  readonly email: string;
  readonly wording: { readonly version: string; readonly text: string };
  /** The address of the page. */
  readonly page: string;
  readonly givenAt: string;
  readonly givenFrom: string;
  readonly browser: string | null;
  readonly codeEnteredAt: string;
  readonly codeEnteredFrom: string;
  /** Whether the code was entered in the browser that sent the form. */
  readonly sameBrowser: boolean | null;
  /** The e-mail that carried the code, as far as it is still known. */
  readonly mail: {
    readonly messageId: string;
    readonly sentAt: string | null;
    readonly answer: string | null;
  } | null;
};

/** What the chain says of a consent that was taken back. */
export type WithdrawalProof = {
  readonly withdrawal: string;
  readonly email: string;
  readonly way: Selectable<Schema['withdrawals']>['way'];
  readonly withdrawnAt: string;
  readonly withdrawnFrom: string | null;
  readonly browser: string | null;
};

/** What the chain says of entries that the operator took off the list of addresses that get no mail, as slips. */
export type RemovalProof = {
  readonly removal: string;
  readonly email: string;
  /** Why the address stood on the list. */
  readonly reasons: readonly string[];
  /** Why that was a slip, in the operator's words. */
  readonly note: string;
  readonly removedAt: string;
};

/** Says which entries an erasure emptied, and nothing about the person. */
export type ErasureNote = {
  readonly erasure: string;
  readonly positions: readonly number[];
  readonly erasedAt: string;
};

/** A fault as it stood when the operator accepted it. */
export type AcceptedFault = {
  readonly position: number | null;
  readonly kind: string;
  /** Hash of what was wrong: a later change at the same place is a fault again. */
  readonly state: string;
  /** Of a row that no entry has. */
  readonly id?: string;
};

/** Faults that the operator has looked into. */
export type AcceptanceNote = {
  readonly accepted: string;
  readonly faults: readonly AcceptedFault[];
  readonly acceptedAt: string;
};

/** Where a chain begins. */
export const GENESIS = '0'.repeat(64);
const SALT_BYTES = 16;
export const sha256 = (text: string): string => hashOf('sha256', text);

/** The salt goes with the content when a person is erased; without it, the content cannot be guessed from its hash. */
export const hashOfContent = (salt: string, content: string): string => sha256(`${salt}\n${content}`);
export const hashOfEntry = (previous: string, position: number, contentHash: string): string =>
  sha256(`${previous}\n${position}\n${contentHash}`);

export type ChainHead = { readonly position: number; readonly hash: string };

const textOf = ({ position, hash }: ChainHead): string => `${position}:${hash}`;

/** The newest entry, signed or not. */
export async function chainHead(db: Db): Promise<ChainHead> {
  const head = await db
    .selectFrom('consent_chain')
    .select(['position', 'hash'])
    .where('position', '>', 0)
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  return head ?? { position: 0, hash: GENESIS };
}

/** Makes others who append to the chain, or empty entries of it, wait until this transaction ends. SQLite has one writer anyway. */
export async function lockChain(tx: Db, engine: OpenDatabase['engine']): Promise<void> {
  if (engine === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtextextended('consent chain', 0))`.execute(tx);
}

/** There is one head: the id of its row. */
const HEAD_ID = 'head';

type SignedHead = ChainHead & { readonly isGenuine: boolean; readonly signedAt: number };

/** The head that was signed last; null when the chain was never signed. isGenuine: one of the secrets in use signed it. */
export async function signedHead(db: Db, signer: ChainSigner): Promise<SignedHead | null> {
  const row = await db
    .selectFrom('consent_chain_head')
    .selectAll()
    .where('id', '=', HEAD_ID)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { position, hash, signature, signed_at: signedAt } = row;
  return { position, hash, isGenuine: signer.verifies(textOf(row), signature), signedAt };
}

async function signHead(tx: Db, signer: ChainSigner, head: ChainHead, now: number): Promise<void> {
  const signed = { ...head, signature: signer.sign(textOf(head)), signed_at: now };
  await tx
    .insertInto('consent_chain_head')
    .values({ id: HEAD_ID, ...signed })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(signed))
    .execute();
}

/**
 * Signs the beginning of a chain that nothing was sealed into and nothing waits for, and signs the head anew after the secret was
 * changed. Any other chain stays as it is: what no signature covers is the operator's to accept.
 * @param now milliseconds since 1970
 */
export async function keepChainSigned(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  signer: ChainSigner,
  now: number,
): Promise<void> {
  const headToSign = async (from: Db): Promise<ChainHead | null> => {
    const row = await from
      .selectFrom('consent_chain_head')
      .select(['position', 'hash', 'signature'])
      .where('id', '=', HEAD_ID)
      .executeTakeFirst();
    if (row === undefined) return (await isUnused(from)) ? { position: 0, hash: GENESIS } : null;
    const { position, hash, signature } = row;
    const isOfOlderSecret = signature !== signer.sign(textOf(row)) && signer.verifies(textOf(row), signature);
    return isOfOlderSecret ? { position, hash } : null;
  };
  if ((await headToSign(db)) === null) return;
  await db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    const head = await headToSign(tx);
    if (head !== null) await signHead(tx, signer, head, now);
  });
}

async function isUnused(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select 1 from consent_chain union all select 1 from consent_receipts union all select 1 from withdrawals limit 1
  `.execute(db);
  return rows.length === 0;
}

/** Whether the newest entry is the signed head, and the signature ours. */
export async function isChainSigned(db: Db, signer: ChainSigner): Promise<boolean> {
  const [newest, signed] = [await chainHead(db), await signedHead(db, signer)];
  return signed !== null && signed.isGenuine && textOf(signed) === textOf(newest);
}

type Proof = ConsentProof | WithdrawalProof | RemovalProof | ErasureNote | AcceptanceNote;

/**
 * Appends entries, and signs the new head when the one before was signed. It never signs over an entry that no signature covers,
 * except for the operator, who accepts it. The chain is locked by the caller.
 * @returns the position of the newest entry
 */
export async function appendEntries(
  tx: Db,
  proofs: readonly { readonly id: string; readonly proof: Proof }[],
  { signer, now, accepts = false }: { signer: ChainSigner; now: number; accepts?: boolean },
): Promise<number> {
  const signs = accepts || (await isChainSigned(tx, signer));
  let { position, hash } = await chainHead(tx);
  const entries = proofs.map(({ id, proof }) => {
    const content = JSON.stringify(proof);
    const salt = randomBytes(SALT_BYTES).toString('hex');
    const contentHash = hashOfContent(salt, content);
    position += 1;
    hash = hashOfEntry(hash, position, contentHash);
    return {
      position,
      receipt_id: id,
      content,
      salt,
      content_hash: contentHash,
      hash,
      sealed_at: now,
      erased_by: null,
    };
  });
  if (entries.length === 0) return position;
  await tx.insertInto('consent_chain').values(entries).execute();
  if (signs) await signHead(tx, signer, { position, hash }, now);
  return position;
}

/**
 * Empties entries of a person who is being erased. Their places stay, so that the others can still be checked, and an entry names
 * them: an entry that is empty without one was emptied by a stranger. The chain is locked by the caller.
 * @param options which: the condition that selects the entries; now: milliseconds since 1970
 * @returns how many entries were emptied
 */
export async function eraseEntries(
  tx: Db,
  { which, signer, now }: { which: RawBuilder<boolean>; signer: ChainSigner; now: number },
): Promise<number> {
  const rows = await tx
    .selectFrom('consent_chain')
    .select('position')
    .where(which)
    .orderBy('position')
    .execute();
  if (rows.length === 0) return 0;
  const id = randomUUIDv7();
  const positions = rows.map(({ position }) => position);
  const erasedBy = await appendEntries(
    tx,
    [{ id, proof: { erasure: id, positions, erasedAt: isoTime(now) } }],
    {
      signer,
      now,
    },
  );
  await tx
    .updateTable('consent_chain')
    .set({ content: null, salt: null, erased_by: erasedBy })
    .where(which)
    .execute();
  return positions.length;
}

/** Faults in one entry of those that accept them. */
const FAULTS_AN_ENTRY = 1_000;
const acceptanceId = (number: number): string => `accepted-${number}`;

/**
 * Appends what the operator accepts, and signs the whole chain as it is now.
 * @param options faults: what the check found; now: milliseconds since 1970
 */
export async function acceptFaults(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  { faults, signer, now }: { faults: readonly AcceptedFault[]; signer: ChainSigner; now: number },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    let number = (await acceptancesIn(tx)).length;
    const proofs = [];
    for (let from = 0; from < faults.length; from += FAULTS_AN_ENTRY) {
      const id = acceptanceId((number += 1));
      const some = faults.slice(from, from + FAULTS_AN_ENTRY);
      proofs.push({ id, proof: { accepted: id, faults: some, acceptedAt: isoTime(now) } });
    }
    await appendEntries(tx, proofs, { signer, now, accepts: true });
  });
}

/** The entries by which the operator accepted faults, the oldest first. */
export async function acceptancesIn(db: Db): Promise<readonly ChainEntry[]> {
  const entries: ChainEntry[] = [];
  for (;;) {
    const entry = await db
      .selectFrom('consent_chain')
      .selectAll()
      .where('receipt_id', '=', acceptanceId(entries.length + 1))
      .executeTakeFirst();
    if (entry === undefined) return entries;
    entries.push(entry);
  }
}
