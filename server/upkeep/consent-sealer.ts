// Puts consents, given and taken back, into their chain: some seconds after each, and away from it.
import { setImmediate } from 'node:timers/promises';

import { chainSignerOf, type Secrets } from '#server/secrets/secrets.ts';
import { createCollector } from '#server/platform/collect-garbage.ts';
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { newestFrom, sealRows, unsealedPages } from '#server/db/across/consent-sealing.ts';
import type { Mailer } from '#server/mail/mailer.ts';

export type SealerParts = {
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  readonly mailer: Pick<Mailer, 'messageIdOf'>;
  readonly config: { readonly publicUrl: string };
  readonly clock: () => number;
};

/** Rows in one transaction: some ten milliseconds. */
const AT_ONCE = 100;

/**
 * Seals what is to be sealed, however much that is.
 * @param options onSealed: told how many were sealed so far. whole: every row there is, as at the first start of a release that knows the chain
 * @returns how many were sealed. Throws what the database said
 */
export async function sealConsents(
  { database, secrets, mailer, config, clock }: SealerParts,
  {
    whole,
    shouldStop = () => false,
    onSealed = () => {},
  }: { whole: boolean; shouldStop?: () => boolean; onSealed?: (sealed: number) => void },
): Promise<number> {
  let sealed = 0;
  const collect = createCollector();
  const signer = chainSignerOf(secrets);
  for await (const unsealed of unsealedPages(database.db, whole ? '' : newestFrom(clock()))) {
    for (let from = 0; from < unsealed.length && !shouldStop(); from += AT_ONCE) {
      const ids = unsealed.slice(from, from + AT_ONCE);
      const { messageIdOf } = mailer;
      const page = config.publicUrl;
      sealed += await sealRows(database, { ids, signer, now: clock(), page, messageIdOf });
      onSealed(sealed);
      collect(ids.length);
      // Others have their turn.
      await setImmediate();
    }
    if (shouldStop()) break;
  }
  return sealed;
}

/** Seals at intervals, one look at a time: the first, and the first after a failure, at everything, the others at what is new. */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let isRunning = false;
  let whole = true;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      const isWhole = whole;
      whole = true;
      await sealConsents(parts, { whole: isWhole, shouldStop });
      whole = false;
    } finally {
      isRunning = false;
    }
  };
}
