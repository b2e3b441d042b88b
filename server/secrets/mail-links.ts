// Signed links in our mails, with only a lead's ID and an expiry. They are valid as long as APP_SECRET lists
// the secret that signed them.
import { DAY_MS } from '#server/platform/time.ts';
import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';

/** Signed too, so a cookie or another kind of link never passes for this one. */
type Purpose = 'unsubscribe:' | 'guide:';

const tokenOf = (secrets: Secrets, purpose: Purpose, value: string): string =>
  sign(secrets, purpose + value).slice(purpose.length);

/** @param token the parameter `t` of a link, untrusted */
function read(secrets: Secrets, purpose: Purpose, token: unknown): string | null {
  return typeof token === 'string' ? (unsign(secrets, purpose + token)?.slice(purpose.length) ?? null) : null;
}

/**
 * Valid for years.
 * @param publicUrl URL of the public page
 */
export const unsubscribeUrl = (secrets: Secrets, publicUrl: string, leadId: string): string =>
  `${publicUrl}${API.unsubscribe}?t=${tokenOf(secrets, 'unsubscribe:', leadId)}`;

export const unsubscribeUrlOf =
  ({ secrets, config }: { readonly secrets: Secrets; readonly config: { readonly publicUrl: string } }) =>
  (leadId: string): string =>
    unsubscribeUrl(secrets, config.publicUrl, leadId);

/** @returns the lead's ID; null for an invalid link */
export const readUnsubscribeToken = (secrets: Secrets, token: unknown): string | null =>
  read(secrets, 'unsubscribe:', token);

export const GUIDE_LINK_DAYS = 7;

/**
 * Works on any device.
 * @param now milliseconds since 1970
 */
export const guideUrl = (secrets: Secrets, publicUrl: string, leadId: string, now: number): string =>
  `${publicUrl}${API.guide}?t=${tokenOf(secrets, 'guide:', `${leadId}:${now + GUIDE_LINK_DAYS * DAY_MS}`)}`;

/** @returns the lead's ID; null for an invalid or expired link */
export function readGuideToken(secrets: Secrets, token: unknown, now: number): string | null {
  const [leadId, until] = read(secrets, 'guide:', token)?.split(':') ?? [];
  return leadId !== undefined && now < Number(until) ? leadId : null;
}
