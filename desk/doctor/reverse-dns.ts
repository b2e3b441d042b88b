// Mail servers distrust an IP address whose name does not resolve to the same address.
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { haveSameOrganisation } from '#desk/doctor/domains.ts';
import { about, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';

const { ok, note, warning, problem } = about('reverse DNS');

/** @param domain of MAIL_FROM */
export async function examineReverseDns(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<Findings> {
  if (mailHost === null) return note('There is no mail server to check.');
  if (isLoopback(mailHost))
    return note(
      `The mail server is on this machine (${mailHost}), so its public IP address is unknown and was not checked.`,
    );
  if (isIP(mailHost) === 0 && !haveSameOrganisation(mailHost, domain))
    return note(
      `${mailHost} belongs to another organisation, which is responsible for its reverse DNS. The names were not checked.`,
    );
  const reply = await dns.addresses(mailHost);
  if (reply.type === 'failed') return problem(describeFailed(mailHost, reply.reason));
  if (reply.type === 'nothing')
    return problem(`DNS has no IP address for the mail server ${mailHost}. Correct the host in SMTP_URL.`);
  return Promise.all(reply.records.map((address) => examineAddress(dns, { address, mailHost, domain })));
}

async function examineAddress(
  dns: Dns,
  { address, mailHost, domain }: { address: string; mailHost: string; domain: string },
): Promise<Finding> {
  if (ipaddr.process(address).range() !== 'unicast')
    return note(
      `The mail server ${mailHost} (${address}) is in your own network, so its public IP address is unknown and was not checked.`,
    );
  const reply = await dns.namesOf(address);
  if (reply.type === 'failed') return problem(describeFailed(address, reply.reason));
  const names = reply.type === 'nothing' ? [] : reply.records;
  const resolveBack = await Promise.all(
    names.map(async (name) => {
      const addresses = await dns.addresses(name);
      return addresses.type === 'records' && addresses.records.some((other) => isSame(other, address));
    }),
  );
  const subject = `The IP address ${address} of ${mailHost} has`;
  if (resolveBack.includes(true))
    return ok(`${subject} the name ${names.join(', ')}, which resolves back to it.`);
  const fault =
    names.length === 0 ? 'no name' : `the name ${names.join(', ')}, which does not resolve back to it`;
  return warning(
    `${subject} ${fault}. If ${mailHost} delivers mail itself, many mail servers will refuse it. Ask the provider of the IP address to name it ${isIP(mailHost) === 0 ? mailHost : `mail.${domain}`}.`,
  );
}

const isSame = (one: string, other: string): boolean =>
  ipaddr.parse(one).toNormalizedString() === ipaddr.parse(other).toNormalizedString();
