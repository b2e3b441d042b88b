// Evaluates an SPF record in the worst case: no match until its end, so that every name and include is looked up.
import type { Dns } from '#server/platform/dns.ts';
import { isSpf, parseRecord, type Term } from '#desk/doctor/spf-record.ts';

/** RFC 7208, section 4.6.4. */
const MX_NAMES_LIMIT = 10;
/** Stops here, because mail servers already ignore such a record. */
const FOLLOWED_LOOKUPS = 40;

export type Evaluation = {
  lookups: number;
  readonly voids: string[];
  /** Reasons why mail servers ignore the whole record, with the responsible term of the first record. */
  readonly faults: { readonly sentence: string; readonly term: Term }[];
  readonly unanswered: string[];
  /** Look-ups per term of the first record, includes counted: the operator can only remove these terms. */
  readonly costs: Map<string, number>;
  readonly included: Set<string>;
};

export async function evaluate(dns: Dns, domain: string, terms: readonly Term[]): Promise<Evaluation> {
  const evaluation: Evaluation = {
    lookups: 0,
    voids: [],
    faults: [],
    unanswered: [],
    costs: new Map(),
    included: new Set(),
  };
  await follow({ domain, terms, path: [domain], origin: null });
  return evaluation;

  type RecordOnTheWay = {
    readonly domain: string;
    readonly terms: readonly Term[];
    /** Chain of domains to this record, for loops. */
    readonly path: readonly string[];
    readonly origin: Term | null;
  };

  async function follow(record: RecordOnTheWay): Promise<void> {
    const end = record.terms.findIndex(({ name }) => name === 'all');
    // Terms after "all", and then also "redirect", have no effect (section 6.1).
    const asked = record.terms.filter((term, at) => end < 0 || (at < end && term.name !== 'redirect'));
    await Promise.all(asked.map((term) => ask(term, record)));
  }

  async function ask(term: Term, record: RecordOnTheWay): Promise<void> {
    if (!ASKS_DNS.has(term.name)) return;
    const origin = record.origin ?? term;
    evaluation.lookups += 1;
    evaluation.costs.set(origin.text, (evaluation.costs.get(origin.text) ?? 0) + 1);
    const target = (term.target || record.domain).toLowerCase();
    // Macros (%) depend on the individual mail.
    if (term.name === 'ptr' || target.includes('%')) return;
    if (term.name !== 'include' && term.name !== 'redirect') return askName(term, target, origin);
    if (record.path.includes(target)) {
      const sentence = `The SPF record of ${record.domain} leads back to ${target}.`;
      evaluation.faults.push({ sentence, term: origin });
    } else if (evaluation.lookups <= FOLLOWED_LOOKUPS) await include(target, record, origin);
  }

  async function askName(term: Term, target: string, origin: Term): Promise<void> {
    const answer = await (term.name === 'mx' ? dns.mailServers(target) : dns.addresses(target));
    if (answer.type === 'failed') evaluation.unanswered.push(target);
    else if (answer.type === 'nothing') {
      // A missing name is a normal result of "exists".
      if (term.name !== 'exists') evaluation.voids.push(target);
    } else if (term.name === 'mx' && answer.records.length > MX_NAMES_LIMIT)
      evaluation.faults.push({
        sentence: `"${term.text}" leads to ${answer.records.length} mail servers at ${target}, but SPF allows ${MX_NAMES_LIMIT}.`,
        term: origin,
      });
  }

  async function include(
    target: string,
    { domain: from, path }: RecordOnTheWay,
    origin: Term,
  ): Promise<void> {
    evaluation.included.add(target);
    const answer = await dns.texts(target);
    if (answer.type === 'failed') {
      evaluation.unanswered.push(target);
      return;
    }
    const [text, ...others] = answer.type === 'records' ? answer.records.filter(isSpf) : [];
    const fault = (what: string) =>
      void evaluation.faults.push({
        sentence: `The SPF record of ${from} includes ${target}, ${what}.`,
        term: origin,
      });
    if (text === undefined) return fault('which has none');
    if (others.length > 0) return fault('which has several');
    const parsed = parseRecord(text);
    if (parsed.type === 'broken') return fault(`whose record is broken at "${parsed.text}"`);
    await follow({ domain: target, terms: parsed.terms, path: [...path, target], origin });
  }
}

const ASKS_DNS: ReadonlySet<Term['name']> = new Set(['a', 'mx', 'ptr', 'exists', 'include', 'redirect']);
