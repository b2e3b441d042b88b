import type { InputOf } from '#desk/endpoints/endpoint.ts';
import type { signInWithPasskey, PasskeyOptions } from '#desk/endpoints/passkeys.ts';

type Credential = InputOf<typeof signInWithPasskey>['credential'];

type Browser = {
  readonly location: { readonly hostname: string };
  readonly PublicKeyCredential?: unknown;
};

/** Passkeys need a domain name; they don't work with an IP address. */
const IP_ADDRESS = /^\[|^[\d.]+$/;

export function canUsePasskeys({ location, PublicKeyCredential: api }: Browser = window): boolean {
  return (
    typeof api === 'function' &&
    'parseCreationOptionsFromJSON' in api &&
    'parseRequestOptionsFromJSON' in api &&
    !IP_ADDRESS.test(location.hostname)
  );
}

const FAILURES = {
  add: 'The browser could not create a passkey. Set up a screen lock, or use another browser or device.',
  use: 'The browser could not use a passkey. Try again, or sign in with an e-mailed code.',
} as const;

const ALREADY_ADDED =
  'This device already has one of your passkeys. Sign in with that passkey, or remove it from the list before you add another.';

type Action = 'add' | 'use';

/** Returns null if the user cancelled or the time ran out. */
export function describePasskeyError(action: Action, error: unknown): string | null {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'AbortError') return null;
  return name === 'InvalidStateError' && action === 'add' ? ALREADY_ADDED : FAILURES[action];
}

async function askBrowser(
  action: Action,
  call: () => Promise<globalThis.Credential | null>,
): Promise<Credential | null> {
  try {
    const credential = (await call()) as PublicKeyCredential | null;
    if (credential === null) return null;
    const { response, clientExtensionResults, ...rest } = credential.toJSON();
    return {
      ...rest,
      type: 'public-key',
      response: { ...response },
      clientExtensionResults: { ...clientExtensionResults },
    };
  } catch (error) {
    const sentence = describePasskeyError(action, error);
    if (sentence === null) return null;
    throw new Error(sentence, { cause: error });
  }
}

/** Returns null if cancelled. Errors have a message for the user. */
export const createPasskey = (options: PasskeyOptions, signal: AbortSignal): Promise<Credential | null> =>
  askBrowser('add', () =>
    navigator.credentials.create({
      signal,
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        options as unknown as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  );

/** Returns null if cancelled. Errors have a message for the user. */
export const choosePasskey = (options: PasskeyOptions, signal: AbortSignal): Promise<Credential | null> =>
  askBrowser('use', () =>
    navigator.credentials.get({
      signal,
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  );
