// The proof of a person's consent, as a page to print.
import * as z from 'zod/mini';

import { PROOF_PATH } from '#desk/calls/people.ts';
import { pageAnswer, readQuery, type FileCall } from '#desk/http/answers/files.ts';
import { consentProofs } from '#desk/people/consent-proofs.ts';
import { addressOfPerson } from '#server/db/people/one-person.ts';

const ProofAsked = z.object({ id: z.string() });

export const proof: FileCall = {
  path: PROOF_PATH,
  needs: 'read',
  handle: async ({ service, note, signal }, query) => {
    const { id } = readQuery(ProofAsked, query);
    const email = await addressOfPerson(service.database.db, id);
    if (email === undefined) return null;
    const watching = { signal, onSealed: () => {}, onChecked: () => {} };
    const { page } = await consentProofs(service, email, watching);
    await note('looked', email, 'proof of consent');
    return pageAnswer(page);
  },
};
