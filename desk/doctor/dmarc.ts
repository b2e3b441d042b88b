// Checks the policy for unauthenticated mail, and whether our mail passes it (DMARC, RFC 7489).
import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { haveSameOrganisation, organisationOf } from '#desk/doctor/domains.ts';
import { about, type DnsRecord, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { readTags } from '#desk/doctor/dkim.ts';

const { ok, note, warning, problem } = about('DMARC');

const POLICIES = new Set(['none', 'quarantine', 'reject']);

/**
 * @param domain of MAIL_FROM
 * @param dkimDomain DKIM_DOMAIN; null if mail is not signed
 */
export async function examineDmarc(
  dns: Dns,
  { domain, dkimDomain }: { domain: string; dkimDomain: string | null },
): Promise<Findings> {
  const found = await findRecords(dns, domain);
  if (found !== null && 'state' in found) return found;
  const suggestion: DnsRecord = {
    name: `_dmarc.${domain}`,
    type: 'TXT',
    value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`,
  };
  if (found === null)
    return [
      warning(
        `${domain} has no DMARC record, which large mailbox providers require of senders. Start with a record that only requests reports, sent to a mailbox that you read.`,
        suggestion,
      ),
      ...judgeAlignment(domain, { dkimDomain, isStrict: false, isEnforced: false }),
    ];
  const { name, records } = found;
  const [record = ''] = records;
  const isInherited = name !== suggestion.name;
  if (records.length > 1)
    return problem(
      `There are ${records.length} DMARC records at ${name}, but mail servers accept only one. Delete all but one.`,
      { ...suggestion, name, value: record },
    );
  const tags = readTags(record);
  const policy = ((isInherited ? tags.get('sp') : undefined) ?? tags.get('p') ?? '').toLowerCase();
  if (!POLICIES.has(policy))
    return problem(`The DMARC record at ${name} has no valid policy. Set p=none, p=quarantine or p=reject.`, {
      ...suggestion,
      name,
    });
  const alignment = judgeAlignment(domain, {
    dkimDomain,
    isStrict: tags.get('adkim')?.toLowerCase() === 's',
    isEnforced: policy !== 'none',
  });
  if (policy === 'none')
    return [
      warning(
        `The DMARC policy of ${domain} (${name}) is p=none, so mail servers take no action against mail that others send in your name. Once the reports show that your own mail passes, change the policy to p=quarantine.`,
        {
          name,
          type: 'TXT',
          value: record.replace(
            isInherited && tags.has('sp') ? /(\bsp\s*=\s*)none/i : /(;\s*p\s*=\s*)none/i,
            '$1quarantine',
          ),
        },
      ),
      ...alignment,
    ];
  return [ok(`The DMARC policy of ${domain} (${name}) is p=${policy}.`), ...alignment];
}

/** Checks the alignment of the signing domain with From (RFC 7489, section 3.1.1). */
function judgeAlignment(
  domain: string,
  { dkimDomain, isStrict, isEnforced }: { dkimDomain: string | null; isStrict: boolean; isEnforced: boolean },
): Finding[] {
  if (dkimDomain === null && !isEnforced) return [];
  if (dkimDomain === null)
    return [
      note(
        `Our mail passes DMARC if your mail provider signs it as ${domain}, or if the envelope sender is at ${domain} and the SPF record lists the provider’s machines.`,
      ),
    ];
  const isAligned = isStrict ? dkimDomain === domain : haveSameOrganisation(dkimDomain, domain);
  if (isAligned) return [];
  const sentence = `DKIM_DOMAIN is ${dkimDomain}, but mail comes from ${domain}${isStrict && haveSameOrganisation(dkimDomain, domain) ? ', and the DMARC record requires the two to be equal (adkim=s)' : ''}. Our signature therefore does not count for DMARC. Set DKIM_DOMAIN to ${domain}, and publish the key there.`;
  return [isEnforced ? problem(sentence) : warning(sentence)];
}

/**
 * Searches the domain, then the registered domain (RFC 7489, section 6.6.3).
 * @returns a problem if DNS fails
 */
async function findRecords(
  dns: Dns,
  domain: string,
): Promise<{ readonly name: string; readonly records: readonly string[] } | Finding | null> {
  for (const searched of new Set([domain, organisationOf(domain)])) {
    const name = `_dmarc.${searched}`;
    const reply = await dns.texts(name);
    if (reply.type === 'failed') return problem(describeFailed(name, reply.reason));
    const records =
      reply.type === 'records' ? reply.records.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text)) : [];
    if (records.length > 0) return { name, records };
  }
  return null;
}
