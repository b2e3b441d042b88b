// A proof of work, asked for while the breaker is open: cheap for one visitor, dear for who wants ten thousand codes.
// ALTCHA's protocol (version 2), solved by our own page; no other host is involved.
import { createChallenge, randomInt, verifySolution, type Challenge, type Payload } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';

import type { Secrets } from '#server/access/secrets.ts';
import { CLOCKS_DIFFER_MS } from '#server/db/clocks.ts';
import { countInWindow } from '#server/db/limit-windows.ts';
import type { Db } from '#server/db/connect.ts';

/** Some 0.7 s on a desktop, and 3 s on a processor four times slower (docs/decisions/0009). */
const ITERATIONS = 1_000;
const TRIES = { least: 2_000, most: 4_000 };
const VALID_MS = 5 * 60_000;

export type ProofOfWork = {
  /** A new challenge for a browser to solve. */
  readonly challenge: () => Promise<Challenge>;
  /**
   * Whether a header holds the solution of a challenge of ours that has not been used before.
   * @param header base64 of the JSON of challenge and solution; anything a stranger sends instead
   */
  readonly accepts: (header: string | undefined) => Promise<boolean>;
};

type ProofOfWorkParts = {
  readonly db: Db;
  readonly secrets: Secrets;
  readonly clock: () => number;
};

/** Makes it out of its parts. */
export function createProofOfWork({ db, secrets, clock }: ProofOfWorkParts): ProofOfWork {
  const signing = ({ keys }: Secrets[0]) => {
    const secret = Buffer.from(keys['proof of work']).toString('base64url');
    return {
      hmacSignatureSecret: `challenge ${secret}`,
      hmacKeySignatureSecret: `solution ${secret}`,
    };
  };

  const isSolved = async (payload: Payload): Promise<boolean> => {
    for (const secret of secrets) {
      try {
        if ((await verifySolution({ ...payload, deriveKey, ...signing(secret) })).verified) return true;
      } catch {
        // Not a challenge at all.
        return false;
      }
    }
    return false;
  };

  return {
    challenge: () =>
      createChallenge({
        algorithm: 'PBKDF2/SHA-256',
        cost: ITERATIONS,
        // A known answer: solving takes about the same for everybody, and checking it costs us next to nothing.
        counter: randomInt(TRIES.most, TRIES.least),
        deriveKey,
        // Signed with the rest. The library's own expiry reads the machine's clock; ours is given to us.
        data: { validUntil: clock() + VALID_MS },
        ...signing(secrets[0]),
      }),
    accepts: async (header) => {
      const payload = parsePayload(header);
      if (payload === null) return false;
      const { data, nonce } = payload.challenge.parameters;
      const validForMs = Number(data?.['validUntil']) - clock();
      // One that is good for longer than any was made by a clock that was wrong: it would outlive the note of its use.
      if (!(validForMs > 0 && validForMs <= VALID_MS + CLOCKS_DIFFER_MS)) return false;
      if (!(await isSolved(payload))) return false;
      const { count } = await countInWindow(db, `proof of work: ${nonce}`, VALID_MS, clock());
      return count === 1;
    },
  };
}

const HEADER_MAX_LENGTH = 4_000;

function parsePayload(header: string | undefined): Payload | null {
  if (header === undefined || header.length > HEADER_MAX_LENGTH) return null;
  try {
    const payload = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as Payload | null;
    return payload?.challenge?.parameters && payload.solution ? payload : null;
  } catch {
    return null;
  }
}
