// Mail servers distrust an IP address whose name does not resolve to the same address.
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { areOfOneOrganisation } from '#desk/doctor/domains.ts';
import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';

const { ok, note, warning, problem } = about('reverse DNS');

const MOST_ADDRESSES = 4;

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
  if (isIP(mailHost) === 0 && !areOfOneOrganisation(mailHost, domain))
    return note(
      `${mailHost} belongs to another organisation, which is responsible for its reverse DNS. The names were not checked.`,
    );
  const answer =
    isIP(mailHost) === 0
      ? await dns.addresses(mailHost)
      : ({ type: 'records', records: [mailHost] } as const);
  if (answer.type === 'failed') return problem(describeFailed(mailHost, answer.reason));
  if (answer.type === 'nothing')
    return problem(`DNS has no IP address for the mail server ${mailHost}. Correct the host in SMTP_URL.`);
  return Promise.all(
    answer.records
      .slice(0, MOST_ADDRESSES)
      .map((address) => examineAddress(dns, { address, mailHost, domain })),
  );
}

async function examineAddress(
  dns: Dns,
  { address, mailHost, domain }: { address: string; mailHost: string; domain: string },
): Promise<Finding> {
  if (ipaddr.process(address).range() !== 'unicast')
    return note(
      `The mail server ${mailHost} (${address}) is in your own network, so its public IP address is unknown and was not checked.`,
    );
  const publish = {
    name: reverseName(address),
    type: 'PTR',
    value: isIP(mailHost) === 0 ? mailHost : `mail.${domain}`,
  };
  const whoCan = 'Ask the provider of the IP address to publish this record.';
  const names = await dns.namesOf(address);
  if (names.type === 'failed') return problem(describeFailed(publish.name, names.reason));
  if (names.type === 'nothing')
    return warning(
      `The IP address ${address} of ${mailHost} has no name. If ${mailHost} delivers mail itself, many mail servers will refuse it. ${whoCan}`,
      publish,
    );
  const leadBack = await Promise.all(
    names.records.map(async (name) => {
      const addresses = await dns.addresses(name);
      return (
        addresses.type === 'records' &&
        addresses.records.some(
          (other) => ipaddr.parse(other).toNormalizedString() === ipaddr.parse(address).toNormalizedString(),
        )
      );
    }),
  );
  return leadBack.includes(true)
    ? ok(
        `The IP address ${address} of ${mailHost} has the name ${names.records.join(', ')}, which resolves back to it.`,
      )
    : warning(
        `The IP address ${address} of ${mailHost} has the name ${names.records.join(', ')}, which does not resolve back to it. If ${mailHost} delivers mail itself, many mail servers will refuse it. ${whoCan}`,
        publish,
      );
}

function reverseName(address: string): string {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? `${parsed.toByteArray().toReversed().join('.')}.in-addr.arpa`
    : `${Buffer.from(parsed.toByteArray()).toString('hex').split('').toReversed().join('.')}.ip6.arpa`;
}
