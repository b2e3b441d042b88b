import type { MxRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { errorCode } from '#server/platform/system-errors.ts';

type DnsReply<Entry> =
  | { readonly type: 'records'; readonly records: readonly Entry[] }
  | { readonly type: 'nothing'; readonly isKnownName: boolean }
  | { readonly type: 'failed'; readonly reason: string };

export type Dns = {
  /** The parts of each TXT record are joined. */
  readonly texts: (name: string) => Promise<DnsReply<string>>;
  readonly mailServers: (name: string) => Promise<DnsReply<MxRecord>>;
  /** For an IP address, returns the address itself. */
  readonly addresses: (name: string) => Promise<DnsReply<string>>;
  readonly namesOf: (address: string) => Promise<DnsReply<string>>;
};

const ATTEMPT_TIMEOUT_MS = 2_000;
const ATTEMPTS = 2;
/** For one query, across all servers. */
const QUERY_TIMEOUT_MS = 5_000;

/** @param servers the machine's by default */
export function createDns(servers: readonly string[] | undefined, signal: AbortSignal): Dns {
  const resolver = new Resolver({ timeout: ATTEMPT_TIMEOUT_MS, tries: ATTEMPTS });
  if (servers !== undefined) resolver.setServers(servers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const withTimeout = <Entry>(lookup: Promise<readonly Entry[]>): Promise<DnsReply<Entry>> =>
    Promise.race([
      lookup.then(toReply, toFailure),
      setTimeout(QUERY_TIMEOUT_MS, { type: 'failed', reason: 'no reply in time' } as const, { ref: false }),
    ]);
  return {
    texts: (name) =>
      withTimeout(resolver.resolveTxt(name).then((texts) => texts.map((parts) => parts.join('')))),
    mailServers: (name) => withTimeout(resolver.resolveMx(name)),
    addresses: async (name) => {
      if (isIP(name) !== 0) return { type: 'records', records: [name] };
      const both = await Promise.all([
        withTimeout(resolver.resolve4(name)),
        withTimeout(resolver.resolve6(name)),
      ]);
      const records = both.flatMap((reply) => (reply.type === 'records' ? reply.records : []));
      if (records.length > 0) return { type: 'records', records };
      return both.find(({ type }) => type === 'failed') ?? both[0];
    },
    namesOf: (address) => withTimeout(resolver.reverse(address)),
  };
}

const toReply = <Entry>(records: readonly Entry[]): DnsReply<Entry> =>
  records.length > 0 ? { type: 'records', records } : { type: 'nothing', isKnownName: true };

function toFailure(error: unknown): DnsReply<never> {
  const code = errorCode(error) ?? String(error);
  if (code === 'ENODATA') return { type: 'nothing', isKnownName: true };
  if (code === 'ENOTFOUND') return { type: 'nothing', isKnownName: false };
  return { type: 'failed', reason: code };
}

export const describeFailed = (name: string, reason: string): string =>
  `DNS did not reply to the query for ${name} (${reason}), and may not reply to mail servers either. Try again. If the error remains, ask the operator of that domain's DNS.`;
