// The chain of consent proofs: consents given, and taken back; erasures, and what the operator accepted. A consent is sealed some
// seconds afterwards, in a batch: a visitor who enters a code never waits for the chain, and one process at a time appends to it. The
// newest entry is signed with a key that the database does not hold. consent-check.ts compares all of it with the rows.
import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';

import { sql, type RawBuilder, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt } from '#server/db/engine/ids.ts';
import type { Schema } from '#server/db/schema.ts';
import { HOUR_MS, isoTime } from '#server/platform/time.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';

export type ChainEntry = Selectable<Schema['consent_chain']>;

/** Signs the head of the chain. Its key comes from APP_SECRET (secrets/secrets.ts), which is not in the database. */
export type ChainSigner = {
  readonly sign: (text: string) => string;
  /** Whether this text was signed with any of the secrets in use. */
  readonly verifies: (text: string, signature: string) => boolean;
};

/** What a proof says. Times are ISO 8601 in UTC; null is what was not known. */
export type ConsentProof = LeadAnswers & {
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

type Sealed = 'consent_receipts' | 'withdrawals';

/** The rows of either, as far as they are alike: an id, and whose it is. Kysely takes no choice of tables. */
const rowsOf = (table: Sealed) => table as 'consent_receipts';

/** Where a chain begins. */
export const GENESIS = '0'.repeat(64);
/** What became of the code's mail is noted by then, or will not be. */
const MAIL_PATIENCE_MS = 60_000;
/** A receipt that was begun before another may be committed after it, but not later than this. */
export const OVERLAP_MS = 2 * MAIL_PATIENCE_MS;
const SALT_BYTES = 16;
/**
 * While processes change to a new APP_SECRET, those that do not know it yet leave sealing to those that do. After this time the
 * signature counts as a stranger's, and consents are sealed unsigned rather than not at all.
 */
const SECRET_CHANGE_MS = HOUR_MS;

export const sha256 = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** The salt goes with the content when somebody is erased; without it nobody can try contents until one fits. */
export const hashOfContent = (salt: string, content: string): string => sha256(salt, '\n', content);
export const hashOfEntry = (previous: string, position: number, contentHash: string): string =>
  sha256(previous, '\n', String(position), '\n', contentHash);

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

type Proof = ConsentProof | WithdrawalProof | ErasureNote | AcceptanceNote;

/**
 * Appends entries, and signs the new head when the one before was signed. It never signs over an entry that no signature covers,
 * except for the operator, who accepts it. The chain is locked by the caller.
 * @returns the position of the newest entry
 */
async function append(
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
 * Where a row stands in the chain; null when it does not yet. Looked up for each row: PostgreSQL would otherwise go through a long
 * chain from its beginning to join it with a few rows of today.
 */
const placeInChain = sql<number | null>`(select k.position from consent_chain k where k.receipt_id = r.id)`;

/** Rows looked at in one statement. */
const LOOKED_AT_ONCE = 1_000;

/** Where a look for what is new begins. */
export const newestFrom = (now: number): string => lowestIdAt(now - OVERLAP_MS);

/**
 * Looks for consents, and withdrawals, that are in no entry yet, a page at a time, and changes nothing.
 * @param after the id of a row; the empty text comes before all
 * @returns their ids in the order in which they happened, and how far it has looked; null when there was nothing to look at
 */
export async function findUnsealed(
  db: Db,
  after: string,
): Promise<{ readonly ids: readonly string[]; readonly last: string } | null> {
  // A page of each table, and of both together: either is read by its index, however long it is.
  const pageOf = (table: Sealed) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom(rowsOf(table))
          .select('id')
          .where('id', '>', after)
          .orderBy('id')
          .limit(LOOKED_AT_ONCE)
          .as('page'),
      )
      .select('id');
  const page = await db
    .selectFrom(pageOf('consent_receipts').unionAll(pageOf('withdrawals')).as('r'))
    .select('r.id')
    .select(placeInChain.as('position'))
    .orderBy('r.id')
    .limit(LOOKED_AT_ONCE)
    .execute();
  const last = page.at(-1)?.id;
  if (last === undefined) return null;
  return { ids: page.filter(({ position }) => position === null).map(({ id }) => id), last };
}

/**
 * Appends consents and withdrawals to the chain, in the order of their ids, which is that in which they happened. Left out are those
 * that another process has appended meanwhile, consents whose mail is still on its way, and withdrawals of such a consent.
 * @param options ids: of their rows; page: where the form was; messageIdOf: of the mail with an id in the outbox
 * @returns how many were appended
 */
export async function sealRows(
  { db, engine }: Pick<OpenDatabase, 'db' | 'engine'>,
  {
    ids,
    signer,
    now,
    page,
    messageIdOf,
  }: {
    ids: readonly string[];
    signer: ChainSigner;
    now: number;
    page: string;
    messageIdOf: (mailId: string) => string;
  },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    if (await isSignedByNewerSecret(tx, signer, now)) return 0;
    const consents = await unsealed(tx, { ids, mailKnownBefore: now - MAIL_PATIENCE_MS });
    const withdrawals = await unsealedWithdrawals(tx, ids);
    const waiting = await consentsBefore(tx, withdrawals);
    for (const { id } of consents) waiting.delete(id);
    const leadsThatWait = new Set(waiting.values());
    const proofs = [
      ...consents.map((row) => ({ id: row.id, proof: proofOf(row, { page, messageIdOf }) })),
      ...withdrawals
        .filter(({ lead_id: leadId }) => !leadsThatWait.has(leadId))
        .map((row) => ({ id: row.id, proof: withdrawalProofOf(row) })),
    ].toSorted((one, other) => (one.id < other.id ? -1 : 1));
    await append(tx, proofs, { signer, now });
    return proofs.length;
  });
}

