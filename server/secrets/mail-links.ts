// The links in our mails. Each is signed, and holds only the id of a lead and when it expires. It works as long as the secret that
// signed it is among those of APP_SECRET.
import { DAY_MS } from '#server/platform/time.ts';
import { sign, unsign, type Secrets } from '#server/secrets/secrets.ts';
import { API } from '#shared/api.ts';

/** Part of the signed text, so that a cookie does not pass for a link, nor one kind of link for another. */
type Purpose = 'unsubscribe:' | 'guide:';

const tokenOf = (secrets: Secrets, purpose: Purpose, value: string): string =>
  sign(secrets, purpose + value).slice(purpose.length);

/** @param token the parameter `t` of a link, or anything a stranger sent instead */
function read(secrets: Secrets, purpose: Purpose, token: unknown): string | null {
  return typeof token === 'string' ? (unsign(secrets, purpose + token)?.slice(purpose.length) ?? null) : null;
}

/**
 * The link with which a lead takes the consent back. It works for years.
 * @param publicUrl address of the public page
 */
export const unsubscribeUrl = (secrets: Secrets, publicUrl: string, leadId: string): string =>
  `${publicUrl}${API.unsubscribe}?t=${tokenOf(secrets, 'unsubscribe:', leadId)}`;

/** The same for many, of one service. */
export const unsubscribeUrlOf =
  ({ secrets, config }: { readonly secrets: Secrets; readonly config: { readonly publicUrl: string } }) =>
  (leadId: string): string =>
    unsubscribeUrl(secrets, config.publicUrl, leadId);

/** @returns the id of the lead; null when the link is none of ours */
export const readUnsubscribeToken = (secrets: Secrets, token: unknown): string | null =>
  read(secrets, 'unsubscribe:', token);

/** How long a link to the guide works. */
export const GUIDE_LINK_DAYS = 7;

/** The link that opens the guide on any device. @param now milliseconds since 1970 */
export const guideUrl = (secrets: Secrets, publicUrl: string, leadId: string, now: number): string =>
  `${publicUrl}${API.guide}?t=${tokenOf(secrets, 'guide:', `${leadId}:${now + GUIDE_LINK_DAYS * DAY_MS}`)}`;

/** @returns the id of the lead; null when the link is none of ours, or has had its time */
export function readGuideToken(secrets: Secrets, token: unknown, now: number): string | null {
  const [leadId, until] = read(secrets, 'guide:', token)?.split(':') ?? [];
  return leadId !== undefined && now < Number(until) ? leadId : null;
}
