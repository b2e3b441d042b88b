import { solveChallenge, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2';

export type ProofOfWorkModule = { readonly earnProof: typeof earnProof };

/** Takes the body of `GET /api/proof-of-work`, returns the x-proof-of-work header. */
export async function earnProof(text: string): Promise<string> {
  const challenge = JSON.parse(text) as Challenge;
  const solution = await solveChallenge({ challenge, deriveKey });
  return btoa(JSON.stringify({ challenge, solution }));
}