/** Whether another process signed a short while ago, with a secret that this one does not know. */
async function isSignedByNewerSecret(tx: Db, signer: ChainSigner, now: number): Promise<boolean> {
  const signed = await signedHead(tx, signer);
  return signed !== null && !signed.isGenuine && Math.abs(now - signed.signedAt) < SECRET_CHANGE_MS;
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
  const erasedBy = await append(tx, [{ id, proof: { erasure: id, positions, erasedAt: isoTime(now) } }], {
    signer,
    now,
  });
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
    await append(tx, proofs, { signer, now, accepts: true });
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

/** What a form asks, of the submission that is called s. */
export const ANSWERS = ['s.name', 's.company'] as const satisfies readonly `s.${keyof LeadAnswers}`[];

type Unsealed = Awaited<ReturnType<typeof unsealed>>[number];

const unsealed = (db: Db, { ids, mailKnownBefore }: { ids: readonly string[]; mailKnownBefore: number }) =>
  db
    .selectFrom('consent_receipts as r')
    .innerJoin('leads as l', 'l.id', 'r.lead_id')
    .innerJoin('submissions as s', 's.id', 'r.submission_id')
    .innerJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    // The code that was entered, and the mail it came with.
    .leftJoin('codes as c', (join) =>
      join.onRef('c.email', '=', 'l.email').onRef('c.used_at', '=', 'r.verified_at'),
    )
    .leftJoin('outbox as m', 'm.code_id', 'c.id')
    .select([
      'r.id',
      'l.email',
      ...ANSWERS,
      'r.consent_version',
      'w.text',
      'r.given_at',
      'r.verified_at',
      'r.client_address',
      'r.verified_from_address',
      'r.user_agent',
      'r.same_browser',
      'm.id as mail_id',
      'm.finished_at as mail_sent_at',
      'm.reply as mail_answer',
    ])
    .where('r.id', 'in', ids)
    .where((eb) =>
      eb.or([
        eb('m.id', 'is', null),
        eb('m.state', '<>', 'queued'),
        eb('r.verified_at', '<', mailKnownBefore),
      ]),
    )
    .where(isUnsealed)
    .orderBy('r.id')
    .execute();

const isUnsealed = sql<boolean>`${placeInChain} is null`;

const unsealedWithdrawals = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('withdrawals as r')
    .innerJoin('leads as l', 'l.id', 'r.lead_id')
    .selectAll('r')
    .select('l.email')
    .where('r.id', 'in', ids)
    .where(isUnsealed)
    .orderBy('r.id')
    .execute();

/**
 * Consents that are in no entry yet and came before one of these withdrawals, of the same people.
 * @returns whose each is
 */
async function consentsBefore(
  db: Db,
  withdrawals: Awaited<ReturnType<typeof unsealedWithdrawals>>,
): Promise<Map<string, string>> {
  if (withdrawals.length === 0) return new Map();
  const rows = await db
    .selectFrom('consent_receipts as r')
    .innerJoin('withdrawals as w', 'w.lead_id', 'r.lead_id')
    .select(['r.id', 'r.lead_id'])
    .where(
      'w.id',
      'in',
      withdrawals.map(({ id }) => id),
    )
    .whereRef('r.id', '<', 'w.id')
    .where(isUnsealed)
    .execute();
  return new Map(rows.map((row) => [row.id, row.lead_id]));
}

/** A withdrawal and the address of its lead, as they stand. */
export type StandingWithdrawal = Pick<
  Selectable<Schema['withdrawals']>,
  'id' | 'way' | 'withdrawn_at' | 'client_address' | 'user_agent'
> & { readonly email: string };

/** The proof of a withdrawal, from its row. */
export const withdrawalProofOf = (row: StandingWithdrawal): WithdrawalProof => ({
  withdrawal: row.id,
  email: row.email,
  way: row.way,
  withdrawnAt: isoTime(row.withdrawn_at),
  withdrawnFrom: row.client_address,
  browser: row.user_agent,
});

/** A receipt with its lead, form and wording, as they stand. */
export type StandingConsent = Omit<Selectable<Schema['consent_receipts']>, 'lead_id' | 'submission_id'> &
  LeadAnswers & { readonly email: string; readonly text: string };

/** What a proof takes from rows that stay: all but the page's address and the mail. */
export const standingProofOf = (row: StandingConsent): Omit<ConsentProof, 'page' | 'mail'> => ({
  receipt: row.id,
  email: row.email,
  ...answersOf(row),
  wording: { version: row.consent_version, text: row.text },
  givenAt: isoTime(row.given_at),
  givenFrom: row.client_address,
  browser: row.user_agent,
  codeEnteredAt: isoTime(row.verified_at),
  codeEnteredFrom: row.verified_from_address,
  sameBrowser: row.same_browser === null ? null : row.same_browser === 1,
});

const proofOf = (
  row: Unsealed,
  { page, messageIdOf }: { page: string; messageIdOf: (mailId: string) => string },
): ConsentProof => ({
  ...standingProofOf(row),
  page,
  mail:
    row.mail_id === null
      ? null
      : {
          messageId: messageIdOf(row.mail_id),
          sentAt: row.mail_sent_at === null ? null : isoTime(row.mail_sent_at),
          answer: row.mail_answer,
        },
});
