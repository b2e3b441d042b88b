// Appends consents, given and withdrawn, to their chain: some seconds after each, outside the request that caused it.
import { setImmediate } from 'node:timers/promises';

import { chainSignerOf, type Secrets } from '#server/secrets/secrets.ts';
import { createRests } from '#server/platform/spare-time.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { beginFor, newestFrom, sealRows, unsealedPages } from '#server/db/across/consent-sealing.ts';
import type { OpenMail } from '#server/mail/mail.ts';

export type SealerParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly mail: Pick<OpenMail, 'messageIdOf'>;
  readonly config: { readonly publicUrl: string };
  readonly clock: () => number;
};

/** Rows in one transaction, which takes some ten milliseconds. */
const BATCH_SIZE = 100;

/**
 * Seals every row that is not sealed yet, from a place in the order of their ids on.
 * @returns how many were sealed. Throws what the database threw
 */
export async function sealConsents(
  { database, secrets, mail, config, clock }: SealerParts,
  {
    begin = '',
    shouldStop = () => false,
    onSealed = () => {},
    onLeft = () => {},
    rest = setImmediate,
  }: {
    /** The id behind which it looks; empty: at every row, as at the first start of a release that knows the chain. */
    begin?: string;
    shouldStop?: () => boolean;
    /** Takes how many were sealed so far. */
    onSealed?: (sealed: number) => void;
    /** Takes the id of the first row that is left to processes with a newer secret, and with it all behind it. */
    onLeft?: (id: string) => void;
    /** Awaited after each batch, and after each page of rows that are sealed already. */
    rest?: () => Promise<unknown>;
  } = {},
): Promise<number> {
  let sealed = 0;
  const signer = chainSignerOf(secrets);
  for await (const unsealed of unsealedPages(database.db, begin)) {
    if (unsealed.length === 0) await rest();
    for (let from = 0; from < unsealed.length && !shouldStop(); from += BATCH_SIZE) {
      const ids = unsealed.slice(from, from + BATCH_SIZE);
      const { messageIdOf } = mail;
      const page = config.publicUrl;
      const count = await sealRows(database, { ids, signer, now: clock(), page, messageIdOf });
      if (count === null) {
        onLeft(ids[0]!);
        return sealed;
      }
      sealed += count;
      onSealed(sealed);
      await rest();
    }
    if (shouldStop()) break;
  }
  return sealed;
}

/**
 * Makes one round of sealing. The first looks at every row, each other one at what the last that came to its end may have left: however
 * long that is ago, a process that was suspended, or whose clock was put forward, leaves no row out.
 */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let begin = '';
  return async () => {
    const newest = newestFrom(parts.clock());
    let next = newest;
    await sealConsents(parts, {
      // Behind a clock that was put back, new rows have lower ids.
      begin: lower(begin, newest),
      shouldStop,
      onLeft: (id) => {
        next = lower(newest, beginFor(id));
      },
      rest: createRests(),
    });
    begin = next;
  };
}

const lower = (one: string, other: string): string => (one < other ? one : other);
