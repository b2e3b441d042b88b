// The chain of consent proofs: consents given, and taken back. Each is sealed some seconds afterwards, in a batch: whoever enters a
// code never waits for the chain, and one process at a time appends to it.
import { createHash, randomBytes } from 'node:crypto';

import { sql, type Selectable } from 'kysely';

import { createCollector } from '#server/collect-garbage.ts';
import type { Db, OpenDatabase } from '#server/db/connect.ts';
import { lowestIdAt } from '#server/db/ids.ts';
import type { Schema } from '#server/db/schema.ts';
import { answersOf, type LeadAnswers } from '#shared/lead.ts';

type ChainEntry = Selectable<Schema['consent_chain']>;

/** What a proof says. Times are ISO 8601 in UTC; null is what was not known. */
type ConsentProof = LeadAnswers & {
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
type WithdrawalProof = {
  readonly withdrawal: string;
  readonly email: string;
  readonly way: Selectable<Schema['withdrawals']>['way'];
  readonly withdrawnAt: string;
  readonly withdrawnFrom: string | null;
  readonly browser: string | null;
};

type Sealed = 'consent_receipts' | 'withdrawals';

/** The rows of either, as far as they are alike: an id, and whose it is. Kysely takes no choice of tables. */
const rowsOf = (table: Sealed) => table as 'consent_receipts';

/** Where a chain begins. */
const GENESIS = '0'.repeat(64);
/** What became of the code's mail is noted by then, or will not be. */
const MAIL_PATIENCE_MS = 60_000;
/** A receipt that was begun before another may be committed after it, but not later than this. */
const OVERLAP_MS = 2 * MAIL_PATIENCE_MS;
const SALT_BYTES = 16;

const sha256 = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
};

/** The salt goes with the content when somebody is erased; without it nobody can try contents until one fits. */
const hashOfContent = (salt: string, content: string): string => sha256(salt, '\n', content);
const hashOfEntry = (previous: string, position: number, contentHash: string): string =>
  sha256(previous, '\n', String(position), '\n', contentHash);

/** The newest entry. */
export async function chainHead(db: Db): Promise<{ readonly position: number; readonly hash: string }> {
  const head = await db
    .selectFrom('consent_chain')
    .select(['position', 'hash'])
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
    now,
    page,
    messageIdOf,
  }: {
    ids: readonly string[];
    now: number;
    page: string;
    messageIdOf: (mailId: string) => string;
  },
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await lockChain(tx, engine);
    let { position, hash } = await chainHead(tx);
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
      };
    });
    if (entries.length > 0) await tx.insertInto('consent_chain').values(entries).execute();
    return entries.length;
  });
}

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
      's.name',
      's.company',
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

const withdrawalProofOf = (
  row: Awaited<ReturnType<typeof unsealedWithdrawals>>[number],
): WithdrawalProof => ({
  withdrawal: row.id,
  email: row.email,
  way: row.way,
  withdrawnAt: isoTime(row.withdrawn_at),
  withdrawnFrom: row.client_address,
  browser: row.user_agent,
});

function proofOf(
  row: Unsealed,
  { page, messageIdOf }: { page: string; messageIdOf: (mailId: string) => string },
): ConsentProof {
  return {
    receipt: row.id,
    email: row.email,
    ...answersOf(row),
    wording: { version: row.consent_version, text: row.text },
    page,
    givenAt: isoTime(row.given_at),
    givenFrom: row.client_address,
    browser: row.user_agent,
    codeEnteredAt: isoTime(row.verified_at),
    codeEnteredFrom: row.verified_from_address,
    sameBrowser: row.same_browser === null ? null : row.same_browser === 1,
    mail:
      row.mail_id === null
        ? null
        : {
            messageId: messageIdOf(row.mail_id),
            sentAt: row.mail_sent_at === null ? null : isoTime(row.mail_sent_at),
            answer: row.mail_answer,
          },
  };
}

const isoTime = (ms: number): string => new Date(ms).toISOString();

