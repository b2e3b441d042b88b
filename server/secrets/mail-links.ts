// Links contain only a lead's ID and an expiry time. They are valid while APP_SECRET contains the secret that signed them.
import { DAY_MS } from '#server/platform/time.ts';
import { hmac, isEqual, type Secrets, sign, unsign } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';

type Purpose = 'unsubscribe:' | 'guide:';

const tokenOf = (secrets: Secrets, purpose: Purpose, value: string): string =>
  sign(secrets, purpose + value).slice(purpose.length);

/** @param token the parameter `t` of a link, untrusted */
function read(secrets: Secrets, purpose: Purpose, token: unknown): string | null {
  return typeof token === 'string' ? unsign(secrets, purpose, purpose + token) : null;
}

export const unsubscribeUrl = (secrets: Secrets, publicUrl: string, leadId: string): string =>
  `${publicUrl}${API.unsubscribe}?t=${tokenOf(secrets, 'unsubscribe:', leadId)}`;

export const unsubscribeUrlOf =
  ({ secrets, config }: { readonly secrets: Secrets; readonly config: { readonly publicUrl: string } }) =>
  (leadId: string): string =>
    unsubscribeUrl(secrets, config.publicUrl, leadId);

export const readUnsubscribeToken = (secrets: Secrets, token: unknown): string | null =>
  read(secrets, 'unsubscribe:', token);

export const GUIDE_LINK_DAYS = 7;

export const guideUrl = (secrets: Secrets, publicUrl: string, leadId: string, now: number): string =>
  `${publicUrl}${API.guide}?t=${tokenOf(secrets, 'guide:', `${leadId}:${now + GUIDE_LINK_DAYS * DAY_MS}`)}`;

export function readGuideToken(secrets: Secrets, token: unknown, now: number): string | null {
  const [leadId, until] = read(secrets, 'guide:', token)?.split(':') ?? [];
  return leadId !== undefined && now < Number(until) ? leadId : null;
}

/** 80 bits are enough, because each guess costs an attacker a mail, and the local part must not exceed 64 octets (RFC 5321). */
const BOUNCE_SIGNATURE_BYTES = 10;

const bounceSignature = ({ keys }: Secrets[number], id: string): string =>
  hmac(keys.cookie, `bounce:${id}`).subarray(0, BOUNCE_SIGNATURE_BYTES).toString('hex');

/**
 * The return path of a mail (VERP), unique per mail so that any report identifies it. In lower case, because mail servers may
 * change case.
 */
export const bounceAddress = (secrets: Secrets, mailId: string, domain: string): string =>
  `b-${mailId.replaceAll('-', '')}.${bounceSignature(secrets[0], mailId)}@${domain}`;

const BOUNCE_ADDRESS = /\bb-([0-9a-f]{32})\.([0-9a-f]{20})@/;

/** @param text an e-mail address, or a header that contains one */
export function readBounceAddress(secrets: Secrets, text: string): string | null {
  const [, digits, signed] = BOUNCE_ADDRESS.exec(text.toLowerCase()) ?? [];
  if (digits === undefined || signed === undefined) return null;
  const id = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return secrets.some((secret) => isEqual(bounceSignature(secret, id), signed)) ? id : null;
}
