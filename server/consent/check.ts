import { sql } from 'kysely';

import {
  acceptancesIn,
  BEGINNING,
  erasurePosition,
  hashOfContent,
  hashOfEntry,
  sha256,
  signedHead,
  type ChainEntry,
  type ChainError,
  type ChainHead,
  type Contents,
  type RowKind,
  type SignedHead,
} from '#server/consent/chain.ts';
import { readRowsInOrder, type RowFacts } from '#server/consent/row-facts.ts';
import { OVERLAP_MS, unsealedPages } from '#server/consent/sealer.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { timeOfId } from '#server/db/engine/ids.ts';
import { pagesAfter } from '#server/db/engine/page-through-table.ts';
import type { Secrets } from '#server/secrets/secrets.ts';
import { orNull } from '#shared/or-null.ts';

export type ChainReport = {
  readonly entries: number;
  readonly erased: number;
  readonly head: ChainHead;
  readonly errorCount: number;
  readonly errors: readonly ChainError[];
  readonly accepted: readonly ChainError[];
};

type CheckedEntry = ChainEntry & {
  readonly erasure_position: number | null;
  readonly facts: RowFacts[RowKind] | null;
};

export type CheckOptions = {
  /** An earlier head, which the chain must contain. */
  readonly anchor?: ChainHead | undefined;
  readonly maxErrors?: number;
  readonly onChecked?: (entries: number) => void;
  /** Called before the entry's errors are reported. `content` is null if unreadable. */
  readonly onEntry?: (entry: CheckedEntry, content: object | null) => void;
  readonly onError?: (error: ChainError, isAccepted: boolean) => void;
};

const PAGE_SIZE = 100;
const noop = () => {};

export async function verifyChain(
  db: Db,
  { secrets, now, ...options }: CheckOptions & { readonly secrets: Secrets; readonly now: number },
): Promise<ChainReport> {
  const { anchor, maxErrors = 100, onChecked = noop, onEntry = noop, onError = noop } = options;
  const accepted = await readAcceptances(db, secrets);
  const known = new Set(accepted.map(({ fingerprint }) => fingerprint));
  const errors: ChainError[] = [];
  let errorCount = 0;
  const report = (error: ChainError) => {
    const isAccepted = known.has(error.fingerprint);
    onError(error, isAccepted);
    if (isAccepted) return;
    errorCount += 1;
    if (errors.length < maxErrors) errors.push(error);
  };
  let [entries, erased, after] = [0, 0, Number.MIN_SAFE_INTEGER];
  let head = BEGINNING;
  let isAnchored = anchor?.position === 0 && anchor.hash === head.hash;

  /** @returns whether any were found */
  const checkNewEntries = async (): Promise<boolean> => {
    const before = entries;
    const readAfter = (position: number) => entriesAfter(db, position);
    for await (const page of pagesAfter(after, readAfter, ({ position }) => position)) {
      for (const entry of page) {
        const { position, hash } = entry;
        const content = readContent(entry);
        entries += 1;
        after = position;
        if (entry.content === null) erased += 1;
        onEntry(entry, content);
        for (const error of [...checkPlace(head, entry), ...checkContent(entry, content)]) report(error);
        if (position > 0) head = { position, hash };
        if (position === anchor?.position) isAnchored = hash === anchor.hash;
      }
      onChecked(entries);
    }
    return entries > before;
  };

  // Repeats until no entry was appended after the signature was read, so it is the signature of the last entry checked.
  let signed;
  do signed = await signedHead(db, secrets);
  while (await checkNewEntries());
  for (const error of await checkHead(db, signed, head)) report(error);
  for await (const ids of unsealedPages(db, '')) {
    for (const id of ids) if (!isRecent(id, now)) report(unsealed(id));
  }
  if (anchor !== undefined && !isAnchored)
    report(errorAt(anchor.position, 'the anchored entry', 'none or a different entry', anchor.hash));
  return { entries, erased, head, errorCount, errors, accepted: accepted.slice(0, maxErrors) };
}

/** Reads only entries below the signed head, because a stranger may have appended others. */
async function readAcceptances(db: Db, secrets: Secrets): Promise<readonly ChainError[]> {
  const signed = await signedHead(db, secrets);
  if (signed === null || !signed.isGenuine) return [];
  return (await acceptancesIn(db))
    .filter((entry) => entry.position <= signed.position && entry.hash === hashOfEntry(entry))
    .flatMap((entry) => (readContent(entry) as Contents['acceptance'] | null)?.errors ?? []);
}

