// Queries MX records of many domains, within limits for a command that a person waits for.
import type { MxRecord } from 'node:dns';

import { createDns } from '#server/platform/dns.ts';

export type MailServerQuestions = {
  /**
   * Queries in order until a limit is reached.
   * @returns the first mail server per domain, in lower case; null if it has none; domains without a DNS
   * response are missing
   */
  readonly ask: (domains: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;
  readonly whyUnreachable: () => string | null;
};

const QUESTIONS_LIMIT = 500;
const AT_ONCE = 16;
/** Failures before any response that mean DNS itself is unreachable. */
const FAILURES_TO_GIVE_UP = 4;
/** The domain's own DNS servers fail. */
const DOMAIN_FAILURES: ReadonlySet<string> = new Set(['ESERVFAIL', 'EREFUSED', 'EBADRESP']);

/** @param options dnsServers: undefined for the machine's. limitMs: for all queries together */
export function createMailServerQuestions({
  dnsServers,
  signal,
  limitMs,
}: {
  dnsServers: readonly string[] | undefined;
  signal: AbortSignal;
  limitMs: number;
}): MailServerQuestions {
  let questionsLeft = QUESTIONS_LIMIT;
  let msLeft = limitMs;
  let unreachable: string | null = null;

  async function askAll(
    domains: readonly string[],
    stopped: AbortSignal,
  ): Promise<Map<string, string | null>> {
    const dns = createDns(dnsServers, stopped);
    const answers = new Map<string, string | null>();
    const failedDomains: string[] = [];
    const waiting = domains.values();
    let failures = 0;
    let reason = 'no answer in time';
    const askNext = async () => {
      for (const domain of waiting) {
        if (stopped.aborted || unreachable !== null || questionsLeft === 0) return;
        questionsLeft -= 1;
        const answer = await dns.mailServers(domain);
        if (answer.type !== 'failed') {
          answers.set(domain, answer.type === 'records' ? firstOf(answer.records) : null);
          continue;
        }
        if (stopped.aborted) return;
        if (DOMAIN_FAILURES.has(answer.reason)) failedDomains.push(domain);
        ({ reason } = answer);
        failures += 1;
        if (answers.size === 0 && failures >= FAILURES_TO_GIVE_UP) unreachable = reason;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askNext));
    // DNS works for other domains, so these failures are the domains' own.
    if (answers.size > 0) for (const domain of failedDomains) answers.set(domain, null);
    else unreachable ??= reason;
    return answers;
  }

  return {
    ask: async (domains) => {
      if (msLeft === 0 || unreachable !== null) return new Map();
      const begun = performance.now();
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), msLeft);
      try {
        return await askAll(domains, AbortSignal.any([signal, late.signal]));
      } finally {
        clearTimeout(timer);
        late.abort();
        msLeft = Math.max(0, msLeft - (performance.now() - begun));
      }
    },
    whyUnreachable: () => unreachable,
  };
}

function firstOf(servers: readonly MxRecord[]): string | null {
  const [first] = servers.toSorted((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  // An empty name means that the domain accepts no mail (RFC 7505).
  return first?.exchange.toLowerCase() || null;
}
