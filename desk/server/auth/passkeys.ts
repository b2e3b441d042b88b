// Passkeys sign a person in without an e-mail address. The browser stores a signed challenge, which works once, within five
// minutes.
import { createHash, randomBytes } from 'node:crypto';

import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';

import type { InputOf } from '#desk/endpoints/endpoint.ts';
import type * as endpoints from '#desk/endpoints/passkeys.ts';
import type { Passkey, PasskeyOptions } from '#desk/endpoints/passkeys.ts';
import {
  countFromNetwork,
  resetWrongAttempts,
  recordWrongAttempt,
  type TooMany,
} from '#desk/server/auth/attempts.ts';
import { beginSession, type Client } from '#desk/server/auth/sessions.ts';
import {
  deleteOwn,
  findPasskey,
  insertPasskey,
  recordPasskeyUse,
  passkeysOf,
  type DeskPasskey,
} from '#server/db/tables/desk-access.ts';
import { countInWindow } from '#server/db/tables/limit-windows.ts';
import { isoTime, MINUTE_MS } from '#server/platform/time.ts';
import type { Service } from '#server/startup/service.ts';
import { queueNotice } from '#server/mail/templates/notice-mail.ts';
import { pseudonymsOf, sign, signerOf, unsign } from '#server/secrets/secrets.ts';
import type { DeskConfig } from '#server/settings/settings.ts';
import { asciiAddress } from '#shared/lead.ts';

const CHALLENGE_MS = 5 * MINUTE_MS;
const CHALLENGE_BYTES = 32;
/** EdDSA, ES256, RS256. Listed here, because the library's defaults trigger warnings in Node. */
const COSE_ALGORITHMS = [-8, -7, -257];
type Purpose = 'enter' | `add ${string}`;

type Challenge = { readonly options: PasskeyOptions; readonly signed: string };
type Credential = InputOf<typeof endpoints.signInWithPasskey>['credential'];
type SignInOutcome =
  | { readonly type: 'signed in'; readonly token: string; readonly email: string }
  | { readonly type: 'wrong passkey' }
  | TooMany;

export type Passkeys = {
  readonly list: (email: string) => Promise<readonly Passkey[]>;
  readonly beginRegistration: (email: string) => Promise<Challenge>;
  readonly add: (
    email: string,
    registration: { name: string; credential: Credential; signed: string | null },
  ) => Promise<boolean>;
  readonly remove: (email: string, id: string) => Promise<boolean>;
  readonly beginSignIn: () => Promise<Challenge>;
  /** Counts the attempt before comparing anything. */
  readonly signIn: (
    attempt: Client & { credential: Credential; signed: string | null },
  ) => Promise<SignInOutcome>;
};

