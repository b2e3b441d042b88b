// Who was mailed and did not answer. Counts codes in a way that nobody can bend alone: one network's codes weigh little,
// and a code entered at one domain says nothing about strangers at another.
import { getDomain } from 'tldts';

import { domainOf } from '#server/platform/domain-of.ts';
import { WEIGHTS } from '#server/settings/tries-and-rates.ts';

/** A code as it is counted here. */
export type MailedCode = {
  readonly email: string;
  readonly client_address: string;
  readonly used_at: number | null;
};

/** Addresses that entered none of their codes, and mailboxes that entered one. Weighed, so not whole numbers. */
export type Tally = { readonly strangers: number; readonly entered: number };

/** The name under which small domains stand together; no domain has it. */
const SMALL_DOMAINS = '';

type Person = { readonly network: string; readonly domain: string };
type People = { readonly strangers: readonly Person[]; readonly entered: readonly Person[] };

/**
 * The people behind some codes, each once. A stranger is an address: `victim+1@` and `victim+2@` are two e-mails in one
 * mailbox that somebody has to bear. Whoever entered a code is a mailbox: for its owner they are one.
 * @param codes newest first
 */
function findPeople(codes: readonly MailedCode[], networkOf: (code: MailedCode) => string): People {
  const addresses = new Map<string, { network: string; entered: boolean }>();
  for (const code of codes) {
    const known = addresses.get(code.email);
    if (known) known.entered ||= code.used_at !== null;
    else addresses.set(code.email, { network: networkOf(code), entered: code.used_at !== null });
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

/** How many addresses each network asked a code for that was not entered. */
export function strangersByNetwork(
  codes: readonly MailedCode[],
  networkOf: (code: MailedCode) => string,
): Map<string, number> {
  return countBy(findPeople(codes, networkOf).strangers, 'network');
}

/**
 * Strangers and entered codes of each recipient domain, the small ones together.
 * @param codes newest first
 */
export function tallyByDomain(
  codes: readonly MailedCode[],
  networkOf: (code: MailedCode) => string,
): ReadonlyMap<string, Tally> {
  const people = findPeople(codes, networkOf);
  const strangersOf = countBy(people.strangers, 'network');
  const enteredOf = countBy(people.entered, 'network');
  // Of a network with many strangers and many entered codes the proportion is kept: an office is no alarm.
  const strangerWeight = (network: string) =>
    Math.min(1, WEIGHTS.mostOfANetwork / (strangersOf.get(network) ?? 0));
  const enteredWeight = (network: string) =>
    Math.min(strangerWeight(network), WEIGHTS.mostOfANetwork / (enteredOf.get(network) ?? 0));

  const domains = new Map<string, { strangers: number; entered: number }>();
  const tallyOf = (domain: string) => {
    const tally = domains.get(domain) ?? { strangers: 0, entered: 0 };
    domains.set(domain, tally);
    return tally;
  };
  for (const { network, domain } of people.strangers) tallyOf(domain).strangers += strangerWeight(network);
  for (const { network, domain } of people.entered) tallyOf(domain).entered += enteredWeight(network);

  const small = { strangers: 0, entered: 0 };
  for (const [domain, tally] of domains) {
    if (tally.strangers + tally.entered >= WEIGHTS.smallDomain) continue;
    small.strangers += tally.strangers;
    small.entered += Math.min(tally.entered, WEIGHTS.mostEnteredOfASmallDomain);
    domains.delete(domain);
  }
  return domains.set(SMALL_DOMAINS, small);
}

function countBy(people: readonly Person[], key: keyof Person): Map<string, number> {
  const counts = new Map<string, number>();
  for (const person of people) counts.set(person[key], (counts.get(person[key]) ?? 0) + 1);
  return counts;
}

/** The domain somebody registered: whoever has one has as many names below it as there are letters. */
function registeredDomainOf(email: string): string {
  const host = domainOf(email);
  return getDomain(host, { extractHostname: false }) ?? host;
}

/** Providers deliver `a.da+guide@` where they deliver `ada@`. Merging two people by mistake costs one entered code. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '')}@${email.slice(at + 1)}`;
}
