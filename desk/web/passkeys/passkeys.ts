// Passkeys in the browser: whether it has them, the dialogue in which a person makes or uses one, and what to do when that fails.
import type { Asked } from '#desk/endpoints/endpoint.ts';
import type { enterPasskey, PasskeyOptions } from '#desk/endpoints/passkeys.ts';
import { passkeys as words } from '#desk/web/words.ts';

type Credential = Asked<typeof enterPasskey>['credential'];

/** What is asked about a browser. */
type Browser = {
  readonly location: { readonly hostname: string };
  readonly PublicKeyCredential?: unknown;
};

/** A passkey belongs to a name: no browser makes one for an address in numbers. */
const IN_NUMBERS = /^\[|^[\d.]+$/;

/** Whether passkeys can be made and used here. */
export function canUsePasskeys({ location, PublicKeyCredential: given }: Browser = window): boolean {
  return (
    typeof given === 'function' &&
    'parseCreationOptionsFromJSON' in given &&
    'parseRequestOptionsFromJSON' in given &&
    !IN_NUMBERS.test(location.hostname)
  );
}

type Deed = 'add' | 'use';

/** What to do after a failure of the browser's dialogue; null when the person cancelled it, or let its time pass. */
export function failureIn(deed: Deed, error: unknown): string | null {
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
    case 'AbortError':
      return null;
    case 'InvalidStateError':
      return deed === 'add' ? words.failures.known : words.failures[deed];
    case 'ConstraintError':
    case 'NotSupportedError':
      return deed === 'add' ? words.failures.unfit : words.failures[deed];
    case 'SecurityError':
      return words.failures.wrongAddress;
    default:
      return words.failures[deed];
  }
}

async function inDialogue(
  deed: Deed,
  open: () => Promise<globalThis.Credential | null>,
): Promise<Credential | null> {
  try {
    const credential = (await open()) as PublicKeyCredential | null;
    if (credential === null) return null;
    const { response, clientExtensionResults, ...rest } = credential.toJSON();
    return {
      ...rest,
      type: 'public-key',
      response: { ...response },
      clientExtensionResults: { ...clientExtensionResults },
    };
  } catch (error) {
    const sentence = failureIn(deed, error);
    if (sentence === null) return null;
    throw new Error(sentence, { cause: error });
  }
}

/** Opens the browser's dialogue that makes a passkey. @returns null when it was cancelled. Throws a sentence for the reader. */
export const makePasskey = (options: PasskeyOptions, signal: AbortSignal): Promise<Credential | null> =>
  inDialogue('add', () =>
    navigator.credentials.create({
      signal,
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
        // The browser looks into them itself.
        options as unknown as PublicKeyCredentialCreationOptionsJSON,
      ),
    }),
  );

/** Opens the browser's dialogue that chooses a passkey. @returns null when it was cancelled. Throws a sentence for the reader. */
export const choosePasskey = (options: PasskeyOptions, signal: AbortSignal): Promise<Credential | null> =>
  inDialogue('use', () =>
    navigator.credentials.get({
      signal,
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  );
