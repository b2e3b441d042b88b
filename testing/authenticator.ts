// A WebAuthn authenticator in software, with a P-256 key.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

type Options = Readonly<Record<string, unknown>> & { readonly challenge: string };
type Deviations = {
  /** Origin of the requesting page, if it is the wrong one. */
  readonly origin?: string;
  /** User verification, such as a fingerprint or PIN. */
  readonly verifies?: boolean;
};

export type Authenticator = {
  readonly id: string;
  readonly create: (options: Options, deviations?: Deviations) => object;
  readonly get: (options: Options, deviations?: Deviations) => object;
};

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const base64url = (data: Buffer): string => data.toString('base64url');

/** CBOR of {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053, section 7.1). */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.concat([Buffer.from([0x58, 0x20]), Buffer.from(text, 'base64url')]);
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(x),
    Buffer.from([0x22]),
    bytes(y),
  ]);
}

/** CBOR of {fmt: "none", attStmt: {}, authData}. */
const attestation = (authData: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xa3, 0x63]),
    Buffer.from('fmt'),
    Buffer.from([0x64]),
    Buffer.from('none'),
    Buffer.from([0x67]),
    Buffer.from('attStmt'),
    Buffer.from([0xa0, 0x68]),
    Buffer.from('authData'),
    Buffer.from([0x58, authData.length]),
    authData,
  ]);

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

export function createAuthenticator(url: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(16);
  const id = base64url(credentialId);
  let counter = 0;
  const dataOf = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authDataOf = (verifies: boolean, flags: number) => {
    counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flag = Buffer.from([PRESENT | (verifies ? VERIFIED : 0) | flags]);
    return Buffer.concat([sha256(new URL(url).hostname), flag, count]);
  };
  const credential = (response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });
  return {
    id,
    create: ({ challenge }, { origin = url, verifies = true } = {}) => {
      const length = Buffer.from([0, credentialId.length]);
      const authData = Buffer.concat([
        authDataOf(verifies, HAS_KEY),
        Buffer.alloc(16),
        length,
        credentialId,
        coseKey(publicKey),
      ]);
      return credential({
        clientDataJSON: base64url(dataOf('webauthn.create', challenge, origin)),
        attestationObject: base64url(attestation(authData)),
        transports: ['internal'],
      });
    },
    get: ({ challenge }, { origin = url, verifies = true } = {}) => {
      const clientData = dataOf('webauthn.get', challenge, origin);
      const authData = authDataOf(verifies, 0);
      const signed = Buffer.concat([authData, sha256(clientData)]);
      return credential({
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(authData),
        signature: base64url(sign('sha256', signed, privateKey)),
      });
    },
  };
}
