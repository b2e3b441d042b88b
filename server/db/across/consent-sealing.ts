// Seals consents, given and taken back, into their chain, some seconds afterwards and in batches, so that a visitor who enters a code
// never waits for the chain.
import { sql, type Selectable } from 'kysely';

import type { Db, OpenDatabase } from '#server/db/engine/connect.ts';
import { lowestIdAt, timeOfId } from '#server/db/engine/ids.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Schema } from '#server/db/schema.ts';
import {
  appendEntries,
  lockChain,
  signedHead,
  type ChainSigner,
  type ConsentProof,
  type RemovalProof,
  type WithdrawalProof,
} from '#server/db/tables/consent-chain.ts';
import { HOUR_MS, isoTime } from '#server/platform/time.ts';
import type { LeadAnswers } from '#shared/lead.ts';
import { readAnswers } from '#shared/own-answers.ts';

type Sealed = 'consent_receipts' | 'withdrawals';

/** Both tables have an id and a lead_id. Kysely does not take a choice of tables. */
const rowsOf = (table: Sealed) => table as 'consent_receipts';

/** The outcome of the code's mail is recorded by then, or never. */
const MAIL_PATIENCE_MS = 60_000;
/** A receipt that was begun before another may be committed after it, but not later than this. */
export const OVERLAP_MS = 2 * MAIL_PATIENCE_MS;
/**
 * While processes change to a new APP_SECRET, those that do not know it yet leave sealing to those that do. After this time the
 * signature counts as a stranger's, and consents are sealed unsigned.
 */
const SECRET_CHANGE_MS = HOUR_MS;

/**
 * Where a row stands in the chain; null when it does not yet. Looked up for each row: PostgreSQL would otherwise go through a long
 * chain from its beginning to join it with a few rows of today.
 */
const placeInChain = sql<number | null>`(select k.position from consent_chain k where k.receipt_id = r.id)`;

/** Rows looked at in one statement. */
const LOOKED_AT_ONCE = 1_000;

/** Where a look begins for what has come, or could not be sealed yet, since a look at that time. */
export const newestFrom = (lookedAt: number): string => lowestIdAt(lookedAt - OVERLAP_MS);

/** Where a look begins that finds a row again, and what may have been committed after it. */
export const beginFor = (id: string): string => newestFrom(timeOfId(id));

/**
 * Looks for consents and withdrawals that are in no entry yet, and changes nothing.
 * @param begin the id of the row before the first; the empty text comes before all
 * @returns pages of their ids, in the order in which they happened; a page may be empty
 */
export async function* unsealedPages(db: Db, begin: string): AsyncGenerator<readonly string[], void, void> {
  // A page of each table, and of both together: either is read by its index, however long it is.
  const pageOf = (table: Sealed, after: string) =>
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
  const readAfter = (after: string) =>
    db
      .selectFrom(pageOf('consent_receipts', after).unionAll(pageOf('withdrawals', after)).as('r'))
      .select('r.id')
      .select(placeInChain.as('position'))
      .orderBy('r.id')
      .limit(LOOKED_AT_ONCE)
      .execute();
  for await (const page of pagesAfter(begin, readAfter, ({ id }) => id))
    yield page.filter(({ position }) => position === null).map(({ id }) => id);
}

/**
 * Appends consents and withdrawals to the chain, in the order of their ids, which is that in which they happened. Left out are those
 * that another process has appended meanwhile, consents whose mail is still on its way, and withdrawals of such a consent.
 * @param options ids: of their rows; page: where the form was; messageIdOf: of the mail with an id in the outbox
 * @returns how many were appended; null: none, they are left to processes that know a newer secret
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
): Promise<number | null> {
  return db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    if (await isSignedByNewerSecret(tx, signer, now)) return null;
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
    await appendEntries(tx, proofs, { signer, now });
    return proofs.length;
  });
}

/** Whether another process signed a short while ago, with a secret that this one does not know. */
async function isSignedByNewerSecret(tx: Db, signer: ChainSigner, now: number): Promise<boolean> {
  const signed = await signedHead(tx, signer);
  return signed !== null && !signed.isGenuine && Math.abs(now - signed.signedAt) < SECRET_CHANGE_MS;
}

/** What a form asks, of the submission that is called s. */
export const ANSWERS = [
  's.name',
  's.company',
  's.answers',
] as const satisfies readonly `s.${keyof LeadAnswers}`[];

type Unsealed = Awaited<ReturnType<typeof unsealed>>[number];

const unsealed = (db: Db, { ids, mailKnownBefore }: { ids: readonly string[]; mailKnownBefore: number }) =>
  db
    .selectFrom('consent_receipts as r')
    .innerJoin('leads as l', 'l.id', 'r.lead_id')
    .innerJoin('submissions as s', 's.id', 'r.submission_id')
    .innerJoin('consent_wordings as w', 'w.version', 'r.consent_version')
    // The code that was entered, and the mail it came with. Two browsers can each enter one of their own in the same millisecond.
    .leftJoin('codes as c', (join) =>
      join.on('c.id', '=', (eb) =>
        eb
          .selectFrom('codes as x')
          .select('x.id')
          .whereRef('x.email', '=', 'l.email')
          .whereRef('x.used_at', '=', 'r.verified_at')
          .orderBy(sql`x.challenge_id <> s.challenge_id`)
          .orderBy('x.id')
          .limit(1),
      ),
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

/** A removal and the address of its lead, as they stand. */
export type StandingRemoval = Omit<Selectable<Schema['suppression_removals']>, 'lead_id'> & {
  readonly email: string;
};

/** The proof of a removal, from its row. */
export const removalProofOf = (row: StandingRemoval): RemovalProof => ({
  removal: row.id,
  email: row.email,
  reasons: row.reasons.split(' '),
  note: row.note,
  removedAt: isoTime(row.removed_at),
});

/** A receipt with its lead, form and wording, as they stand. */
export type StandingConsent = Omit<Selectable<Schema['consent_receipts']>, 'lead_id' | 'submission_id'> &
  LeadAnswers & { readonly email: string; readonly text: string };

/** What a proof takes from rows that stay: all but the page's address and the mail. */
export const standingProofOf = (row: StandingConsent): Omit<ConsentProof, 'page' | 'mail'> => ({
  receipt: row.id,
  email: row.email,
  name: row.name,
  company: row.company,
  // Not there without any: what was accepted as a fault is named by a hash of all this.
  ...(row.answers !== null && { answers: readAnswers(row.answers) }),
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
