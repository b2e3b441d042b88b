// Pays for a code while the server's breaker is open. A separate file, because hardly any visitor loads it.
import { solveChallenge, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

/** The module's exports, for code that imports it by its address. */
export type ProofOfWorkModule = { readonly earnProof: typeof earnProof };

/**
 * Solves a challenge. The browser computes beside the page's thread, so nothing freezes.
 * @param text the challenge as `GET /api/proof-of-work` gave it
 * @returns what the x-proof-of-work header has to hold
 */
export async function earnProof(text: string): Promise<string> {
  const challenge = JSON.parse(text) as Challenge;
  const solution = await solveChallenge({ challenge, deriveKey });
  return btoa(JSON.stringify({ challenge, solution }));
}
