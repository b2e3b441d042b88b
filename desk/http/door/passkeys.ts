// Passkeys: registered by a person who is signed in, and from then on a way in without an address and without mail. A challenge stands,
// signed, in the browser that asked for it, lives for five minutes, and is taken once.
import { createHash, randomBytes } from 'node:crypto';

import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';

import type { Asked } from '#desk/calls/call.ts';
import type * as calls from '#desk/calls/passkeys.ts';
import type { Passkey, PasskeyOptions } from '#desk/calls/passkeys.ts';
import { countTryFrom, type TooMany } from '#desk/http/door/counted.ts';
import { beginSession, type Place } from '#desk/http/door/sessions.ts';
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  noteUse,
  passkeysOf,
} from '#server/db/tables/desk-passkeys.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import { isoTime, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/run/service.ts';
import { pseudonymsOf } from '#server/secrets/pseudonyms.ts';
import { sign, unsign } from '#server/secrets/secrets.ts';
import type { DeskConfig } from '#server/settings/settings.ts';

const CHALLENGE_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;
/** COSE: EdDSA, ES256, RS256. Named, because the library would ask Node for newer ones, which warns of them. */
const ALGORITHMS = [-8, -7, -257];
/** What it is for; for whom, when it is to register one. */
type Purpose = 'enter' | `add ${string}`;

type Begun = { readonly options: PasskeyOptions; readonly signed: string };
type Given = Asked<typeof calls.enterPasskey>['credential'];
type EnterOutcome =
  | { readonly type: 'in'; readonly token: string; readonly email: string }
  | { readonly type: 'wrong passkey' }
  | TooMany;

export type Passkeys = {
  readonly list: (email: string) => Promise<readonly Passkey[]>;
  readonly beginAdding: (email: string) => Promise<Begun>;
  /** @returns false when it is not what was asked for */
  readonly add: (
    email: string,
    given: { name: string; credential: Given; signed: string | null },
  ) => Promise<boolean>;
  readonly remove: (email: string, id: string) => Promise<boolean>;
  readonly beginEntering: () => Promise<Begun>;
  /** The try is counted before anything is compared. */
  readonly enter: (given: Place & { credential: Given; signed: string | null }) => Promise<EnterOutcome>;
};

/** Makes the passkeys of the people of DESK_PEOPLE. */
export function createPasskeys(service: Service, { url, people }: DeskConfig): Passkeys {
  const { database, secrets, clock, campaign } = service;
  const { db } = database;
  const rpID = new URL(url).hostname;

  const newChallenge = (purpose: Purpose): { challenge: string; signed: string } => {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    return {
      challenge,
      signed: sign(secrets, `desk-passkey:${purpose}:${clock() + CHALLENGE_MS}:${challenge}`),
    };
  };
  /** The challenge that a browser kept, once. */
  const takeChallenge = async (signed: string | null, purpose: Purpose): Promise<string | null> => {
    const value = unsign(secrets, signed ?? '');
    const start = `desk-passkey:${purpose}:`;
    if (value?.startsWith(start) !== true) return null;
    const [endsAt = '', challenge = ''] = value.slice(start.length).split(':');
    const now = clock();
    if (!(Number(endsAt) > now)) return null;
    const key = createHash('sha256').update(challenge).digest('base64url');
    const { count } = await countInWindow(db, `desk passkey: ${key}`, CHALLENGE_MS, now);
    return count === 1 ? challenge : null;
  };
  // Authenticators keep it; it must not be the address (WebAuthn, section 14.6.1).
  const handleOf = (email: string) => Uint8Array.from(Buffer.from(pseudonymsOf(secrets, email)[0]));

  return {
    list: async (email) =>
      (await passkeysOf(db, email)).map(({ id, name, created_at: addedAt, used_at: usedAt }) => ({
        id,
        name,
        addedAt: isoTime(addedAt),
        usedAt: usedAt === null ? null : isoTime(usedAt),
      })),

    beginAdding: async (email) => {
      const { challenge, signed } = newChallenge(`add ${email}`);
      const known = await passkeysOf(db, email);
      const options = await generateRegistrationOptions({
        rpName: campaign.site.title,
        rpID,
        userName: email,
        userID: handleOf(email),
        challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
        attestationType: 'none',
        excludeCredentials: known.map(({ id }) => ({ id })),
        supportedAlgorithmIDs: ALGORITHMS,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { options: { ...options }, signed };
    },

    add: async (email, { name, credential, signed }) => {
      const challenge = await takeChallenge(signed, `add ${email}`);
      if (challenge === null) return false;
      const result = await verifyRegistrationResponse({
        response: credential as never,
        expectedChallenge: challenge,
        expectedOrigin: url,
        expectedRPID: rpID,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }).catch(() => null);
      if (result?.verified !== true) return false;
      const { id, publicKey, counter } = result.registrationInfo.credential;
      return insertPasskey(db, {
        id,
        email,
        name,
        public_key: Buffer.from(publicKey).toString('base64url'),
        counter,
        created_at: clock(),
      });
    },

    remove: (email, id) => deletePasskey(db, { id, email }),

    beginEntering: async () => {
      const { challenge, signed } = newChallenge('enter');
      const options = await generateAuthenticationOptions({
        rpID,
        challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
        userVerification: 'required',
      });
      return { options: { ...options }, signed };
    },

    enter: async ({ credential, signed, from, browser }) => {
      const now = clock();
      const tooMany = await countTryFrom(db, from, now);
      if (tooMany !== null) return tooMany;
      const challenge = await takeChallenge(signed, 'enter');
      const known = await findPasskey(db, credential.id);
      if (challenge === null || known === undefined || !people.has(known.email))
        return { type: 'wrong passkey' };
      const { id, email, public_key: publicKey, counter } = known;
      const result = await verifyAuthenticationResponse({
        response: credential as never,
        expectedChallenge: challenge,
        expectedOrigin: url,
        expectedRPID: rpID,
        requireUserVerification: true,
        credential: { id, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')), counter },
      }).catch(() => null);
      if (result?.verified !== true) return { type: 'wrong passkey' };
      const { newCounter } = result.authenticationInfo;
      const token = await db.transaction().execute(async (tx) => {
        await noteUse(tx, { id, counter: newCounter, now });
        return beginSession(tx, { email, from, browser, now });
      });
      return { type: 'in', token, email };
    },
  };
}
