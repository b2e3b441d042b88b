// Counts strangers and entered codes per domain. At most five strangers count per network. Codes entered at one domain don't
// offset strangers at another (decision 0009).
import { getDomain } from 'tldts';

import type { Code } from '#server/codes/codes.ts';
import { domainOf } from '#server/platform/text.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { WEIGHTS } from '#server/settings/fixed-limits.ts';

export type MailedCode = Pick<Code, 'email' | 'client_address' | 'used_at'>;

type NetworkOfCode = (code: MailedCode) => string;

/** Numbers are weighted, so they may be fractions. */
export type PeopleCount = { readonly strangers: number; readonly entered: number };

/** Domains with few people are counted together under this key. */
const SMALL_DOMAINS = '';

type Person = { readonly network: string; readonly domain: string };
type People = { readonly strangers: readonly Person[]; readonly entered: readonly Person[] };

/**
 * `victim+1@` and `victim+2@` are two strangers, because both get unwanted mail. Entered codes count once per mailbox,
 * because its owner can use any number of names.
 * @param codes newest first
 */
export function findPeople(codes: readonly MailedCode[], networkOfCode: NetworkOfCode): People {
  const emails = new Map<string, { network: string; entered: boolean }>();
  for (const code of codes) {
    const known = emails.get(code.email);
    if (known) known.entered ||= code.used_at !== null;
    else emails.set(code.email, { network: networkOfCode(code), entered: code.used_at !== null });
  }
  const strangers: Person[] = [];
  const entered = new Map<string, Person>();
  for (const [email, { network, entered: hasEntered }] of emails) {
    const person = { network, domain: registeredDomainOf(email) };
    if (hasEntered) entered.set(mailboxOf(email), person);
    else strangers.push(person);
  }
  return { strangers, entered: [...entered.values()] };
}

export function peopleByDomain(
  codes: readonly MailedCode[],
  networkOfCode: NetworkOfCode,
): ReadonlyMap<string, PeopleCount> {
  const people = findPeople(codes, networkOfCode);
  const strangersOf = countBy(people.strangers, ({ network }) => network);
  const enteredOf = countBy(people.entered, ({ network }) => network);
  const weightOf = (count = 0) => (count === 0 ? 1 : Math.min(1, WEIGHTS.maxPerNetwork / count));
  const strangerWeight = (network: string) => weightOf(strangersOf.get(network));
  // Entered codes weigh no more than strangers. This keeps their ratio, so an office doesn't open the breaker.
  const enteredWeight = (network: string) =>
    Math.min(strangerWeight(network), weightOf(enteredOf.get(network)));

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
    small.entered += Math.min(count.entered, WEIGHTS.maxEnteredPerSmallDomain);
    domains.delete(domain);
  }
  return domains.set(SMALL_DOMAINS, small);
}

export function countBy<Thing>(
  things: readonly Thing[],
  keyOf: (thing: Thing) => string,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(keyOf(thing), (counts.get(keyOf(thing)) ?? 0) + 1);
  return counts;
}

/** Groups IPv6 by /48 (RFC 6177), because one customer must not look like 65,536 networks. */
export const customerNetworkOf = (clientAddress: string): string =>
  networkOf(clientAddress).replace(/^((?:[\da-f]+:){3}).*\/64$/, '$1:/48');

function registeredDomainOf(email: string): string {
  const host = domainOf(email);
  return getDomain(host, { extractHostname: false }) ?? host;
}

/** Providers deliver `a.da+guide@` to `ada@`. If two people are merged by mistake, only one entered code is lost. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '')}@${email.slice(at + 1)}`;
}
