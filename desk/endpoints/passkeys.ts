// Passkeys (WebAuthn), as JSON for navigator.credentials. They are discoverable, so signing in needs no e-mail address.
import * as z from 'zod/mini';

import { get, oneLine, post, type Nothing } from '#desk/endpoints/endpoint.ts';

const LONGEST = 10_000;
const base64url = z.string().check(z.regex(/^[\w-]+$/), z.maxLength(LONGEST));

const Credential = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.record(z.string(), z.unknown()),
  clientExtensionResults: z.optional(z.record(z.string(), z.unknown())),
  authenticatorAttachment: z.optional(z.nullable(z.string())),
});

export type PasskeyOptions = { readonly challenge: string } & Readonly<Record<string, unknown>>;

export type Passkey = {
  readonly id: string;
  readonly name: string;
  readonly addedAt: string;
  readonly usedAt: string | null;
};

export const passkeys = get<{ readonly passkeys: readonly Passkey[] }>()('/api/passkeys', 'read');
/** Error for the person at the machine, who has no e-mail address: 422. */
export const newPasskeyOptions = post<PasskeyOptions>()('/api/passkeys/options', 'read');
/** Must come from the browser that began the registration. Error: 400 `wrong-passkey` */
export const addPasskey = post<Nothing>()(
  '/api/passkeys/add',
  'read',
  z.object({
    name: z.string().check(oneLine, z.trim(), z.minLength(1), z.maxLength(100)),
    credential: Credential,
  }),
);
export const removePasskey = post<Nothing>()('/api/passkeys/remove', 'read', z.object({ id: z.string() }));
export const passkeySignInOptions = post<PasskeyOptions>()('/api/sign-in/passkey/options', null);
/** Must come from the browser that began the sign-in. Error: 400 `wrong-passkey` */
export const signInWithPasskey = post<Nothing>()(
  '/api/sign-in/passkey',
  null,
  z.object({ credential: Credential }),
);
