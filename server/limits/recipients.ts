// Counts confirmed and unconfirmed recipients of codes per domain. At most five unconfirmed ones count per network. Confirmed
// recipients at one domain don't offset unconfirmed ones at another (decision 0009).
import { getDomain } from 'tldts';

import type { Code } from '#server/codes/codes.ts';
import { domainOf } from '#server/platform/text.ts';
import { networkOf } from '#server/platform/ip-addresses.ts';
import { WEIGHTS } from '#server/settings/fixed-limits.ts';

export type MailedCode = Pick<Code, 'email' | 'client_address' | 'used_at'>;

type NetworkOfCode = (code: MailedCode) => string;

/** Numbers are weighted, so they may be fractions. */
export type RecipientCounts = { readonly unconfirmed: number; readonly confirmed: number };

/** Domains with few recipients are counted together under this key. */
const SMALL_DOMAINS = '';

type Recipient = { readonly network: string; readonly domain: string };
type Recipients = { readonly unconfirmed: readonly Recipient[]; readonly confirmed: readonly Recipient[] };

/**
 * `victim+1@` and `victim+2@` are two unconfirmed recipients, because their mailbox gets two unwanted mails. Confirmed ones count
 * once per mailbox, because its owner can invent any number of names.
 * @param codes newest first, so the network of the newest code counts
 */
export function findRecipients(codes: readonly MailedCode[], networkOfCode: NetworkOfCode): Recipients {
  const emails = new Map<string, { network: string; isConfirmed: boolean }>();
  for (const code of codes) {
    const known = emails.get(code.email);
    if (known) known.isConfirmed ||= code.used_at !== null;
    else emails.set(code.email, { network: networkOfCode(code), isConfirmed: code.used_at !== null });
  }
  const unconfirmed: Recipient[] = [];
  const confirmed = new Map<string, Recipient>();
  for (const [email, { network, isConfirmed }] of emails) {
    const recipient = { network, domain: registeredDomainOf(email) };
    if (isConfirmed) confirmed.set(mailboxOf(email), recipient);
    else unconfirmed.push(recipient);
  }
  return { unconfirmed, confirmed: [...confirmed.values()] };
}

export function countByDomain(
  codes: readonly MailedCode[],
  networkOfCode: NetworkOfCode,
): ReadonlyMap<string, RecipientCounts> {
  const { unconfirmed, confirmed } = findRecipients(codes, networkOfCode);
  const unconfirmedOf = countBy(unconfirmed, ({ network }) => network);
  const confirmedOf = countBy(confirmed, ({ network }) => network);
  const weightOf = (count = 0) => (count === 0 ? 1 : Math.min(1, WEIGHTS.maxPerNetwork / count));
  const unconfirmedWeight = (network: string) => weightOf(unconfirmedOf.get(network));
  // Otherwise a network's 100 unconfirmed and 5 confirmed recipients would count as 5 of each.
  const confirmedWeight = (network: string) =>
    Math.min(unconfirmedWeight(network), weightOf(confirmedOf.get(network)));

  const domains = new Map<string, { unconfirmed: number; confirmed: number }>();
  const countsOf = (domain: string) => {
    const counts = domains.get(domain) ?? { unconfirmed: 0, confirmed: 0 };
    domains.set(domain, counts);
    return counts;
  };
  for (const { network, domain } of unconfirmed) countsOf(domain).unconfirmed += unconfirmedWeight(network);
  for (const { network, domain } of confirmed) countsOf(domain).confirmed += confirmedWeight(network);

  const small = { unconfirmed: 0, confirmed: 0 };
  for (const [domain, counts] of domains) {
    if (counts.unconfirmed + counts.confirmed >= WEIGHTS.smallDomain) continue;
    small.unconfirmed += counts.unconfirmed;
    small.confirmed += Math.min(counts.confirmed, WEIGHTS.maxConfirmedPerSmallDomain);
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

/**
 * Groups IPv6 by /48 (RFC 6177), because one customer must not look like 65,536 networks. networkOf never shortens zeros to `::`.
 */
export const customerNetworkOf = (clientAddress: string): string =>
  networkOf(clientAddress).replace(/^((?:[\da-f]+:){3}).*\/64$/, '$1:/48');

function registeredDomainOf(email: string): string {
  const host = domainOf(email);
  return getDomain(host, { extractHostname: false }) ?? host;
}

/** Providers deliver `a.da+guide@` to `ada@`. If two mailboxes are merged by mistake, only one confirmed recipient is lost. */
function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '')}@${email.slice(at + 1)}`;
}
