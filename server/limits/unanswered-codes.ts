// The people behind mailed codes: strangers, who entered none, and those who entered one. No single network and no single domain
// can bend the count: each network counts for five strangers at most, and a code entered at one domain says nothing about
// strangers at another. docs/decisions/0009 has the attacks that this stops.
import { getDomain } from 'tldts';

import { domainOf } from '#server/platform/domain-of.ts';
import { networkOf } from '#server/platform/network-of.ts';
import { WEIGHTS } from '#server/settings/fixed-limits.ts';

export type MailedCode = {
  readonly email: string;
  readonly client_address: string;
  readonly used_at: number | null;
};

/** The network that a code is counted under. */
export type NetworkOfCode = (code: MailedCode) => string;

/** Addresses that entered none of their codes, and mailboxes that entered one. Weighted, so not whole numbers. */
export type PeopleCount = { readonly strangers: number; readonly entered: number };

/** The key of the small domains together; no domain has this name. */
const SMALL_DOMAINS = '';

type Person = { readonly network: string; readonly domain: string };
type People = { readonly strangers: readonly Person[]; readonly entered: readonly Person[] };

/**
 * The people behind some codes, each once. A stranger is an address: `victim+1@` and `victim+2@` are two unwanted e-mails in one
 * mailbox. A person who entered a code is a mailbox: the owner of one can enter codes under any number of its names.
 * @param codes newest first
 */
function findPeople(codes: readonly MailedCode[], networkOfCode: NetworkOfCode): People {
  const addresses = new Map<string, { network: string; entered: boolean }>();
  for (const code of codes) {
    const known = addresses.get(code.email);
    if (known) known.entered ||= code.used_at !== null;
    else addresses.set(code.email, { network: networkOfCode(code), entered: code.used_at !== null });
  }
  const strangers: Person[] = [];
  const entered = new Map<string, Person>();
  for (const [email, { network, entered: hasEntered }] of addresses) {
    const person = { network, domain: registeredDomainOf(email) };
    if (hasEntered) entered.set(mailboxOf(email), person);
    else strangers.push(person);
  }
  return { strangers, entered: [...entered.values()] };
}

/** How many strangers each network asked a code for. */
export function strangersByNetwork(
  codes: readonly MailedCode[],
  networkOfCode: NetworkOfCode,
): Map<string, number> {
  return countBy(findPeople(codes, networkOfCode).strangers, ({ network }) => network);
}

/**
 * Counts the strangers and the entered codes of each recipient domain, the small domains together.
 * @param codes newest first
 */
export function peopleByDomain(
  codes: readonly MailedCode[],
  networkOfCode: NetworkOfCode,
): ReadonlyMap<string, PeopleCount> {
  const people = findPeople(codes, networkOfCode);
  const strangersOf = countBy(people.strangers, ({ network }) => network);
  const enteredOf = countBy(people.entered, ({ network }) => network);
  // Of a network with many strangers and many entered codes the proportion is kept: an office is no alarm.
  const strangerWeight = (network: string) =>
    Math.min(1, WEIGHTS.mostOfANetwork / (strangersOf.get(network) ?? 0));
  const enteredWeight = (network: string) =>
    Math.min(strangerWeight(network), WEIGHTS.mostOfANetwork / (enteredOf.get(network) ?? 0));

  const domains = new Map<string, { strangers: number; entered: number }>();
  const countOf = (domain: string) => {
    const count = domains.get(domain) ?? { strangers: 0, entered: 0 };
    domains.set(domain, count);
    return count;
  };
  for (const { network, domain } of people.strangers) countOf(domain).strangers += strangerWeight(network);
  for (const { network, domain } of people.entered) countOf(domain).entered += enteredWeight(network);

  const small = { strangers: 0, entered: 0 };
  for (const [domain, count] of domains) {
    if (count.strangers + count.entered >= WEIGHTS.smallDomain) continue;
    small.strangers += count.strangers;
    small.entered += Math.min(count.entered, WEIGHTS.mostEnteredOfASmallDomain);
    domains.delete(domain);
  }
  return domains.set(SMALL_DOMAINS, small);
}

/** How many things have each key. */
export function countBy<Thing>(
  things: readonly Thing[],
  keyOf: (thing: Thing) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(keyOf(thing), (counts.get(keyOf(thing)) ?? 0) + 1);
  return counts;
}

/**
 * The network that a visitor's address is weighted under. As for the limits, but IPv6 by its /48, which is what a site is given
 * (RFC 6177): one customer line must not look like 65,536 networks.
 */
export const siteOf = (clientAddress: string): string =>
  networkOf(clientAddress).replace(/^((?:[\da-f]+:){3}).*\/64$/, '$1:/48');

/** The registered domain: its owner can have any number of names below it. */
function registeredDomainOf(email: string): string {
  const host = domainOf(email);
  return getDomain(host, { extractHostname: false }) ?? host;
}

/** Providers deliver `a.da+guide@` where they deliver `ada@`. Merging two people by mistake costs one entered code. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '')}@${email.slice(at + 1)}`;
}