/** What is wrong with a chain. */
export type ChainFault = {
  readonly position: number;
  /** `gap`: entries are missing before it. `link`: it does not follow the one before. `content`: it was changed. `emptied`: its content went, and what it was made of did not. `anchor`: it is not the one that was anchored. */
  readonly kind: 'gap' | 'link' | 'content' | 'emptied' | 'anchor';
};

export type ChainReport = {
  readonly entries: number;
  /** Of people who were erased: their places are checked, their contents are gone. */
  readonly erased: number;
  readonly head: { readonly position: number; readonly hash: string };
  readonly faults: readonly ChainFault[];
};

const PAGE_SIZE = 500;
const MOST_FAULTS = 100;

/**
 * Checks the whole chain, a page at a time.
 * @param anchor the head that was printed at another time: it has to be in the chain
 * @param onChecked told how many entries were checked so far; may throw to end it
 */
export async function verifyChain(
  db: Db,
  anchor?: { readonly position: number; readonly hash: string },
  onChecked: (entries: number) => void = () => {},
): Promise<ChainReport> {
  const faults: ChainFault[] = [];
  const tell = (kind: ChainFault['kind'], position: number) => {
    if (faults.length < MOST_FAULTS) faults.push({ kind, position });
  };
  let entries = 0;
  let erased = 0;
  let head = { position: 0, hash: GENESIS };
  const collect = createCollector();
  let isAnchored = anchor === undefined || (anchor.position === 0 && anchor.hash === GENESIS);
  for (;;) {
    const page = await entriesAfter(db, head.position);
    if (page.length === 0) break;
    collect(page.length);
    for (const { is_held: isHeld, ...entry } of page) {
      entries += 1;
      if (entry.position !== head.position + 1) tell('gap', entry.position);
      else if (entry.hash !== hashOfEntry(head.hash, entry.position, entry.content_hash))
        tell('link', entry.position);
      if (entry.content === null || entry.salt === null) {
        erased += 1;
        if (isHeld > 0) tell('emptied', entry.position);
      } else if (hashOfContent(entry.salt, entry.content) !== entry.content_hash) {
        tell('content', entry.position);
      }
      head = { position: entry.position, hash: entry.hash };
      if (anchor?.position === entry.position) isAnchored = anchor.hash === entry.hash;
    }
    onChecked(entries);
  }
  if (!isAnchored) tell('anchor', anchor?.position ?? 0);
  return { entries, erased, head, faults };
}

const entriesAfter = (db: Db, position: number) =>
  db
    .selectFrom('consent_chain as k')
    .selectAll()
    .select(
      sql<number>`(select count(*) from consent_receipts r where r.id = k.receipt_id) + (select count(*) from withdrawals w where w.id = k.receipt_id)`.as(
        'is_held',
      ),
    )
    .where('k.position', '>', position)
    .orderBy('k.position')
    .limit(PAGE_SIZE)
    .execute();

type Place<Proof> = Omit<ChainEntry, 'content'> & { readonly proof: Proof };
export type PlacedConsent = Place<ConsentProof>;
export type PlacedWithdrawal = Place<WithdrawalProof>;

/** What the chain says of an address, the oldest first, with what shows its place in the chain. */
export async function proofsOf(
  db: Db,
  email: string,
): Promise<{
  readonly consents: readonly PlacedConsent[];
  readonly withdrawals: readonly PlacedWithdrawal[];
}> {
  const placed = async <Proof>(table: Sealed): Promise<Place<Proof>[]> => {
    const rows = await db
      .selectFrom('consent_chain as k')
      .innerJoin(`${rowsOf(table)} as r`, 'r.id', 'k.receipt_id')
      .innerJoin('leads as l', 'l.id', 'r.lead_id')
      .selectAll('k')
      .where('l.email', '=', email)
      .orderBy('k.position')
      .execute();
    return rows.flatMap(({ content, ...entry }) =>
      content === null ? [] : [{ ...entry, proof: JSON.parse(content) as Proof }],
    );
  };
  return { consents: await placed('consent_receipts'), withdrawals: await placed('withdrawals') };
}
