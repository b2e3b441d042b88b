// Checks the policy for unauthenticated mail, and whether our mail passes it (DMARC, RFC 7489).
import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { areOfOneOrganisation, organisationOf } from '#desk/doctor/domains.ts';
import { about, type DnsRecord, type Finding, type Findings } from '#desk/doctor/finding.ts';
import { readTags } from '#desk/doctor/dkim.ts';

const { ok, note, warning, problem } = about('DMARC');

const POLICIES = new Set(['none', 'quarantine', 'reject']);

/**
 * @param domain of MAIL_FROM
 * @param signs DKIM_DOMAIN; null if mail is not signed
 */
export async function examineDmarc(
  dns: Dns,
  { domain, signs }: { domain: string; signs: string | null },
): Promise<Findings> {
  const found = await findRecord(dns, domain);
  if (found.type === 'failed') return problem(describeFailed(found.name, found.reason));
  const ours: DnsRecord = {
    name: `_dmarc.${domain}`,
    type: 'TXT',
    value: `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`,
  };
  if (found.type === 'none')
    return [
      warning(
        `${domain} has no DMARC record, which large mailbox providers require of senders. Start with a record that only requests reports, sent to a mailbox that you read.`,
        ours,
      ),
      ...alignment(domain, { signs, isStrict: false, isEnforced: false }),
    ];
  const { name, record, isInherited } = found;
  if (found.count > 1)
    return problem(
      `There are ${found.count} DMARC records at ${name}, but mail servers accept only one. Delete all but one.`,
      {
        ...ours,
        name,
        value: record,
      },
    );
  const tags = readTags(record);
  const policy = ((isInherited ? tags.get('sp') : undefined) ?? tags.get('p') ?? '').toLowerCase();
  if (!POLICIES.has(policy))
    return problem(`The DMARC record at ${name} has no valid policy. Set p=none, p=quarantine or p=reject.`, {
      ...ours,
      name,
    });
  const rest = alignment(domain, {
    signs,
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
      ...rest,
    ];
  return [ok(`The DMARC policy of ${domain} (${name}) is p=${policy}.`), ...rest];
}

/** Checks the alignment of the signing domain with From (RFC 7489, section 3.1.1). */
function alignment(
  domain: string,
  { signs, isStrict, isEnforced }: { signs: string | null; isStrict: boolean; isEnforced: boolean },
): Finding[] {
  if (signs === null)
    return isEnforced
      ? [
          note(
            `Our mail passes DMARC if your mail provider signs it as ${domain}, or if the envelope sender is at ${domain} and the SPF record lists the provider’s machines.`,
          ),
        ]
      : [];
  const isAligned = isStrict ? signs === domain : areOfOneOrganisation(signs, domain);
  if (isAligned) return [];
  const sentence = `DKIM_DOMAIN is ${signs}, but mail comes from ${domain}${isStrict && areOfOneOrganisation(signs, domain) ? ', and the DMARC record requires the two to be equal (adkim=s)' : ''}. Our signature therefore does not count for DMARC. Set DKIM_DOMAIN to ${domain}, and publish the key there.`;
  return [isEnforced ? problem(sentence) : warning(sentence)];
}

type Found =
  | {
      readonly type: 'record';
      readonly name: string;
      readonly record: string;
      readonly count: number;
      readonly isInherited: boolean;
    }
  | { readonly type: 'none' }
  | { readonly type: 'failed'; readonly name: string; readonly reason: string };

/** Searches the domain, then the registered domain (RFC 7489, section 6.6.3). */
async function findRecord(dns: Dns, domain: string): Promise<Found> {
  for (const place of new Set([domain, organisationOf(domain)])) {
    const name = `_dmarc.${place}`;
    const answer = await dns.texts(name);
    if (answer.type === 'failed') return { type: 'failed', name, reason: answer.reason };
    const records =
      answer.type === 'records' ? answer.records.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text)) : [];
    const [record] = records;
    if (record !== undefined)
      return { type: 'record', name, record, count: records.length, isInherited: place !== domain };
  }
  return { type: 'none' };
}
