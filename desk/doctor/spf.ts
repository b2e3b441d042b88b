// SPF (RFC 7208) needs one record that can be parsed with at most ten lookups. Only the mail provider knows which machines send
// for the domain.
import { sayFailed, type Dns } from '#server/platform/dns.ts';
import { about, type DnsRecord, type Finding, type Findings } from '#desk/doctor/finding.ts';
import { isGuess, providerOf, senderTerm } from '#desk/doctor/spf-providers.ts';
import {
  correctTerm,
  isSpf,
  mergeRecords,
  namesSenders,
  parseRecord,
  replaceTerm,
  withoutTerm,
  type Term,
} from '#desk/doctor/spf-record.ts';

const { ok, warning, problem } = about('SPF');

/** RFC 7208, section 4.6.4. */
const LOOKUPS_LIMIT = 10;
/** Counting stops here, because mail servers already ignore such a record. */
const FOLLOWED_LOOKUPS = 40;

/**
 * @param domain of the envelope sender: BOUNCE_DOMAIN, or that of MAIL_FROM
 * @param mailHost of SMTP_URL, or null
 */
export async function examineSpf(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<Findings> {
  // Removing a term must not leave a record without senders.
  const publish = (text: string): DnsRecord => ({
    name: domain,
    type: 'TXT',
    value: namesSenders(text) ? text : text.replace(/^v=spf1/i, `v=spf1 ${senderTerm(mailHost, domain)}`),
  });
  const answer = await dns.texts(domain);
  if (answer.type === 'failed') return problem(sayFailed(domain, answer.reason));
  const records = answer.type === 'records' ? answer.records.filter(isSpf) : [];
  const [text] = records;
  if (text === undefined)
    return problem(
      `${domain} has no SPF record, so mail servers cannot tell our mail from a stranger's. ${
        mailHost === null || !isGuess(mailHost, domain)
          ? 'Publish one.'
          : 'Publish one, with the name that your mail provider gives for it.'
      }`,
      publish(`v=spf1 ${senderTerm(mailHost, domain)} ~all`),
    );
  if (records.length > 1)
    return problem(
      `${domain} has ${records.length} SPF records, and mail servers accept only one. Replace them with one.`,
      publish(mergeRecords(records)),
    );
  const parsed = parseRecord(text);
  if (parsed.type === 'broken')
    return problem(
      `The SPF record of ${domain} has "${parsed.text}", which is not valid there: mail servers ignore the whole record.`,
      publish(correctTerm(text, parsed.text)),
    );
  const { faults, unanswered, included, costs } = await followIncludes(dns, domain, parsed.terms);
  const lookups = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
  const findings: Finding[] = [
    ...faults.map(({ sentence, term }) =>
      problem(
        `${sentence} Mail servers ignore the whole SPF record of ${domain}.`,
        publish(withoutTerm(text, term)),
      ),
    ),
    ...[...unanswered].map((name) => problem(sayFailed(name, 'asked for SPF'))),
  ];
  if (lookups > LOOKUPS_LIMIT) {
    const dearestFirst = [...costs].toSorted(([, one], [, other]) => other - one);
    findings.push(
      problem(
        `The SPF record of ${domain} needs ${lookups} lookups, and mail servers ignore a record with more than ${LOOKUPS_LIMIT}. Remove terms of services that no longer send for you; the terms cost ${dearestFirst.map(([term, cost]) => `${term} ${cost}`).join(', ')}. Without the dearest it would be the record below.`,
        publish(withoutTerm(text, dearestFirst[0]?.[0] ?? '')),
      ),
    );
  }
  const provider = mailHost === null ? undefined : providerOf(mailHost);
  if (provider?.keepsSender && !included.has(provider.domain))
    findings.push(
      problem(
        `The SPF record of ${domain} leaves out ${provider.domain}, from where ${mailHost} sends: our mail looks like a stranger's. Include it.`,
        publish(text.replace(/^v=spf1/i, `v=spf1 include:${provider.domain}`)),
      ),
    );
  findings.push(...judgeEnd(domain, { text, terms: parsed.terms, publish }));
  return findings.length > 0
    ? findings
    : ok(
        `${domain} has one SPF record, with ${lookups} of ${LOOKUPS_LIMIT} lookups: ${text}. Only your mail provider knows whether it names the machines that send for you.`,
      );
}

type Followed = {
  /** Reasons why mail servers ignore the whole record, with the responsible term of our record. */
  readonly faults: { readonly sentence: string; readonly term: string }[];
  readonly unanswered: Set<string>;
  readonly included: Set<string>;
  /** Lookups per term of our record, includes counted. The operator can only remove these terms. */
  readonly costs: Map<string, number>;
};

/** Counts lookups in the worst case: no match until the end of the record. */
async function followIncludes(dns: Dns, domain: string, terms: readonly Term[]): Promise<Followed> {
  const followed: Followed = { faults: [], unanswered: new Set(), included: new Set(), costs: new Map() };
  let lookups = 0;
  await follow(terms, [domain], null);
  return followed;

  /** @param path of domains to this record; own is the term of our record that led here, null in our record */
  async function follow(record: readonly Term[], path: readonly string[], own: string | null): Promise<void> {
    const end = record.findIndex(({ name }) => name === 'all');
    // Terms after "all", and then also "redirect", have no effect (section 6.1).
    const asked = record.filter((term, at) => end < 0 || (at < end && term.name !== 'redirect'));
    await Promise.all(
      asked.filter(({ name }) => ASKS_DNS.has(name)).map((term) => count(term, path, own ?? term.text)),
    );
  }

  async function count(term: Term, path: readonly string[], own: string): Promise<void> {
    lookups += 1;
    followed.costs.set(own, (followed.costs.get(own) ?? 0) + 1);
    const target = term.target.toLowerCase();
    const leadsOn = term.name === 'include' || term.name === 'redirect';
    // Macros (%) depend on the individual mail.
    if (!leadsOn || target.includes('%') || lookups > FOLLOWED_LOOKUPS) return;
    const fault = (what: string) =>
      void followed.faults.push({ sentence: `The SPF record of ${path.at(-1)} ${what}.`, term: own });
    if (path.includes(target)) return fault(`leads back to ${target}`);
    followed.included.add(target);
    const answer = await dns.texts(target);
    if (answer.type === 'failed') return void followed.unanswered.add(target);
    const [text, ...others] = answer.type === 'records' ? answer.records.filter(isSpf) : [];
    if (text === undefined) return fault(`includes ${target}, which has none`);
    if (others.length > 0) return fault(`includes ${target}, which has several`);
    const parsed = parseRecord(text);
    if (parsed.type === 'broken')
      return fault(`includes ${target}, whose record is broken at "${parsed.text}"`);
    await follow(parsed.terms, [...path, target], own);
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
        `The SPF record of ${domain} does not say what holds for everybody else: it protects nothing.`,
        publish(`${text.trimEnd()} ~all`),
      ),
    ];
  }
  if (all.qualifier !== '+' && all.qualifier !== '?') return [];
  return [
    warning(
      all.qualifier === '+'
        ? `The SPF record of ${domain} ends with "${all.text}": anybody may send in your name. Put ~all there.`
        : `The SPF record of ${domain} ends with "?all", which says nothing about others. Put ~all there.`,
      publish(replaceTerm(text, all.text, '~all')),
    ),
  ];
}
