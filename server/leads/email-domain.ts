import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

import { domainOf } from '#server/platform/text.ts';
import type { Config } from '#server/settings/settings.ts';
import { normaliseEmail } from '#shared/lead.ts';

export const DOMAIN_FLAGS = ['free-mail', 'disposable'] as const;
type DomainFlag = (typeof DOMAIN_FLAGS)[number];

export type DomainVerdict =
  | { readonly type: 'accepted'; readonly flags: readonly DomainFlag[] }
  | { readonly type: 'refused' };

let disposableDomains: ReadonlySet<string> | undefined;

/** Cached, because the library rebuilds its set of about 9,000 names on every call. */
const isDisposable = (domain: string): boolean => {
  disposableDomains ??= disposableEmailBlocklistSet();
  return disposableDomains.has(domain);
};

export function checkDomain(
  typedEmail: string,
  policies: Pick<Config, 'freeMail' | 'disposableMail'>,
  freeMailDomains: ReadonlySet<string>,
): DomainVerdict {
  const email = normaliseEmail(typedEmail);
  const domain = domainOf(email);
  const checks = [
    { flag: 'free-mail', policy: policies.freeMail, applies: () => freeMailDomains.has(domain) },
    { flag: 'disposable', policy: policies.disposableMail, applies: () => isDisposable(domain) },
  ] as const;
  const found = checks.filter(({ policy, applies }) => policy !== 'off' && applies());
  return found.some(({ policy }) => policy === 'block')
    ? { type: 'refused' }
    : { type: 'accepted', flags: found.map(({ flag }) => flag) };
}
