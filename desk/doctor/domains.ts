// Which domains belong together, as DMARC sees it (RFC 7489, section 3.2: by the Public Suffix List).
import { domainToASCII } from 'node:url';

import { getDomain } from 'tldts';

import { domainOf } from '#server/platform/domain-of.ts';

/** The domain of an address, or one that stands alone, as DNS has it. */
export const dnsDomainOf = (address: string): string => asDnsHasIt(domainOf(address));

const asDnsHasIt = (domain: string): string => (domainToASCII(domain) || domain).toLowerCase();

/** What somebody registered, such as `example.com` of `mail.example.com`; a name that is none stays as it is. */
export const organisationOf = (name: string): string =>
  getDomain(asDnsHasIt(name), { allowPrivateDomains: true }) ?? asDnsHasIt(name);

/** Whether both were registered by the same people. */
export const areOfOneOrganisation = (one: string, other: string): boolean =>
  organisationOf(one) === organisationOf(other);
