// Recognises mail platforms by domain or MX record, and caches DNS results in the database.
import type { MxRecord } from 'node:dns';

import type { OpenDatabase } from '#server/db/engine/connect.ts';
import { keepMailDomains, knownMailDomains } from '#server/db/tables/mail-domains.ts';
import { createDns } from '#server/platform/dns.ts';
import { DAY_MS } from '#server/platform/time.ts';

export type PlatformLookup = {
  /** @param domains with their frequency; DNS is queried for the most frequent first */
  readonly platformsOf: (domains: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, MailPlatform>>;
  readonly skippedNote: () => string | null;
};

const CACHE_MS = 90 * DAY_MS;
/** Shorter, because a domain may get a mail server later, and its DNS may recover. */
const NO_SERVER_CACHE_MS = 7 * DAY_MS;

// The limits are low, because someone is waiting for the command's result.
const LIMIT_MS = 5_000;
const MAX_QUERIES = 500;
const CONCURRENCY = 16;
/** DNS counts as unreachable after this many failures without a single reply. */
const FAILURES_TO_GIVE_UP = 4;
const DOMAIN_FAILURES: ReadonlySet<string> = new Set(['ESERVFAIL', 'EREFUSED', 'EBADRESP']);

export function createPlatformLookup(
  { db }: Pick<OpenDatabase, 'db'>,
  options: { dnsServers: readonly string[] | undefined; now: number; signal: AbortSignal; limitMs?: number },
): PlatformLookup {
  const { dnsServers, now, signal, limitMs = LIMIT_MS } = options;
  let queriesLeft = MAX_QUERIES;
  let msLeft = limitMs;
  let unreachable: string | null = null;
  let hasReplied = false;
  const skippedDomains = new Set<string>();

  /**
   * Queries the domains in order until a limit is reached.
   * @returns the first mail server per domain, in lower case; null if it has none. Domains without a DNS reply are omitted
   */
  async function queryMailServers(
    domains: readonly string[],
    stopped: AbortSignal,
  ): Promise<Map<string, string | null>> {
    const dns = createDns(dnsServers, stopped);
    const hosts = new Map<string, string | null>();
    const failedDomains: string[] = [];
    const remaining = domains.values();
    let failures = 0;
    let reason = 'no reply in time';
    const queryNext = async () => {
      for (const domain of remaining) {
        if (stopped.aborted || unreachable !== null || queriesLeft === 0) return;
        queriesLeft -= 1;
        const reply = await dns.mailServers(domain);
        if (reply.type !== 'failed') {
          hasReplied = true;
          hosts.set(domain, reply.type === 'records' ? preferredHost(reply.records) : null);
          continue;
        }
        if (stopped.aborted) return;
        if (DOMAIN_FAILURES.has(reply.reason)) failedDomains.push(domain);
        ({ reason } = reply);
        failures += 1;
        if (!hasReplied && failures >= FAILURES_TO_GIVE_UP) unreachable = reason;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, queryNext));
    // DNS works for other domains, so these failures are caused by the domains.
    if (hasReplied) for (const domain of failedDomains) hosts.set(domain, null);
    else unreachable ??= reason;
    return hosts;
  }

  async function lookUp(domains: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    let hosts: ReadonlyMap<string, string | null> = new Map();
    if (msLeft > 0 && unreachable === null) {
      const startedAt = performance.now();
      hosts = await queryMailServers(domains, AbortSignal.any([signal, AbortSignal.timeout(msLeft)]));
      msLeft = Math.max(0, Math.floor(msLeft - (performance.now() - startedAt)));
    }
    signal.throwIfAborted();
    await keepMailDomains(
      db,
      [...hosts].map(([domain, host]) => ({ domain, mx_host: host, looked_up_at: now })),
    );
    for (const domain of domains) if (!hosts.has(domain)) skippedDomains.add(domain);
    return hosts;
  }

  return {
    platformsOf: async (domains) => {
      const platforms = new Map<string, MailPlatform>();
      const unrecognised: string[] = [];
      for (const domain of domains.keys()) {
        const platform = domain.includes('.') ? platformOfDomain(domain) : 'other';
        if (platform === null) unrecognised.push(domain);
        else platforms.set(domain, platform);
      }
      const fresh = new Set<string>();
      for (const { domain, mx_host: host, looked_up_at: lookedUpAt } of await knownMailDomains(
        db,
        unrecognised,
      )) {
        // Only the mail server is cached, because a later release may know its platform.
        platforms.set(domain, platformOfMailServer(host));
        if (now - lookedUpAt < (host === null ? NO_SERVER_CACHE_MS : CACHE_MS)) fresh.add(domain);
      }
      const stale = unrecognised
        .filter((domain) => !fresh.has(domain))
        .toSorted((a, b) => (domains.get(b) ?? 0) - (domains.get(a) ?? 0) || (a < b ? -1 : 1));
      if (stale.length > 0)
        for (const [domain, host] of await lookUp(stale)) platforms.set(domain, platformOfMailServer(host));
      return platforms;
    },
    skippedNote: () => {
      if (skippedDomains.size === 0) return null;
      const domains = skippedDomains.size === 1 ? '1 domain was' : `${skippedDomains.size} domains were`;
      return unreachable === null
        ? `${domains} not looked up, because the report would have taken too long. It shows the last known mail platform or "other". Run the report again to look up more.`
        : `DNS is unreachable (${unreachable}), so ${domains} not looked up. The report shows the last known mail platform or "other".`;
    },
  };
}

const PLATFORM_DOMAINS = [
  [/^(gmail|googlemail)\.com$/, 'Google'],
  [/^((outlook|hotmail|live)\.[a-z]{2,3}(\.[a-z]{2})?|msn\.com|passport\.com)$/, 'Microsoft'],
  // yahoo.co.jp is a different company. AOL's mailboxes are hosted by Yahoo.
  [/^(?!yahoo\.co\.jp$)(yahoo\.[a-z]{2,3}(\.[a-z]{2})?|(ymail|rocketmail|myyahoo|aol|aim)\.com)$/, 'Yahoo'],
  [/^(icloud|me|mac)\.com$/, 'Apple'],
  [/^(gmx\.(net|de|at|ch|com)|web\.de)$/, 'GMX, WEB.DE'],
  [/^(proton\.me|protonmail\.(com|ch)|pm\.me)$/, 'Proton'],
] as const;

/**
 * From the providers' instructions for MX records. A filter in front of a mailbox (Proofpoint and following) counts as the
 * platform, because it decides which mail arrives.
 */
const PLATFORM_MAIL_SERVERS = [
  [/^(smtp|(alt\d\.)?aspmx\.l)\.google\.com$|^aspmx\d\.googlemail\.com$/, 'Google Workspace'],
  [/\.google(mail)?\.com$/, 'Google'],
  [/\.olc\.protection\.outlook\.com$/, 'Microsoft'],
  // mx.microsoft is for tenants with DNSSEC.
  [/\.mail\.protection\.outlook\.com$|\.mx\.microsoft$/, 'Microsoft 365'],
  [/\.yahoodns\.net$|\.biz\.mail\.yahoo\.com$/, 'Yahoo'],
  [/\.mail\.icloud\.com$/, 'Apple'],
  [/\.gmx\.net$|\.web\.de$/, 'GMX, WEB.DE'],
  [/\.protonmail\.ch$/, 'Proton'],
  // One top-level domain per region.
  [/\.zoho(mail|cloud)?\.(com|eu|in|jp|ca|sa|ae|uk|com\.au|com\.cn)$/, 'Zoho'],
  [/\.messagingengine\.com$/, 'Fastmail'],
  // The last three are former names of Ionos.
  [/\.(ionos\.(de|com|co\.uk|es|fr|it|mx|ca|at)|kundenserver\.de|perfora\.net|1and1\.[a-z.]{2,6})$/, 'IONOS'],
  [/\.ovh\.(net|ca|us)$|\.ovhcloud\.com$/, 'OVH'],
  [/\.emailsrvr\.com$/, 'Rackspace'],
  // Used by SES and WorkMail.
  [/^inbound-smtp\.[a-z0-9-]+\.(amazonaws|awsapps)\.com$/, 'Amazon'],
  // ppe-hosted.com is Proofpoint Essentials.
  [/\.(g?pphosted|ppe-hosted)\.com$/, 'Proofpoint'],
  [/\.mimecast(-offshore)?\.(com|co\.za)$/, 'Mimecast'],
  [/\.barracudanetworks\.com$/, 'Barracuda'],
  [/\.iphmx\.com$/, 'Cisco'],
  [/\.tmes\.trendmicro\.(com|eu|co\.jp|com\.au)$/, 'Trend Micro'],
  [/\.hydra\.sophos\.com$/, 'Sophos'],
  [/\.messagelabs\.com$/, 'Symantec'],
  [/\.(hornetsecurity\.(com|ch)|antispameurope\.com)$/, 'Hornetsecurity'],
] as const;

export type MailPlatform = (typeof PLATFORM_DOMAINS | typeof PLATFORM_MAIL_SERVERS)[number][1] | 'other';

/** @param domain in lower case */
export const platformOfDomain = (domain: string): MailPlatform | null => platformIn(PLATFORM_DOMAINS, domain);

/**
 * @param host of an MX record, in any case; null if the domain has none
 * @returns `other` if unknown
 */
export const platformOfMailServer = (host: string | null): MailPlatform =>
  platformIn(PLATFORM_MAIL_SERVERS, (host ?? '').toLowerCase().replace(/\.$/, '')) ?? 'other';

const platformIn = (
  patterns: readonly (readonly [RegExp, MailPlatform])[],
  name: string,
): MailPlatform | null => patterns.find(([pattern]) => pattern.test(name))?.[1] ?? null;

function preferredHost(servers: readonly MxRecord[]): string | null {
  const [first] = servers.toSorted((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  // An empty name means that the domain accepts no mail (RFC 7505).
  return first?.exchange.toLowerCase() || null;
}
