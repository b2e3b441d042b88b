// Pays for a code while the server's breaker is open. A file of its own: hardly any visitor ever loads it.
import { solveChallenge, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

import { API } from '#shared/api.ts';

/** What the module exports, for who imports it by its address. */
export type ProofOfWorkModule = { readonly earnProof: typeof earnProof };

/**
 * Fetches a challenge and solves it. The browser computes beside the page's thread, so nothing freezes.
 * @returns what the x-proof-of-work header has to hold
 */
export async function earnProof(): Promise<string> {
  const response = await fetch(API.proofOfWork);
  const challenge = (await response.json()) as Challenge;
  const solution = await solveChallenge({ challenge, deriveKey });
  return btoa(JSON.stringify({ challenge, solution }));
}
