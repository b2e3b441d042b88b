// Finds the mail platform of domains by name or MX record, caching DNS results in the database. Unknown
// domains are "other".
import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { keepMailDomains, knownMailDomains } from '#server/db/tables/mail-domains.ts';
import { createMailServerQuestions } from '#server/stats/mail-server-questions.ts';
import { platformOfDomain, platformOfMailServer, type MailPlatform } from '#server/stats/mail-platforms.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type PlatformLookup = {
  /** @param domains with their frequency; DNS is queried for the most frequent first */
  readonly platformsOf: (domains: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, MailPlatform>>;
  /** A sentence about skipped domains, or null. */
  readonly complaint: () => string | null;
};

const KEPT_MS = 90 * DAY_MS;
/** A domain may get a mail server, and its DNS may recover. */
const NOTHING_KEPT_MS = 7 * DAY_MS;
const LIMIT_MS = 5_000;

/**
 * @param options dnsServers: undefined for the machine's. now: milliseconds since 1970. signal: ends it early
 */
export function createPlatformLookup(
  { db }: Pick<OpenDatabase, 'db'>,
  {
    dnsServers,
    now,
    signal,
    limitMs = LIMIT_MS,
  }: { dnsServers: readonly string[] | undefined; now: number; signal: AbortSignal; limitMs?: number },
): PlatformLookup {
  const questions = createMailServerQuestions({ dnsServers, signal, limitMs });
  const passedOver = new Set<string>();

  async function lookUp(domains: readonly string[]): Promise<ReadonlyMap<string, MailPlatform>> {
    const answers = await questions.ask(domains);
    signal.throwIfAborted();
    const found = [...answers].map(([domain, host]) => ({
      domain,
      platform: platformOf(host),
      mx_host: host,
      looked_up_at: now,
    }));
    await keepMailDomains(db, found);
    for (const domain of domains) if (!answers.has(domain)) passedOver.add(domain);
    return new Map(found.map(({ domain, platform }) => [domain, platform]));
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
      for (const { domain, mx_host: host, looked_up_at: lookedUpAt } of await knownMailDomains(db, unnamed)) {
        // Only the mail server is cached, because a later release may know its platform.
        platforms.set(domain, platformOf(host));
        if (now - lookedUpAt < (host === null ? NOTHING_KEPT_MS : KEPT_MS)) fresh.add(domain);
      }
      const stale = unnamed
        .filter((domain) => !fresh.has(domain))
        .toSorted((a, b) => (domains.get(b) ?? 0) - (domains.get(a) ?? 0) || (a < b ? -1 : 1));
      if (stale.length > 0)
        for (const [domain, platform] of await lookUp(stale)) platforms.set(domain, platform);
      return platforms;
    },
    complaint: () => {
      if (passedOver.size === 0) return null;
      const domains = passedOver.size === 1 ? '1 domain was' : `${passedOver.size} domains were`;
      const unreachable = questions.whyUnreachable();
      return unreachable === null
        ? `${domains} not looked up, to keep you waiting no longer; their mail platform is as it was last known, or "other". The next call looks up more.`
        : `DNS cannot be asked (${unreachable}): ${domains} not looked up; their mail platform is as it was last known, or "other".`;
    },
  };
}

const platformOf = (host: string | null): MailPlatform =>
  host === null ? 'other' : platformOfMailServer(host);
