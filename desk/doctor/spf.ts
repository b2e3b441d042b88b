// Checks SPF (RFC 7208), which needs exactly one record, valid and with at most ten lookups. Only the mail provider knows which
// machines send for the domain.
import { isIPv4, isIPv6 } from 'node:net';

import { about, type Findings } from '#desk/doctor/finding.ts';
import type { Finding } from '#desk/endpoints/figures.ts';
import { describeFailed, type Dns } from '#server/platform/dns.ts';

const { ok, warning, problem } = about('SPF');

/** RFC 7208, section 4.6.4. */
const MAX_LOOKUPS = 10;
/** Counting stops here, so that includes that refer to each other end. Mail servers ignore the record long before. */
const MAX_COUNTED_LOOKUPS = 40;

/** @param domain of the envelope sender: BOUNCE_DOMAIN, or the domain of MAIL_FROM */
export async function examineSpf(dns: Dns, domain: string): Promise<Findings> {
  const publish = (value: string) => ({ name: domain, type: 'TXT', value });
  const reply = await dns.texts(domain);
  if (reply.type === 'failed') return problem(describeFailed(domain, reply.reason));
  const records = reply.type === 'records' ? reply.records.filter(isSpf) : [];
  const [text] = records;
  if (text === undefined)
    return problem(
      `${domain} has no SPF record, so mail servers cannot tell our mail from forged mail. Publish the one that your mail provider asks for.`,
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
  const { findings, lookups } = await followIncludes(dns, domain, parsed.terms);
  if (lookups > MAX_LOOKUPS)
    findings.push(
      problem(
        `The SPF record of ${domain} needs ${lookups} DNS lookups, but mail servers ignore records that need more than ${MAX_LOOKUPS}. Remove the terms of services that no longer send for you.`,
      ),
    );
  if (!excludesOthers(parsed.terms))
    findings.push(
      warning(
        `The SPF record of ${domain} does not exclude other senders. Let it end with ~all.`,
        publish(mergeRecords([text])),
      ),
    );
  return findings.length > 0
    ? findings
    : ok(
        `${domain} has one SPF record, with ${lookups} of ${MAX_LOOKUPS} lookups: ${text}. Only your mail provider knows whether it lists all machines that send for you.`,
      );
}

type Term = {
  readonly name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists' | 'redirect' | 'other';
  readonly qualifier: string;
  readonly target: string;
};

const isSpf = (text: string): boolean => /^v=spf1( |$)/i.test(text);

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

const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i;
const MECHANISM =
  /^([+\-~?]?)(all|include|a|mx|ptr|exists|ip4|ip6)(?::((?:[^/\s%]|%\{[^}]*\}|%[%_-])+))?((?:\/\d{1,3})?(?:\/\/\d{1,3})?)$/i;

function parseTerm(text: string): Term | null {
  const [, modifier, value = ''] = MODIFIER.exec(text) ?? [];
  if (modifier?.toLowerCase() === 'redirect')
    return value === '' ? null : { name: 'redirect', qualifier: '', target: value };
  if (modifier !== undefined) return { name: 'other', qualifier: '', target: value };
  const [, qualifier = '', mechanism = '', target = '', mask = ''] = MECHANISM.exec(text) ?? [];
  const name = mechanism.toLowerCase() as Term['name'];
  return mechanism !== '' && isValid(name, target, mask) ? { name, qualifier, target } : null;
}

function isValid(name: Term['name'], target: string, mask: string): boolean {
  if (name === 'ip4') return isIPv4(target) && Number(mask.slice(1)) <= 32;
  if (name === 'ip6') return isIPv6(target) && Number(mask.slice(1)) <= 128;
  if (name === 'include' || name === 'exists') return target !== '' && mask === '';
  if (name === 'all') return target === '' && mask === '';
  return name !== 'ptr' || mask === '';
}

function mergeRecords(records: readonly string[]): string {
  const terms = records
    .flatMap((record) => record.split(' ').slice(1))
    .filter((term) => term !== '' && !/^[+\-~?]?all$/i.test(term))
    // Before "all", a redirect has no effect.
    .map((term) => term.replace(/^redirect=/i, 'include:'));
  return ['v=spf1', ...new Set(terms), '~all'].join(' ');
}

function excludesOthers(terms: readonly Term[]): boolean {
  const all = terms.find(({ name }) => name === 'all');
  return all ? /[-~]/.test(all.qualifier) : terms.some(({ name }) => name === 'redirect');
}

const NEEDS_LOOKUP: ReadonlySet<Term['name']> = new Set(['a', 'mx', 'ptr', 'exists', 'include', 'redirect']);

/** Counts lookups in the worst case, when nothing matches before the end of the record. */
async function followIncludes(
  dns: Dns,
  domain: string,
  terms: readonly Term[],
): Promise<{ readonly findings: Finding[]; readonly lookups: number }> {
  const findings: Finding[] = [];
  let lookups = 0;
  await follow(domain, terms);
  return { findings, lookups };

  async function follow(owner: string, record: readonly Term[]): Promise<void> {
    const end = record.findIndex(({ name }) => name === 'all');
    // Terms after "all", and then also "redirect", have no effect (section 6.1).
    const valid = record.filter((term, at) => end < 0 || (at < end && term.name !== 'redirect'));
    await Promise.all(valid.filter(({ name }) => NEEDS_LOOKUP.has(name)).map((term) => count(owner, term)));
  }

  async function count(owner: string, term: Term): Promise<void> {
    lookups += 1;
    const target = term.target.toLowerCase();
    const hasRecord = term.name === 'include' || term.name === 'redirect';
    // Macros (%) depend on the individual mail.
    if (!hasRecord || target.includes('%') || lookups > MAX_COUNTED_LOOKUPS) return;
    const reply = await dns.texts(target);
    if (reply.type === 'failed') {
      findings.push(problem(describeFailed(target, 'asked for SPF')));
      return;
    }
    const texts = reply.type === 'records' ? reply.records.filter(isSpf) : [];
    const parsed = texts.length === 1 ? parseRecord(texts[0]!) : null;
    if (parsed?.type === 'terms') return follow(target, parsed.terms);
    findings.push(
      problem(
        `The SPF record of ${owner} includes ${target}, which ${
          parsed === null
            ? `has ${texts.length === 0 ? 'no SPF record' : 'several SPF records'}`
            : `contains the invalid term "${parsed.text}"`
        }. Mail servers therefore ignore the whole SPF record of ${domain}. Remove that term.`,
      ),
    );
  }
}
