// Whether an address is at a free-mail provider or a disposable one, and what the operator's policies say about it.
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

import { domainOf } from '#server/platform/domain-of.ts';
import type { Config } from '#server/settings/settings.ts';
import { normaliseEmail } from '#shared/lead.ts';

/** The marks that an address can have. */
export const DOMAIN_FLAGS = ['free-mail', 'disposable'] as const;
type DomainFlag = (typeof DOMAIN_FLAGS)[number];

export type DomainVerdict =
  { readonly type: 'accepted'; readonly flags: readonly DomainFlag[] } | { readonly type: 'refused' };

let disposableDomains: ReadonlySet<string> | undefined;

/** Made once, when it is first needed: the library makes the set of some 9,000 names anew for each address it is asked about. */
const isDisposable = (domain: string): boolean => {
  disposableDomains ??= disposableEmailBlocklistSet();
  return disposableDomains.has(domain);
};

/**
 * Applies the policies FREE_MAIL and DISPOSABLE_MAIL to an address.
 * @param typedEmail a valid one, in any form
 * @param freeMailDomains from campaign/free-mail-domains.txt
 */
export function judgeDomain(
  typedEmail: string,
  policies: Pick<Config, 'freeMail' | 'disposableMail'>,
  freeMailDomains: ReadonlySet<string>,
): DomainVerdict {
  const email = normaliseEmail(typedEmail);
  const domain = domainOf(email);
  const kinds = [
    { flag: 'free-mail', policy: policies.freeMail, applies: () => freeMailDomains.has(domain) },
    { flag: 'disposable', policy: policies.disposableMail, applies: () => isDisposable(domain) },
  ] as const;
  const found = kinds.filter(({ policy, applies }) => policy !== 'off' && applies());
  return found.some(({ policy }) => policy === 'block')
    ? { type: 'refused' }
    : { type: 'accepted', flags: found.map(({ flag }) => flag) };
}
