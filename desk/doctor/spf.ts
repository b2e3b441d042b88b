// SPF (RFC 7208): exactly one record, which can be evaluated within ten look-ups, and which does not let everybody in. Whether it
// lets our own mail server in cannot be told from here: a provider sends from other machines than the one that takes our mail.
import { isIP, isIPv4, isIPv6 } from 'node:net';

import { sayFailed, type Dns } from '#server/platform/dns.ts';
import { areOfOneOrganisation, organisationOf } from '#desk/doctor/domains.ts';
import { about, type DnsRecord, type Finding } from '#desk/doctor/finding.ts';

const { ok, warning, problem } = about('SPF');

/** Section 4.6.4. */
const MOST_LOOKUPS = 10;
const MOST_VOID_LOOKUPS = 2;
const MOST_MX_NAMES = 10;
/** Here we stop to follow: the record is broken in any case. */
const FOLLOWED_LOOKUPS = 40;

type Term = {
  readonly text: string;
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists' | 'redirect' | 'other';
  readonly qualifier: string;
  /** The domain it speaks of; empty: the one whose record it stands in. */
  readonly target: string;
};

type Evaluation = {
  lookups: number;
  /** Names that were asked for and are not there. */
  readonly voids: string[];
  /** What makes the whole record void for a mail server, one sentence each; with the term of the first record it is in. */
  readonly faults: { readonly sentence: string; readonly term: Term }[];
  /** What DNS could not say. */
  readonly unanswered: string[];
  /** How many look-ups each term of the first record costs. */
  readonly costs: Map<string, number>;
  hasPtr: boolean;
  /** The domains whose records were read beside the first. */
  readonly included: Set<string>;
};

/**
 * @param domain of the sender in the envelope: BOUNCE_DOMAIN, or that of MAIL_FROM
 * @param mailHost that of SMTP_URL; null when there is none
 */
export async function examineSpf(
  dns: Dns,
  { domain, mailHost }: { domain: string; mailHost: string | null },
): Promise<readonly Finding[]> {
  const answer = await dns.texts(domain);
  if (answer.type === 'failed') return [problem(sayFailed(domain, answer.reason))];
  const records = answer.type === 'records' ? answer.records.filter(isSpf) : [];
  const record = (value: string): DnsRecord => ({ name: domain, type: 'TXT', value });
  const [first] = records;
  if (first === undefined)
    return [
      problem(
        `${domain} has no SPF record: mail servers cannot tell whether a mail of ours was sent by somebody else. ${
          mailHost === null || !isGuess(mailHost, domain)
            ? 'Publish one.'
            : 'Publish one, with the name that your mail provider tells for it.'
        }`,
        record(`v=spf1 ${senderTerm(mailHost, domain)} ~all`),
      ),
    ];
  if (records.length > 1)
    return [
      problem(
        `${domain} has ${records.length} SPF records, and mail servers take none of several. Publish one in place of all.`,
        record(mergeRecords(records)),
      ),
    ];

  const parsed = parseRecord(first);
  if (parsed.type === 'broken')
    return [
      problem(
        `The SPF record of ${domain} has "${parsed.text}", which is no part of such a record: mail servers ignore all of it.`,
        record(withoutText(first, parsed.text)),
      ),
    ];
  const evaluation: Evaluation = {
    lookups: 0,
    voids: [],
    faults: [],
    unanswered: [],
    costs: new Map(),
    hasPtr: false,
    included: new Set(),
  };
  await follow(dns, { domain, terms: parsed.terms, path: [domain], top: null }, evaluation);
  const { lookups, voids, faults, unanswered, costs, hasPtr } = evaluation;

  const findings = faults.map(({ sentence, term }) =>
    problem(
      `${sentence} Mail servers ignore the whole SPF record of ${domain}.`,
      record(withoutText(first, term.text)),
    ),
  );
  for (const name of new Set(unanswered)) findings.push(problem(sayFailed(name, 'asked for SPF')));
  if (lookups > MOST_LOOKUPS) {
    const dear = [...costs].filter(([, cost]) => cost > 0).toSorted(([, one], [, other]) => other - one);
    findings.push(
      problem(
        `The SPF record of ${domain} needs ${lookups} look-ups and may need ${MOST_LOOKUPS}: mail servers ignore it. Take out what no longer sends for you; the terms cost ${dear.map(([text, cost]) => `${text} ${cost}`).join(', ')}. Without the dearest it would be the record below.`,
        record(withoutText(first, dear[0]?.[0] ?? '')),
      ),
    );
  }
  if (voids.length > MOST_VOID_LOOKUPS)
    findings.push(
      problem(
        `The SPF record of ${domain} asks for ${voids.length} names that are not there (${voids.join(', ')}), and may for ${MOST_VOID_LOOKUPS}: mail servers ignore it. Take them out.`,
      ),
    );
  else if (voids.length > 0)
    findings.push(
      warning(
        `The SPF record of ${domain} asks for ${voids.join(' and ')}, which ${voids.length === 1 ? 'is' : 'are'} not there. Take out what no longer sends for you.`,
      ),
    );
  findings.push(...judgeProvider(domain, { text: first, included: evaluation.included, mailHost }, record));
  findings.push(...judgeEnd(domain, { text: first, terms: parsed.terms }, record));
  if (hasPtr)
    findings.push(
      warning(
        `The SPF record of ${domain} uses "ptr", which is slow and no longer to be used (RFC 7208, section 5.5).`,
        record(
          parsed.terms
            .filter(({ name }) => name === 'ptr')
            .reduce((text, term) => withoutText(text, term.text), first),
        ),
      ),
    );
  return findings.some(({ state }) => state !== 'ok')
    ? findings
    : [
        ok(
          `${domain} has one SPF record, with ${lookups} of ${MOST_LOOKUPS} look-ups: ${first}. Whether it names the machines that send for you, your mail provider knows.`,
        ),
      ];
}