export function createPasskeys(service: Service, { url, people }: DeskConfig): Passkeys {
  const { database, secrets, clock, campaign } = service;
  const { db } = database;
  const rpID = new URL(url).hostname;
  const signer = signerOf(secrets, 'desk passkey');
  /** The stored key is signed, so nobody can add or reassign one without APP_SECRET. */
  const signedKey = (owner: { id: string; email: string }, publicKey: string): string =>
    `${publicKey}.${signer.sign(JSON.stringify([owner.id, owner.email, publicKey]))}`;
  const verifiedKey = ({ id, email, public_key: signed }: DeskPasskey): string | null => {
    const [publicKey = '', signature = ''] = signed.split('.');
    return signer.verifies(JSON.stringify([id, email, publicKey]), signature) ? publicKey : null;
  };

  const newChallenge = (purpose: Purpose): { challenge: string; signed: string } => {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    return {
      challenge,
      signed: sign(secrets, `desk-passkey:${purpose}:${clock() + CHALLENGE_MS}:${challenge}`),
    };
  };
  const consumeChallenge = async (signed: string | null, purpose: Purpose): Promise<string | null> => {
    const value = unsign(secrets, `desk-passkey:${purpose}:`, signed ?? '');
    if (value === null) return null;
    const [endsAt = '', challenge = ''] = value.split(':');
    const now = clock();
    if (!(Number(endsAt) > now)) return null;
    const key = createHash('sha256').update(challenge).digest('base64url');
    const count = await countInWindow(db, `desk passkey: ${key}`, CHALLENGE_MS, now);
    return count === 1 ? challenge : null;
  };
  const reject = async (email: string | null, from: string): Promise<SignInOutcome> => {
    const listed = email !== null && people.has(email) ? email : null;
    await recordWrongAttempt(service, { email: listed, from, with: 'passkey' });
    return { type: 'wrong passkey' };
  };
  // Authenticators store the handle, which must not reveal the e-mail address (WebAuthn, section 14.6.1).
  const userHandleOf = (email: string) => Uint8Array.from(Buffer.from(pseudonymsOf(secrets, email)[0]));

  return {
    list: async (email) =>
      (await passkeysOf(db, email)).map(({ id, name, created_at: addedAt, used_at: usedAt }) => ({
        id,
        name,
        addedAt: isoTime(addedAt),
        usedAt: usedAt === null ? null : isoTime(usedAt),
      })),

    beginRegistration: async (email) => {
      const { challenge, signed } = newChallenge(`add ${email}`);
      const known = await passkeysOf(db, email);
      const options = await generateRegistrationOptions({
        rpName: campaign.site.title,
        rpID,
        userName: email,
        userID: userHandleOf(email),
        challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
        attestationType: 'none',
        excludeCredentials: known.map(({ id }) => ({ id })),
        supportedAlgorithmIDs: COSE_ALGORITHMS,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { options: { ...options }, signed };
    },

    add: async (email, { name, credential, signed }) => {
      const challenge = await consumeChallenge(signed, `add ${email}`);
      if (challenge === null) return false;
      const result = await verifyRegistrationResponse({
        // The library checks its shape.
        response: credential as never,
        expectedChallenge: challenge,
        expectedOrigin: url,
        expectedRPID: rpID,
        requireUserVerification: true,
        supportedAlgorithmIDs: COSE_ALGORITHMS,
      }).catch(() => null);
      if (result?.verified !== true) return false;
      const { id, publicKey, counter } = result.registrationInfo.credential;
      const now = clock();
      const isNew = await db.transaction().execute(async (tx) => {
        const passkey = {
          id,
          email,
          name,
          public_key: signedKey({ id, email }, Buffer.from(publicKey).toString('base64url')),
          counter,
          created_at: now,
        };
        if (!(await insertPasskey(tx, passkey))) return false;
        await queueNotice(tx, {
          recipients: [asciiAddress(email) ?? email],
          subject: `A passkey was added to your account at the desk of ${campaign.site.title}`,
          text:
            `A new passkey can now sign in to your account at ${url}. If you did not add this passkey, remove it on the Account page, ` +
            'end your other sessions, and tell the operator of the site.',
          now,
        });
        return true;
      });
      service.mail.wake();
      return isNew;
    },

    remove: (email, id) => deleteOwn(db, 'desk_passkeys', { id, email }),

    beginSignIn: async () => {
      const { challenge, signed } = newChallenge('enter');
      const options = await generateAuthenticationOptions({
        rpID,
        challenge: Uint8Array.from(Buffer.from(challenge, 'base64url')),
        userVerification: 'required',
      });
      return { options: { ...options }, signed };
    },

    signIn: async ({ credential, signed, from, browser }) => {
      const now = clock();
      const tooMany = await db.transaction().execute((tx) => countFromNetwork(tx, 'passkeys', from, now));
      if (tooMany !== null) return tooMany;
      const challenge = await consumeChallenge(signed, 'enter');
      const known = await findPasskey(db, credential.id);
      const publicKey = known === undefined ? null : verifiedKey(known);
      if (challenge === null || known === undefined || publicKey === null || !people.has(known.email))
        return reject(known?.email ?? null, from);
      const { id, email, counter } = known;
      const result = await verifyAuthenticationResponse({
        response: credential as never,
        expectedChallenge: challenge,
        expectedOrigin: url,
        expectedRPID: rpID,
        requireUserVerification: true,
        credential: { id, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')), counter },
      }).catch(() => null);
      if (result?.verified !== true) return reject(email, from);
      const { newCounter } = result.authenticationInfo;
      const token = await db.transaction().execute(async (tx) => {
        // Signed again, so that the passkey survives a change of APP_SECRET.
        const use = { id, counter: newCounter, publicKey: signedKey(known, publicKey), now };
        if (!(await recordPasskeyUse(tx, use))) return null;
        await resetWrongAttempts(tx, service, email);
        return beginSession(tx, secrets, { email, from, browser, now });
      });
      return token === null ? reject(email, from) : { type: 'signed in', token, email };
    },
  };
}
