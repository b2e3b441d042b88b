// Appends consents, given and withdrawn, to their chain: some seconds after each, outside the request that caused it.
import { setImmediate } from 'node:timers/promises';

import { chainSignerOf, type Secrets } from '#server/secrets/secrets.ts';
import { createRests } from '#server/platform/spare-time.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { newestFrom, sealRows, unsealedPages } from '#server/db/across/consent-sealing.ts';
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
 * Seals every row that is not sealed yet.
 * @returns how many were sealed. Throws what the database threw
 */
export async function sealConsents(
  { database, secrets, mail, config, clock }: SealerParts,
  {
    whole,
    shouldStop = () => false,
    onSealed = () => {},
    rest = setImmediate,
  }: {
    /** Looks at every row there is, as at the first start of a release that knows the chain; false: at new rows. */
    whole: boolean;
    shouldStop?: () => boolean;
    /** Takes how many were sealed so far. */
    onSealed?: (sealed: number) => void;
    /** Awaited after each batch. */
    rest?: () => Promise<unknown>;
  },
): Promise<number> {
  let sealed = 0;
  const signer = chainSignerOf(secrets);
  for await (const unsealed of unsealedPages(database.db, whole ? '' : newestFrom(clock()))) {
    for (let from = 0; from < unsealed.length && !shouldStop(); from += BATCH_SIZE) {
      const ids = unsealed.slice(from, from + BATCH_SIZE);
      const { messageIdOf } = mail;
      const page = config.publicUrl;
      sealed += await sealRows(database, { ids, signer, now: clock(), page, messageIdOf });
      onSealed(sealed);
      await rest();
    }
    if (shouldStop()) break;
  }
  return sealed;
}

/** Makes one round of sealing: the first, and the first after a failure, looks at every row, the others at new rows. */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let whole = true;
  return async () => {
    const isWhole = whole;
    whole = true;
    await sealConsents(parts, { whole: isWhole, shouldStop, rest: createRests() });
    whole = false;
  };
}
