// Checks that replies and bounces reach us (MX, RFC 5321, section 5.1).
import { isIP } from 'node:net';

import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { haveSameOrganisation } from '#desk/doctor/domains.ts';
import { about, type DnsRecord, type Findings } from '#desk/doctor/finding.ts';

const { ok, warning, problem } = about('MX');

/** @param domain of MAIL_FROM, or BOUNCE_DOMAIN */
export async function examineMailExchange(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<Findings> {
  const reply = await dns.mailServers(domain);
  if (reply.type === 'failed') return problem(describeFailed(domain, reply.reason));
  const publish: DnsRecord = {
    name: domain,
    type: 'MX',
    value: `10 ${mailHost !== null && isIP(mailHost) === 0 && haveSameOrganisation(mailHost, domain) ? mailHost : `mail.${domain}`}`,
  };
  if (reply.type === 'nothing') {
    const direct = await dns.addresses(domain);
    if (direct.type === 'records')
      return warning(
        `${domain} has no MX record, so replies go to the IP address of ${domain} itself. Name your mail server in an MX record.`,
        publish,
      );
    return problem(
      reply.isKnownName
        ? `${domain} has no MX record, so replies and bounces cannot arrive, and many mail servers refuse such senders. Name your mail server in an MX record.`
        : `${domain} does not exist in DNS, so mail servers will not accept mail from it. Correct it in MAIL_FROM or BOUNCE_DOMAIN, or register it and name its mail server in an MX record.`,
      publish,
    );
  }
  const servers = reply.records.toSorted((one, other) => one.priority - other.priority);
  // A null MX (RFC 7505) refuses all mail.
  if (servers.some(({ exchange }) => exchange === '' || exchange === '.'))
    return problem(
      `${domain} has a null MX record, which means that it accepts no mail. Mail servers refuse such senders. Name your mail server instead.`,
      publish,
    );
  const judged = await Promise.all(
    servers.map(async ({ exchange }) => ({ exchange, reply: await addressesOf(dns, exchange) })),
  );
  const serversWith = (type: 'nothing' | 'failed') =>
    judged.filter(({ reply: found }) => found.type === type).map(({ exchange }) => exchange);
  const [dead, unclear] = [serversWith('nothing'), serversWith('failed')];
  if (dead.length === servers.length)
    return problem(
      `The MX record of ${domain} names ${dead.join(', ')}, which has no IP address, so replies and bounces cannot arrive. Name a mail server that has an IP address.`,
      publish,
    );
  if (dead.length > 0)
    return warning(
      `An MX record of ${domain} names ${dead.join(', ')}, which has no IP address. Remove that record.`,
    );
  if (unclear.length > 0) return problem(describeFailed(unclear.join(', '), 'no address'));
  return ok(`Mail to ${domain} goes to ${servers.map(({ exchange }) => exchange).join(', ')}.`);
}

/** Mail servers ignore an MX that contains an IP address. */
const addressesOf = async (dns: Dns, exchange: string) =>
  isIP(exchange) === 0 ? dns.addresses(exchange) : ({ type: 'nothing', isKnownName: true } as const);