/** What the record says about everybody it does not name. */
function judgeEnd(
  domain: string,
  { text, terms }: { text: string; terms: readonly Term[] },
  record: (value: string) => DnsRecord,
): Finding[] {
  const all = terms.find(({ name }) => name === 'all');
  if (all === undefined)
    return terms.some(({ name }) => name === 'redirect')
      ? []
      : [
          warning(
            `The SPF record of ${domain} does not say what holds for everybody else: it protects nothing.`,
            record(`${text.trimEnd()} ~all`),
          ),
        ];
  if (all.qualifier === '+')
    return [
      warning(
        `The SPF record of ${domain} ends with "${all.text}": anybody may send in your name. Put ~all there.`,
        record(replaceTerm(text, all.text, '~all')),
      ),
    ];
  if (all.qualifier === '?')
    return [
      warning(
        `The SPF record of ${domain} ends with "?all", which says nothing about others. Put ~all there.`,
        record(replaceTerm(text, all.text, '~all')),
      ),
    ];
  return [];
}

const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text);

const MECHANISM =
  /^([+\-~?]?)(all|include|a|mx|ptr|exists)(?::((?:[^/\s%]|%\{[^}]*\}|%[%_-])+))?((?:\/\d{1,3})?(?:\/\/\d{1,3})?)$/i;

/** The terms of a record, or the first that is none. */
function parseRecord(record: string): { type: 'terms'; terms: Term[] } | { type: 'broken'; text: string } {
  const terms: Term[] = [];
  for (const text of record.split(' ').slice(1)) {
    if (text === '') continue;
    const term = parseTerm(text);
    if (term === null) return { type: 'broken', text };
    terms.push(term);
  }
  return { type: 'terms', terms };
}

