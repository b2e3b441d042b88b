// Mail servers distrust an IP address whose name does not lead back to it.
import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

import { sayFailed, type Dns } from '#server/platform/dns.ts';
import { isLoopback } from '#server/platform/ip-addresses.ts';
import { areOfOneOrganisation } from '#desk/doctor/domains.ts';
import { about, type Finding, type Findings } from '#desk/doctor/finding.ts';

const { ok, note, warning, problem } = about('reverse DNS');

const MOST_ADDRESSES = 4;

/**
 * @param domain of MAIL_FROM
 * @param mailHost name or IP address in SMTP_URL, or null
 */
export async function examineReverseDns(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<Findings> {
  if (mailHost === null) return note('There is no mail server to look at.');
  if (isLoopback(mailHost))
    return note(
      `The mail server is on this machine (${mailHost}): its public IP address cannot be seen from here.`,
    );
  if (isIP(mailHost) === 0 && !areOfOneOrganisation(mailHost, domain))
    return note(
      `${mailHost} belongs to another organisation, which sends from its own machines: it keeps their names, and they were not looked at.`,
    );
  const answer =
    isIP(mailHost) === 0
      ? await dns.addresses(mailHost)
      : ({ type: 'records', records: [mailHost] } as const);
  if (answer.type === 'failed') return problem(sayFailed(mailHost, answer.reason));
  if (answer.type === 'nothing') return problem(`DNS knows no address of the mail server ${mailHost}.`);
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
      `The mail server ${mailHost} (${address}) is in your own network: its public IP address cannot be seen from here.`,
    );
  const publish = {
    name: reverseName(address),
    type: 'PTR',
    value: isIP(mailHost) === 0 ? mailHost : `mail.${domain}`,
  };
  const whoCan = 'The provider that gave you the address can publish it.';
  const names = await dns.namesOf(address);
  if (names.type === 'failed') return problem(sayFailed(publish.name, names.reason));
  if (names.type === 'nothing')
    return warning(
      `The address ${address} of ${mailHost} has no name: if it sends to others itself, many refuse its mail. ${whoCan}`,
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
        `The address ${address} of ${mailHost} is named ${names.records.join(', ')}, which leads back to it.`,
      )
    : warning(
        `The address ${address} of ${mailHost} is named ${names.records.join(', ')}, which does not lead back to it: if it sends to others itself, many refuse its mail. ${whoCan}`,
        publish,
      );
}

function reverseName(address: string): string {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? `${parsed.toByteArray().toReversed().join('.')}.in-addr.arpa`
    : `${Buffer.from(parsed.toByteArray()).toString('hex').split('').toReversed().join('.')}.ip6.arpa`;
}
