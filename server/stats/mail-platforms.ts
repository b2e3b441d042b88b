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

const KEPT_MS = 90 * DAY_MS;
/** Limited, because a domain may get a mail server later, and its DNS may recover. */
const NOTHING_KEPT_MS = 7 * DAY_MS;

// The limits are low, because someone is waiting for the command's result.
const LIMIT_MS = 5_000;
const QUESTIONS_LIMIT = 500;
const AT_ONCE = 16;
/** Failures before any response that mean DNS itself is unreachable. */
const FAILURES_TO_GIVE_UP = 4;
const DOMAIN_FAILURES: ReadonlySet<string> = new Set(['ESERVFAIL', 'EREFUSED', 'EBADRESP']);

export function createPlatformLookup(
  { db }: Pick<OpenDatabase, 'db'>,
  options: { dnsServers: readonly string[] | undefined; now: number; signal: AbortSignal; limitMs?: number },
): PlatformLookup {
  const { dnsServers, now, signal, limitMs = LIMIT_MS } = options;
  let questionsLeft = QUESTIONS_LIMIT;
  let msLeft = limitMs;
  let unreachable: string | null = null;
  const passedOver = new Set<string>();

  /**
   * Queries in order until a limit is reached.
   * @returns the first mail server per domain, in lower case; null if it has none; domains without a DNS response are omitted
   */
  async function ask(domains: readonly string[], stopped: AbortSignal): Promise<Map<string, string | null>> {
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
    // DNS works for other domains, so these failures are caused by the domains.
    if (answers.size > 0) for (const domain of failedDomains) answers.set(domain, null);
    else unreachable ??= reason;
    return answers;
  }

  async function lookUp(domains: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    let answers: ReadonlyMap<string, string | null> = new Map();
    if (msLeft > 0 && unreachable === null) {
      const begun = performance.now();
      answers = await ask(domains, AbortSignal.any([signal, AbortSignal.timeout(msLeft)]));
      msLeft = Math.max(0, Math.floor(msLeft - (performance.now() - begun)));
    }
    signal.throwIfAborted();
    await keepMailDomains(
      db,
      [...answers].map(([domain, host]) => ({ domain, mx_host: host, looked_up_at: now })),
    );
    for (const domain of domains) if (!answers.has(domain)) passedOver.add(domain);
    return answers;
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
        platforms.set(domain, platformOfMailServer(host));
        if (now - lookedUpAt < (host === null ? NOTHING_KEPT_MS : KEPT_MS)) fresh.add(domain);
      }
      const stale = unnamed
        .filter((domain) => !fresh.has(domain))
        .toSorted((a, b) => (domains.get(b) ?? 0) - (domains.get(a) ?? 0) || (a < b ? -1 : 1));
      if (stale.length > 0)
        for (const [domain, host] of await lookUp(stale)) platforms.set(domain, platformOfMailServer(host));
      return platforms;
    },
    skippedNote: () => {
      if (passedOver.size === 0) return null;
      const domains = passedOver.size === 1 ? '1 domain was' : `${passedOver.size} domains were`;
      return unreachable === null
        ? `${domains} not looked up, because the report would have taken too long. It shows the last known mail platform or "other". Run the report again to look up more.`
        : `DNS is unreachable (${unreachable}), so ${domains} not looked up. The report shows the last known mail platform or "other".`;
    },
  };
}

const DOMAINS = [
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
const MAIL_SERVERS = [
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

export type MailPlatform = (typeof DOMAINS | typeof MAIL_SERVERS)[number][1] | 'other';

/** @param domain in lower case */
export const platformOfDomain = (domain: string): MailPlatform | null => platformIn(DOMAINS, domain);

/**
 * @param host of an MX record, in any case; null if the domain has none
 * @returns `other` if unknown
 */
export const platformOfMailServer = (host: string | null): MailPlatform =>
  platformIn(MAIL_SERVERS, (host ?? '').toLowerCase().replace(/\.$/, '')) ?? 'other';

const platformIn = (
  patterns: readonly (readonly [RegExp, MailPlatform])[],
  name: string,
): MailPlatform | null => patterns.find(([pattern]) => pattern.test(name))?.[1] ?? null;

function firstOf(servers: readonly MxRecord[]): string | null {
  const [first] = servers.toSorted((a, b) => a.priority - b.priority || (a.exchange < b.exchange ? -1 : 1));
  // An empty name means that the domain accepts no mail (RFC 7505).
  return first?.exchange.toLowerCase() || null;
}
