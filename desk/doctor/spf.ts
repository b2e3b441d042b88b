// Checks SPF (RFC 7208), which needs exactly one record, valid and with at most ten lookups. Only the mail provider knows which
// machines send for the domain.
import { describeFailed, type Dns } from '#server/platform/dns.ts';
import { about, type DnsRecord, type Finding, type Findings } from '#desk/doctor/finding.ts';
import { isGuess, providerOf, senderTerm } from '#desk/doctor/spf-providers.ts';
import { isSpf, mergeRecords, parseRecord, replaceTerm, type Term } from '#desk/doctor/spf-record.ts';

const { ok, warning, problem } = about('SPF');

/** RFC 7208, section 4.6.4. */
const LOOKUPS_LIMIT = 10;
/** Counting stops here, because mail servers ignore the record long before. */
const FOLLOWED_LOOKUPS = 40;

/**
 * @param domain of the envelope sender: BOUNCE_DOMAIN, or the domain of MAIL_FROM
 * @param mailHost the host in SMTP_URL, or null
 */
export async function examineSpf(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<Findings> {
  const publish = (value: string): DnsRecord => ({ name: domain, type: 'TXT', value });
  const answer = await dns.texts(domain);
  if (answer.type === 'failed') return problem(describeFailed(domain, answer.reason));
  const records = answer.type === 'records' ? answer.records.filter(isSpf) : [];
  const [text] = records;
  if (text === undefined)
    return problem(
      `${domain} has no SPF record, so mail servers cannot tell our mail from forged mail. ${
        mailHost === null || !isGuess(mailHost, domain)
          ? 'Publish one.'
          : 'Publish one that includes the name given by your mail provider.'
      }`,
      publish(`v=spf1 ${senderTerm(mailHost, domain)} ~all`),
    );
  if (records.length > 1)
    return problem(
      `${domain} has ${records.length} SPF records, but mail servers accept only one. Merge them into a single record.`,
      publish(mergeRecords(records)),
    );
  const parsed = parseRecord(text);
  if (parsed.type === 'broken')
    return problem(
      `The SPF record of ${domain} contains the invalid term "${parsed.text}", so mail servers ignore the whole record. Correct the term.`,
    );
  const { faults, unanswered, included, lookups } = await followIncludes(dns, domain, parsed.terms);
  const findings: Finding[] = [
    ...faults.map((fault) =>
      problem(`${fault} Mail servers therefore ignore the whole SPF record of ${domain}. Remove that term.`),
    ),
    ...[...unanswered].map((name) => problem(describeFailed(name, 'asked for SPF'))),
  ];
  if (lookups > LOOKUPS_LIMIT)
    findings.push(
      problem(
        `The SPF record of ${domain} needs ${lookups} DNS lookups, but mail servers ignore records that need more than ${LOOKUPS_LIMIT}. Remove the terms of services that no longer send for you.`,
      ),
    );
  const provider = mailHost === null ? undefined : providerOf(mailHost);
  if (provider?.keepsSender && !included.has(provider.domain))
    findings.push(
      problem(
        `The SPF record of ${domain} does not include ${provider.domain}, which ${mailHost} uses for sending, so our mail looks forged. Add include:${provider.domain}.`,
        publish(text.replace(/^v=spf1/i, `v=spf1 include:${provider.domain}`)),
      ),
    );
  findings.push(...judgeEnd(domain, { text, terms: parsed.terms, publish }));
  return findings.length > 0
    ? findings
    : ok(
        `${domain} has one SPF record, with ${lookups} of ${LOOKUPS_LIMIT} lookups: ${text}. Only your mail provider knows whether it lists all machines that send for you.`,
      );
}

type Followed = {
  /** Reasons why mail servers ignore the whole record. */
  readonly faults: string[];
  readonly unanswered: Set<string>;
  readonly included: Set<string>;
  /** Includes counted. */
  lookups: number;
};

/** Counts lookups in the worst case, when nothing matches before the end of the record. */
async function followIncludes(dns: Dns, domain: string, terms: readonly Term[]): Promise<Followed> {
  const followed: Followed = { faults: [], unanswered: new Set(), included: new Set(), lookups: 0 };
  await follow(terms, [domain]);
  return followed;

  async function follow(record: readonly Term[], path: readonly string[]): Promise<void> {
    const end = record.findIndex(({ name }) => name === 'all');
    // Terms after "all", and then also "redirect", have no effect (section 6.1).
    const asked = record.filter((term, at) => end < 0 || (at < end && term.name !== 'redirect'));
    await Promise.all(asked.filter(({ name }) => ASKS_DNS.has(name)).map((term) => count(term, path)));
  }

  async function count(term: Term, path: readonly string[]): Promise<void> {
    followed.lookups += 1;
    const target = term.target.toLowerCase();
    const leadsOn = term.name === 'include' || term.name === 'redirect';
    // Macros (%) depend on the individual mail.
    if (!leadsOn || target.includes('%') || followed.lookups > FOLLOWED_LOOKUPS) return;
    const fault = (what: string) => void followed.faults.push(`The SPF record of ${path.at(-1)} ${what}.`);
    if (path.includes(target)) return fault(`refers back to ${target}`);
    followed.included.add(target);
    const answer = await dns.texts(target);
    if (answer.type === 'failed') return void followed.unanswered.add(target);
    const [text, ...others] = answer.type === 'records' ? answer.records.filter(isSpf) : [];
    if (text === undefined) return fault(`includes ${target}, which has no SPF record`);
    if (others.length > 0) return fault(`includes ${target}, which has several SPF records`);
    const parsed = parseRecord(text);
    if (parsed.type === 'broken')
      return fault(`includes ${target}, whose SPF record contains the invalid term "${parsed.text}"`);
    await follow(parsed.terms, [...path, target]);
  }
}

const ASKS_DNS: ReadonlySet<Term['name']> = new Set(['a', 'mx', 'ptr', 'exists', 'include', 'redirect']);

function judgeEnd(
  domain: string,
  { text, terms, publish }: { text: string; terms: readonly Term[]; publish: (text: string) => DnsRecord },
): readonly Finding[] {
  const all = terms.find(({ name }) => name === 'all');
  if (all === undefined) {
    if (terms.some(({ name }) => name === 'redirect')) return [];
    return [
      warning(
        `The SPF record of ${domain} has no "all" term, so it does not exclude other senders. Add ~all at the end.`,
        publish(`${text.trimEnd()} ~all`),
      ),
    ];
  }
  if (all.qualifier !== '+' && all.qualifier !== '?') return [];
  return [
    warning(
      all.qualifier === '+'
        ? `The SPF record of ${domain} ends with "${all.text}", so anyone may send in your name. Replace it with ~all.`
        : `The SPF record of ${domain} ends with "?all", which does not exclude other senders. Replace it with ~all.`,
      publish(replaceTerm(text, all.text, '~all')),
    ),
  ];
}