function readContent({ content, salt, content_hash: hash }: ChainEntry): object | null {
  if (content === null || salt === null || hashOfContent(salt, content) !== hash) return null;
  const parsed = orNull<unknown>(() => JSON.parse(content));
  return typeof parsed === 'object' ? parsed : null;
}

const entriesAfter = (db: Db, after: number): Promise<readonly CheckedEntry[]> =>
  readRowsInOrder(
    db,
    sql<ChainEntry & { readonly erasure_position: number | null }>`
      select position, kind, row_id, content, salt, content_hash, previous, hash, sealed_at,
        ${erasurePosition} as erasure_position
      from consent_chain entry where position > ${after} order by position limit ${PAGE_SIZE}
    `,
    'position',
  );

function errorAt(
  position: number,
  expected: string,
  found: string,
  state: unknown,
  unproves: ChainError['unproves'] = [position, position],
): ChainError {
  const fingerprint = sha256(JSON.stringify([position, expected, found, state]));
  return { position, expected, found, unproves, fingerprint };
}

function checkPlace(before: ChainHead, entry: CheckedEntry): readonly ChainError[] {
  const { position, previous, kind, row_id: rowId, content_hash: contentHash, hash } = entry;
  // The hash covers all earlier entries, so accepting this error accepts them as well.
  const state = [before.hash, previous, kind, rowId, contentHash, hash];
  // A row whose entry was removed or replaced is sealed again, perhaps changed, so later entries are unproven, too.
  const error = (expected: string, found: string) => [errorAt(position, expected, found, state, 'all')];
  if (position !== before.position + 1) return error(`entry ${before.position + 1}`, `entry ${position}`);
  if (previous === before.hash && hash === hashOfEntry(entry)) return [];
  return error(`the hash that follows entry ${before.position}`, 'a different hash');
}

function checkContent(entry: CheckedEntry, content: object | null): readonly ChainError[] {
  const { position, kind, erasure_position: erasure, facts } = entry;
  // The salt is erased with the person, so the hash of this state reveals nothing.
  const state = [entry.salt, entry.content, facts];
  const error = (expected: string, found: string) => [errorAt(position, expected, found, state)];
  if (erasure !== null) {
    const left = [entry.content !== null && 'its content', facts !== null && `its ${kind}`].filter(Boolean);
    return left.length === 0
      ? []
      : error(`nothing after its erasure in entry ${erasure}`, left.join(' and '));
  }
  if (entry.content === null) return error('its content, or an erasure', 'neither');
  if (content === null) return error('the sealed content', 'different content');
  if (kind === 'erasure' || kind === 'acceptance') return [];
  if (facts === null) return error(`its ${kind}`, 'none');
  const sealed = content as Readonly<Record<string, unknown>>;
  const fields = Object.entries(facts)
    .filter(([field, value]) => field in sealed && sealed[field] !== value)
    .map(([field]) => field);
  return fields.length === 0 ? [] : error(`its ${kind} as sealed`, `different values (${fields.join(', ')})`);
}

async function checkHead(
  db: Db,
  signed: SignedHead | null,
  newest: ChainHead,
): Promise<readonly ChainError[]> {
  const { position, hash, isGenuine } = signed ?? { ...BEGINNING, isGenuine: true };
  // The fingerprint contains the newest hash, which an acceptance changes, so these errors never count as accepted.
  const error = (at: number, expected: string, found: string, from: number) =>
    errorAt(at, expected, found, newest.hash, [from, newest.position]);
  const found = isGenuine
    ? []
    : [error(position, 'a signature made with APP_SECRET', 'a different signature', 0)];
  const row = await db
    .selectFrom('consent_chain')
    .select('hash')
    .where('position', '=', position)
    .executeTakeFirst();
  if (position > 0 && row?.hash !== hash)
    found.push(error(position, 'the entry signed as the newest', 'none or a different entry', 0));
  else if (newest.position > position)
    found.push(error(position + 1, 'a signature', 'none from this entry on', position + 1));
  return found;
}

/** The newest consents may still be waiting for their mail. An ID in a foreign format has no time. */
const isRecent = (id: string, now: number): boolean => Math.abs(now - timeOfId(id)) <= OVERLAP_MS;

const unsealed = (id: string): ChainError => {
  const [expected, found] = [`an entry for consent or withdrawal ${id}`, 'none'];
  return { position: null, expected, found, unproves: [0, -1], fingerprint: sha256(expected) };
};