function parseTerm(text: string): Term | null {
  const modifier = /^([a-z][a-z0-9._-]*)=(.*)$/i.exec(text);
  if (modifier) {
    const isRedirect = modifier[1]!.toLowerCase() === 'redirect';
    if (isRedirect && modifier[2] === '') return null;
    return { text, name: isRedirect ? 'redirect' : 'other', qualifier: '+', target: modifier[2]! };
  }
  const address = /^[+\-~?]?(ip4|ip6):([^/]+)(?:\/(\d{1,3}))?$/i.exec(text);
  if (address) {
    const [, kind, ip = '', prefix = '0'] = address;
    const isFour = kind!.toLowerCase() === 'ip4';
    const isRight = isFour ? isIPv4(ip) && Number(prefix) <= 32 : isIPv6(ip) && Number(prefix) <= 128;
    return isRight ? { text, name: isFour ? 'ip4' : 'ip6', qualifier: '+', target: ip } : null;
  }
  const [, qualifier = '', mechanism = '', target = '', mask = ''] = MECHANISM.exec(text) ?? [];
  const name = mechanism.toLowerCase() as Term['name'] | '';
  if (name === '') return null;
  if ((name === 'include' || name === 'exists') && target === '') return null;
  if ((name === 'all' && target !== '') || (mask !== '' && name !== 'a' && name !== 'mx')) return null;
  return { text, name, qualifier: qualifier || '+', target };
}

type Place = {
  readonly domain: string;
  readonly terms: readonly Term[];
  /** The domains whose records led here. */
  readonly path: readonly string[];
  /** The term of the first record that led here; null in the first record itself. */
  readonly top: Term | null;
};

/** Asks what a record asks, and what the records it includes ask: as a mail server does that finds no match before the end. */
async function follow(dns: Dns, { domain, terms, path, top }: Place, evaluation: Evaluation): Promise<void> {
  const end = terms.findIndex(({ name }) => name === 'all');
  // What stands behind "all" is not looked at, and neither is "redirect" (section 6.1).
  const asked = terms.filter((term, index) => (end < 0 ? true : index < end && term.name !== 'redirect'));
  await Promise.all(
    asked.map(async (term) => {
      const origin = top ?? term;
      const count = () => {
        evaluation.lookups += 1;
        evaluation.costs.set(origin.text, (evaluation.costs.get(origin.text) ?? 0) + 1);
      };
      const target = (term.target || domain).toLowerCase();
      switch (term.name) {
        case 'a':
        case 'exists':
        case 'mx':
          count();
          // A macro stands for something of the mail at hand.
          if (!target.includes('%')) await askName(dns, { term, target, origin }, evaluation);
          return;
        case 'ptr':
          count();
          evaluation.hasPtr ||= top === null;
          return;
        case 'include':
        case 'redirect':
          count();
          if (target.includes('%')) return;
          if (path.includes(target)) {
            evaluation.faults.push({
              sentence: `The SPF record of ${domain} leads back to ${target}.`,
              term: origin,
            });
            return;
          }
          if (evaluation.lookups <= FOLLOWED_LOOKUPS)
            await followRecord(dns, { target, path, origin, from: domain }, evaluation);
          return;
        case 'all':
        case 'ip4':
        case 'ip6':
        case 'other':
      }
    }),
  );
}

async function askName(
  dns: Dns,
  { term, target, origin }: { term: Term; target: string; origin: Term },
  evaluation: Evaluation,
): Promise<void> {
  const answer = await (term.name === 'mx' ? dns.mailServers(target) : dns.addresses(target));
  if (answer.type === 'failed') evaluation.unanswered.push(target);
  // That "exists" finds nothing is its way to say no.
  else if (answer.type === 'nothing') {
    if (term.name !== 'exists') evaluation.voids.push(target);
  } else if (term.name === 'mx' && answer.records.length > MOST_MX_NAMES)
    evaluation.faults.push({
      sentence: `"${term.text}" leads to ${answer.records.length} mail servers at ${target}, of which SPF allows ${MOST_MX_NAMES}.`,
      term: origin,
    });
}

