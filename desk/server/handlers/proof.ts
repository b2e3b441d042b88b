import * as z from 'zod/mini';

import { PROOF_PATH } from '#desk/endpoints/people.ts';
import { CommandFailure } from '#desk/command-failure.ts';
import { pageResponse, readQuery, type FileCall } from '#desk/server/handlers/files.ts';
import { consentProofs } from '#desk/people/consent-proofs.ts';
import { addressOfPerson } from '#server/db/contacts/people.ts';

const ProofAsked = z.object({ id: z.string() });

/** Idle connections are closed after a minute. */
const LONGEST_MS = 45_000;

/** Prepares one proof at a time, because each checks the whole chain. */
export function createProof(): FileCall {
  let before: Promise<unknown> = Promise.resolve();
  return {
    path: PROOF_PATH,
    needs: 'read',
    handle: async ({ service, note, signal: gone }, query) => {
      const { id } = readQuery(ProofAsked, query);
      const email = await addressOfPerson(service.database.db, id);
      if (email === undefined) return null;
      const tooLong = AbortSignal.timeout(LONGEST_MS);
      const signal = AbortSignal.any([gone, tooLong]);
      const make = async () => {
        signal.throwIfAborted();
        return consentProofs(service, email, { signal, onSealed: () => {}, onChecked: () => {} });
      };
      const made = before.then(make);
      before = made.catch(() => {});
      const { page } = await made.catch((error: unknown) => {
        if (gone.aborted || error !== tooLong.reason) throw error;
        throw new CommandFailure(
          `The proof took too long for a browser, because it checks all consents. Try again, or run this command on the server: npm run -s desk -- consent export ${email}`,
        );
      });
      await note('exported', email, 'proof of consent');
      return pageResponse(page);
    },
  };
}
