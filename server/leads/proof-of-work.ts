// A proof of work is cheap for a visitor, but expensive for an attacker who requests ten thousand codes. Uses version 2 of
// the ALTCHA protocol, without contacting another host.
import { createChallenge, randomInt, verifySolution, type Challenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import * as z from 'zod/mini';

import type { Secrets } from '#server/secrets/secrets.ts';
import { CLOCKS_DIFFER_MS } from '#server/platform/time.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { PROOF_OF_WORK } from '#server/settings/fixed-limits.ts';
import { orNull } from '#shared/or-null.ts';

const { iterations: ITERATIONS, attempts: ATTEMPTS, lifeMs: VALID_MS } = PROOF_OF_WORK;
const ALGORITHM = 'PBKDF2/SHA-256';
const KEY_BYTES = 32;
const UINT32_MAX = 0xffff_ffff;

const hex = (minLength: number, maxLength = minLength) =>
  z.string().check(z.minLength(minLength), z.maxLength(maxLength), z.regex(/^[0-9a-f]*$/));

/** Validated here, because the library trusts its input. */
const Payload = z.strictObject({
  challenge: z.strictObject({
    parameters: z.strictObject({
      algorithm: z.literal(ALGORITHM),
      nonce: hex(32),
      salt: hex(32),
      cost: z.int().check(z.minimum(1), z.maximum(100 * ITERATIONS)),
      keyLength: z.literal(KEY_BYTES),
      keyPrefix: hex(2, 2 * KEY_BYTES),
      keySignature: hex(64),
      data: z.strictObject({ validUntil: z.int().check(z.nonnegative()) }),
    }),
    signature: hex(64),
  }),
  solution: z.strictObject({
    counter: z.int().check(z.nonnegative(), z.maximum(UINT32_MAX)),
    derivedKey: hex(2 * KEY_BYTES),
    time: z.optional(z.number().check(z.nonnegative())),
  }),
});
type Payload = z.infer<typeof Payload>;

export type ProofOfWork = {
  readonly challenge: () => Promise<Challenge>;
  /** @param header untrusted; JSON with challenge and solution, in base64 */
  readonly accepts: (header: unknown) => Promise<boolean>;
};

export function createProofOfWork(db: Db, secrets: Secrets, clock: () => number): ProofOfWork {
  const signingSecrets = ({ keys }: Secrets[0]) => {
    const secret = keys['proof of work'].export().toString('base64url');
    return {
      hmacSignatureSecret: `challenge ${secret}`,
      hmacKeySignatureSecret: `solution ${secret}`,
    };
  };

  const isSolved = async (payload: Payload): Promise<boolean> => {
    const { challenge } = payload;
    const { counter, derivedKey } = payload.solution;
    const solution = { counter, derivedKey };
    for (const secret of secrets) {
      try {
        const { verified } = await verifySolution({
          challenge,
          solution,
          deriveKey,
          ...signingSecrets(secret),
        });
        if (verified) return true;
      } catch {
        return false;
      }
    }
    return false;
  };

  return {
    challenge: () =>
      createChallenge({
        algorithm: ALGORITHM,
        keyLength: KEY_BYTES,
        cost: ITERATIONS,
        // With a known answer, solving takes a similar time for everyone, and checking is cheap.
        counter: randomInt(ATTEMPTS.max, ATTEMPTS.min),
        deriveKey,
        // Our own expiry, because the library's uses the machine's clock.
        data: { validUntil: clock() + VALID_MS },
        ...signingSecrets(secrets[0]),
      }),
    accepts: async (header) => {
      const payload = parsePayload(header);
      if (payload === null) return false;
      const { data, nonce } = payload.challenge.parameters;
      const validForMs = data.validUntil - clock();
      // A challenge that is valid for too long was created with a wrong clock, and would outlast the record of its use.
      if (!(validForMs > 0 && validForMs <= VALID_MS + CLOCKS_DIFFER_MS)) return false;
      if (!(await isSolved(payload))) return false;
      const count = await countInWindow(db, `proof of work: ${nonce}`, VALID_MS, clock());
      return count === 1;
    },
  };
}

const HEADER_MAX_LENGTH = 4_000;

function parsePayload(header: unknown): Payload | null {
  if (typeof header !== 'string' || header.length > HEADER_MAX_LENGTH) return null;
  const json = orNull<unknown>(() => JSON.parse(Buffer.from(header, 'base64').toString('utf8')));
  return Payload.safeParse(json).data ?? null;
}
