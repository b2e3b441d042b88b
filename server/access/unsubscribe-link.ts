// The link with which somebody takes their consent back. It is signed and holds nothing but the id of a lead: it works for as
// long as one of the secrets does that signed it, and nobody can make one for somebody else.
import { sign, unsign, type Secrets } from '#server/access/secrets.ts';
import { API } from '#shared/api.ts';

/** Part of what is signed, so that no cookie passes for a link, nor a link of another purpose for this one. */
const PURPOSE = 'unsubscribe:';

/** @param publicUrl origin of the public page */
export function unsubscribeUrl(secrets: Secrets, publicUrl: string, leadId: string): string {
  const token = sign(secrets, PURPOSE + leadId).slice(PURPOSE.length);
  return `${publicUrl}${API.unsubscribe}?t=${token}`;
}

/**
 * @param token the parameter `t` of such a link, or anything a stranger sent instead
 * @returns the id of the lead; null when it is none of ours
 */
export function readUnsubscribeToken(secrets: Secrets, token: unknown): string | null {
  if (typeof token !== 'string') return null;
  return unsign(secrets, PURPOSE + token)?.slice(PURPOSE.length) ?? null;
}