async function followRecord(
  dns: Dns,
  { target, path, origin, from }: { target: string; path: readonly string[]; origin: Term; from: string },
  evaluation: Evaluation,
): Promise<void> {
  evaluation.included.add(target);
  const answer = await dns.texts(target);
  if (answer.type === 'failed') {
    evaluation.unanswered.push(target);
    return;
  }
  const records = answer.type === 'records' ? answer.records.filter(isSpf) : [];
  const fault = (sentence: string) => evaluation.faults.push({ sentence, term: origin });
  const [record] = records;
  if (record === undefined) fault(`The SPF record of ${from} includes ${target}, which has none.`);
  else if (records.length > 1) fault(`The SPF record of ${from} includes ${target}, which has several.`);
  else {
    const parsed = parseRecord(record);
    if (parsed.type === 'broken')
      fault(`The SPF record of ${from} includes ${target}, whose record is broken at "${parsed.text}".`);
    else
      await follow(
        dns,
        { domain: target, terms: parsed.terms, path: [...path, target], top: origin },
        evaluation,
      );
  }
}

const replaceTerm = (record: string, term: string, replacement: string): string =>
  record
    .split(' ')
    .map((text) => (text === term ? replacement : text))
    .filter((text) => text !== '')
    .join(' ');

const withoutText = (record: string, term: string): string => replaceTerm(record, term, '');

/** Everybody whom one of them names; for the rest, what is usual. */
function mergeRecords(records: readonly string[]): string {
  const terms = records
    .flatMap((record) => record.split(' ').slice(1))
    .filter((term) => term !== '' && !/^[+\-~?]?all$/i.test(term));
  return ['v=spf1', ...new Set(terms), '~all'].join(' ');
}

type Provider = {
  /** What it documents for its customers' records. */
  readonly domain: string;
  /** Whether our domain stays the sender in the envelope, which is the one that SPF is asked about. */
  readonly keepsSender: boolean;
};

/** Large providers, by the domain of their mail servers. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  'amazonaws.com': { domain: 'amazonses.com', keepsSender: false },
  'brevo.com': { domain: 'spf.brevo.com', keepsSender: false },
  'fastmail.com': { domain: 'spf.messagingengine.com', keepsSender: true },
  'gmail.com': { domain: '_spf.google.com', keepsSender: true },
  'google.com': { domain: '_spf.google.com', keepsSender: true },
  'mailgun.org': { domain: 'mailgun.org', keepsSender: false },
  'mailjet.com': { domain: 'spf.mailjet.com', keepsSender: false },
  'office365.com': { domain: 'spf.protection.outlook.com', keepsSender: true },
  'postmarkapp.com': { domain: 'spf.mtasv.net', keepsSender: false },
  'sendgrid.net': { domain: 'sendgrid.net', keepsSender: false },
};

const providerOf = (mailHost: string): Provider | undefined => PROVIDERS[organisationOf(mailHost)];

/** Whether a provider that we know, and that sends in our name, is left out. */
function judgeProvider(
  domain: string,
  { text, included, mailHost }: { text: string; included: ReadonlySet<string>; mailHost: string | null },
  record: (value: string) => DnsRecord,
): Finding[] {
  const provider = mailHost === null ? undefined : providerOf(mailHost);
  if (provider === undefined || !provider.keepsSender || included.has(provider.domain)) return [];
  return [
    problem(
      `The SPF record of ${domain} leaves out ${provider.domain}, from where ${mailHost} sends: our mail looks like somebody else's. Include it.`,
      record(text.replace(/^v=spf1/i, `v=spf1 include:${provider.domain}`)),
    ),
  ];
}

const isGuess = (mailHost: string, domain: string): boolean =>
  providerOf(mailHost) === undefined && isIP(mailHost) === 0 && !areOfOneOrganisation(mailHost, domain);

/** Who sends for us, as far as can be told. */
function senderTerm(mailHost: string | null, domain: string): string {
  if (mailHost === null) return 'mx';
  const kind = isIP(mailHost);
  if (kind !== 0) return `ip${kind}:${mailHost}`;
  const provider = providerOf(mailHost);
  if (provider !== undefined) return `include:${provider.domain}`;
  return isGuess(mailHost, domain) ? `include:${organisationOf(mailHost)}` : `a:${mailHost}`;
}
