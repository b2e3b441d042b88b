// SPF (RFC 7208): checks for one valid record with at most ten look-ups that does not allow everybody. Providers may send from machines
// other than the one in SMTP_URL, so the sending machines remain unknown.
import { sayFailed, type Dns } from '#server/platform/dns.ts';
import { about, type DnsRecord, type Finding } from '#desk/doctor/finding.ts';
import { evaluate, type Evaluation } from '#desk/doctor/spf-evaluation.ts';
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
import { isGuess, providerOf, senderTerm } from '#desk/doctor/spf-senders.ts';

const { ok, warning, problem } = about('SPF');

/** RFC 7208, section 4.6.4. */
const LOOKUPS_LIMIT = 10;
const VOID_LOOKUPS_LIMIT = 2;

type OwnRecord = {
  readonly domain: string;
  readonly text: string;
  readonly terms: readonly Term[];
  readonly publish: (text: string) => DnsRecord;
};

/**
 * @param domain of the envelope sender: BOUNCE_DOMAIN, or that of MAIL_FROM
 * @param mailHost of SMTP_URL, or null
 */
export async function examineSpf(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<readonly Finding[]> {
  // Removing a term must not leave a record without senders.
  const publish = (text: string): DnsRecord => ({
    name: domain,
    type: 'TXT',
    value: namesSenders(text) ? text : text.replace(/^v=spf1/i, `v=spf1 ${senderTerm(mailHost, domain)}`),
  });
  const answer = await dns.texts(domain);
  if (answer.type === 'failed') return [problem(sayFailed(domain, answer.reason))];
  const records = answer.type === 'records' ? answer.records.filter(isSpf) : [];
  const [text] = records;
  if (text === undefined)
    return [
      problem(
        `${domain} has no SPF record: mail servers cannot tell whether a mail of ours was sent by a stranger. ${
          mailHost === null || !isGuess(mailHost, domain)
            ? 'Publish one.'
            : 'Publish one, with the name that your mail provider gives for it.'
        }`,
        publish(`v=spf1 ${senderTerm(mailHost, domain)} ~all`),
      ),
    ];
  if (records.length > 1)
    return [
      problem(
        `${domain} has ${records.length} SPF records, and mail servers accept only one. Replace them with one.`,
        publish(mergeRecords(records)),
      ),
    ];
  const parsed = parseRecord(text);
  if (parsed.type === 'broken')
    return [
      problem(
        `The SPF record of ${domain} has "${parsed.text}", which is not valid there: mail servers ignore the whole record.`,
        publish(correctTerm(text, parsed.text)),
      ),
    ];
  const record: OwnRecord = { domain, text, terms: parsed.terms, publish };
  const evaluation = await evaluate(dns, domain, parsed.terms);
  const findings = [
    ...judgeFaults(record, evaluation),
    ...judgeLookups(record, evaluation),
    ...judgeVoids(record, evaluation),
    ...judgeProvider(record, evaluation, mailHost),
    ...judgeEnd(record),
    ...judgePtr(record),
  ];
  return findings.length > 0
    ? findings
    : [
        ok(
          `${domain} has one SPF record, with ${evaluation.lookups} of ${LOOKUPS_LIMIT} look-ups: ${text}. Whether it names the machines that send for you, your mail provider knows.`,
        ),
      ];
}

const judgeFaults = (
  { domain, text, publish }: OwnRecord,
  { faults, unanswered }: Evaluation,
): readonly Finding[] => [
  ...faults.map(({ sentence, term }) =>
    problem(
      `${sentence} Mail servers ignore the whole SPF record of ${domain}.`,
      publish(withoutTerm(text, term.text)),
    ),
  ),
  ...[...new Set(unanswered)].map((name) => problem(sayFailed(name, 'asked for SPF'))),
];

function judgeLookups(
  { domain, text, publish }: OwnRecord,
  { lookups, costs }: Evaluation,
): readonly Finding[] {
  if (lookups <= LOOKUPS_LIMIT) return [];
  const dearestFirst = [...costs].toSorted(([, one], [, other]) => other - one);
  return [
    problem(
      `The SPF record of ${domain} needs ${lookups} look-ups and may need ${LOOKUPS_LIMIT}: mail servers ignore it. Take out what no longer sends for you; the terms cost ${dearestFirst.map(([term, cost]) => `${term} ${cost}`).join(', ')}. Without the dearest it would be the record below.`,
      publish(withoutTerm(text, dearestFirst[0]?.[0] ?? '')),
    ),
  ];
}

function judgeVoids({ domain }: OwnRecord, { voids }: Evaluation): readonly Finding[] {
  if (voids.length > VOID_LOOKUPS_LIMIT)
    return [
      problem(
        `The SPF record of ${domain} asks for ${voids.length} names that are not there (${voids.join(', ')}), and may for ${VOID_LOOKUPS_LIMIT}: mail servers ignore it. Take them out.`,
      ),
    ];
  if (voids.length === 0) return [];
  return [
    warning(
      `The SPF record of ${domain} asks for ${voids.join(' and ')}, which ${voids.length === 1 ? 'is' : 'are'} not there. Take out what no longer sends for you.`,
    ),
  ];
}

function judgeProvider(
  { domain, text, publish }: OwnRecord,
  { included }: Evaluation,
  mailHost: string | null,
): readonly Finding[] {
  const provider = mailHost === null ? undefined : providerOf(mailHost);
  if (provider === undefined || !provider.keepsSender || included.has(provider.domain)) return [];
  return [
    problem(
      `The SPF record of ${domain} leaves out ${provider.domain}, from where ${mailHost} sends: our mail looks like a stranger's. Include it.`,
      publish(text.replace(/^v=spf1/i, `v=spf1 include:${provider.domain}`)),
    ),
  ];
}

function judgeEnd({ domain, text, terms, publish }: OwnRecord): readonly Finding[] {
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

function judgePtr({ domain, text, terms, publish }: OwnRecord): readonly Finding[] {
  const end = terms.findIndex(({ name }) => name === 'all');
  const pointers = terms.filter(({ name }, at) => name === 'ptr' && (end < 0 || at < end));
  if (pointers.length === 0) return [];
  return [
    warning(
      `The SPF record of ${domain} uses "ptr", which is slow and no longer to be used (RFC 7208, section 5.5).`,
      publish(pointers.reduce((rest, term) => withoutTerm(rest, term.text), text)),
    ),
  ];
}
