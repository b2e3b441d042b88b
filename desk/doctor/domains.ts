// Compares domains by the Public Suffix List, as in DMARC (RFC 7489, section 3.2).
import { domainToASCII } from 'node:url';

import { getDomain } from 'tldts';

import { domainOf } from '#server/platform/text.ts';

/** Takes an e-mail address or a domain; returns the ASCII domain for DNS. */
export const dnsDomainOf = (address: string): string => toAsciiDomain(domainOf(address));

const toAsciiDomain = (domain: string): string => (domainToASCII(domain) || domain).toLowerCase();

/** Returns the registered domain, such as `example.com` for `mail.example.com`, or the name itself. */
export const organisationOf = (name: string): string =>
  getDomain(toAsciiDomain(name), { allowPrivateDomains: true }) ?? toAsciiDomain(name);

export const haveSameOrganisation = (one: string, other: string): boolean =>
  organisationOf(one) === organisationOf(other);
