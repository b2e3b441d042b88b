// Puts consent receipts into their chain, some seconds after each verification and away from it.
import { setImmediate } from 'node:timers/promises';

import type { OpenDatabase } from '#server/db/connect.ts';
import { sealReceipts } from '#server/db/consent-chain.ts';
import type { Mailer } from '#server/mail/mailer.ts';

export type SealerParts = {
  readonly database: OpenDatabase;
  readonly mailer: Pick<Mailer, 'messageIdOf'>;
  readonly config: { readonly publicUrl: string };
  readonly clock: () => number;
};

/** Receipts in one transaction: some ten milliseconds. */
const AT_ONCE = 100;

/**
 * Seals what is to be sealed, however much that is.
 * @param options whole: every receipt there is, as at the first start of a release that knows the chain
 * @returns how many receipts were sealed. Throws what the database said
 */
export async function sealConsents(
  { database, mailer, config, clock }: SealerParts,
  { whole, shouldStop = () => false }: { whole: boolean; shouldStop?: () => boolean },
): Promise<number> {
  let sealed = 0;
  while (!shouldStop()) {
    const appended = await sealReceipts(database, {
      now: clock(),
      most: AT_ONCE,
      whole,
      page: config.publicUrl,
      messageIdOf: mailer.messageIdOf,
    });
    sealed += appended;
    if (appended < AT_ONCE) break;
    // Others have their turn.
    await setImmediate();
  }
  return sealed;
}

/** Seals at intervals, one look at a time: the first at everything, the others at what is new. */
export function createSealer(parts: SealerParts, shouldStop: () => boolean): () => Promise<void> {
  let isRunning = false;
  let whole = true;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await sealConsents(parts, { whole, shouldStop });
      whole = false;
    } finally {
      isRunning = false;
    }
  };
}
