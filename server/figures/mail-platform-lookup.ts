// Looks up who runs the mail of domains whose names do not tell, and keeps what DNS said. For a few seconds at most: a command
// that cannot ask goes on, and says "other".
import type { MxRecord } from 'node:dns';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { keepMailDomains, knownMailDomains, type MailDomain } from '#server/db/tables/mail-domains.ts';
import { createDns } from '#server/platform/dns.ts';
import { platformOfDomain, platformOfMailServer, type MailPlatform } from '#server/figures/mail-platforms.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type PlatformLookup = {
  /**
   * Tells the platforms of domains.
   * @param domains how often each is there: those that are there most often are asked about first
   */
  readonly platformsOf: (domains: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, MailPlatform>>;
  /** What was not looked up, in a sentence for whoever reads the result; null when there is nothing to say. */
  readonly complaint: () => string | null;
};

const KEPT_MS = 90 * DAY_MS;
/** A domain without mail servers may get some, and DNS that could not say may recover. */
const NOTHING_KEPT_MS = 7 * DAY_MS;
/** In the life of a command. */
const MOST_LOOKED_UP = 500;
const LIMIT_MS = 5_000;
const AT_ONCE = 16;
/** So many without any answer before: DNS cannot be asked. */
const ENOUGH_TO_JUDGE = 4;

/** @param options dnsServers: whom to ask; the machine's own if not given. now: milliseconds since 1970. signal: ends it early */
export function createPlatformLookup(
  { db }: Pick<OpenDatabase, 'db'>,
  {
    dnsServers,
    now,
    signal,
    limitMs = LIMIT_MS,
  }: { dnsServers: readonly string[] | undefined; now: number; signal: AbortSignal; limitMs?: number },
): PlatformLookup {
  let left = MOST_LOOKED_UP;
  let msLeft = limitMs;
  let unreachable: string | null = null;
  const passedOver = new Set<string>();

  /** @returns what DNS said, of as many as there was time for */
  async function lookUp(domains: readonly string[]): Promise<readonly MailDomain[]> {
    if (msLeft === 0 || unreachable !== null) return [];
    const begun = performance.now();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), msLeft);
    const stopped = AbortSignal.any([signal, late.signal]);
    const dns = createDns(dnsServers, stopped);
    const found: MailDomain[] = [];
    const keep = (domain: string, host: string | null) =>
      found.push({
        domain,
        platform: platformOf(host),
        mx_host: host,
        looked_up_at: now,
      });
    // That their servers could not say is known once others could: else it is DNS itself.
    const unsaid: string[] = [];
    const waiting = domains.values();
    let unanswered = 0;
    let reason = 'no answer in time';
    const ask = async () => {
      for (const domain of waiting) {
        if (stopped.aborted || unreachable !== null || left === 0) return;
        left -= 1;
        const answer = await dns.mailServers(domain);
        if (answer.type === 'failed') {
          if (stopped.aborted) return;
          if (IS_OF_THE_DOMAIN.has(answer.reason)) unsaid.push(domain);
          ({ reason } = answer);
          unanswered += 1;
          if (found.length === 0 && unanswered >= ENOUGH_TO_JUDGE) unreachable = reason;
          continue;
        }
        const [first] = answer.type === 'records' ? answer.records.toSorted(byPriority) : [];
        // RFC 7505: an empty name says that the domain takes no mail.
        keep(domain, first === undefined || first.exchange === '' ? null : first.exchange.toLowerCase());
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
      if (found.length > 0) for (const domain of unsaid) keep(domain, null);
      else unreachable ??= reason;
    } finally {
      clearTimeout(timer);
      // Takes back what is still asked.
      late.abort();
      msLeft = Math.max(0, msLeft - (performance.now() - begun));
    }
    return found;
  }

  return {
    platformsOf: async (domains) => {
      const platforms = new Map<string, MailPlatform>();
      const unnamed: string[] = [];
      for (const domain of domains.keys()) {
        const platform = domain.includes('.') ? platformOfDomain(domain) : 'other';
        if (platform === null) unnamed.push(domain);
        else platforms.set(domain, platform);
      }
      const fresh = new Set<string>();
      // Not the platform of then: a later release may know the mail server.
      const tell = ({ domain, mx_host: host }: MailDomain) => platforms.set(domain, platformOf(host));
      for (const known of await knownMailDomains(db, unnamed)) {
        tell(known);
        const age = now - known.looked_up_at;
        if (age < (known.mx_host === null ? NOTHING_KEPT_MS : KEPT_MS)) fresh.add(known.domain);
      }
      const stale = unnamed.filter((domain) => !fresh.has(domain));
      if (stale.length > 0) {
        const found = await lookUp(
          stale.toSorted((a, b) => (domains.get(b) ?? 0) - (domains.get(a) ?? 0) || (a < b ? -1 : 1)),
        );
        signal.throwIfAborted();
        await keepMailDomains(db, found);
        for (const domain of found) tell(domain);
        const looked = new Set(found.map(({ domain }) => domain));
        for (const domain of stale) if (!looked.has(domain)) passedOver.add(domain);
      }
      return platforms;
    },
    complaint: () => {
      if (passedOver.size === 0) return null;
      const domains = passedOver.size === 1 ? '1 domain was' : `${passedOver.size} domains were`;
      return unreachable === null
        ? `${domains} not looked up, to keep you waiting no longer; their mail platform is as it was last known, or "other". The next call looks up more.`
        : `DNS cannot be asked (${unreachable}): ${domains} not looked up; their mail platform is as it was last known, or "other".`;
    },
  };
}

const byPriority = (a: MxRecord, b: MxRecord): number =>
  a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1);

/** The servers of this domain cannot say, and those of others may. */
const IS_OF_THE_DOMAIN: ReadonlySet<string> = new Set(['ESERVFAIL', 'EREFUSED', 'EBADRESP']);

const platformOf = (host: string | null): MailPlatform =>
  host === null ? 'other' : platformOfMailServer(host);
