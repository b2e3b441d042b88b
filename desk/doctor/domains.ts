// Which domains belong together, as DMARC sees it (RFC 7489, section 3.2: by the Public Suffix List).
import { domainToASCII } from 'node:url';

import { getDomain } from 'tldts';

import { domainOf } from '#server/platform/domain-of.ts';

/** The domain of an address, or one that stands alone, as DNS has it. */
export const dnsDomainOf = (address: string): string => asDnsHasIt(domainOf(address));

const asDnsHasIt = (domain: string): string => (domainToASCII(domain) || domain).toLowerCase();

/** The registered domain, such as `example.com` of `mail.example.com`; a name without one is returned as it is. */
export const organisationOf = (name: string): string =>
  getDomain(asDnsHasIt(name), { allowPrivateDomains: true }) ?? asDnsHasIt(name);

/** Whether both belong to the same registered domain. */
export const areOfOneOrganisation = (one: string, other: string): boolean =>
  organisationOf(one) === organisationOf(other);
