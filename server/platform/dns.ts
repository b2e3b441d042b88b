import type { MxRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { errorCode } from '#server/platform/system-errors.ts';

type Answer<Entry> =
  | { readonly type: 'records'; readonly records: readonly Entry[] }
  | { readonly type: 'nothing'; readonly isKnownName: boolean }
  | { readonly type: 'failed'; readonly reason: string };

export type Dns = {
  /** The parts of each TXT record are joined. */
  readonly texts: (name: string) => Promise<Answer<string>>;
  readonly mailServers: (name: string) => Promise<Answer<MxRecord>>;
  /** An IP address is its own. */
  readonly addresses: (name: string) => Promise<Answer<string>>;
  readonly namesOf: (address: string) => Promise<Answer<string>>;
};

const TRY_MS = 2_000;
const TRIES = 2;
/** Timeout of one query, across all servers. */
const ANSWER_WITHIN_MS = 5_000;

/** @param servers the machine's by default */
export function createDns(servers: readonly string[] | undefined, signal: AbortSignal): Dns {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  const ask = <Entry>(question: Promise<readonly Entry[]>): Promise<Answer<Entry>> =>
    Promise.race([
      question.then(toAnswer, toFailure),
      setTimeout(ANSWER_WITHIN_MS, { type: 'failed', reason: 'no answer in time' } as const, { ref: false }),
    ]);
  return {
    texts: (name) => ask(resolver.resolveTxt(name).then((texts) => texts.map((parts) => parts.join('')))),
    mailServers: (name) => ask(resolver.resolveMx(name)),
    addresses: async (name) => {
      if (isIP(name) !== 0) return { type: 'records', records: [name] };
      const both = await Promise.all([ask(resolver.resolve4(name)), ask(resolver.resolve6(name))]);
      const records = both.flatMap((answer) => (answer.type === 'records' ? answer.records : []));
      if (records.length > 0) return { type: 'records', records };
      return both.find(({ type }) => type === 'failed') ?? both[0];
    },
    namesOf: (address) => ask(resolver.reverse(address)),
  };
}

const toAnswer = <Entry>(records: readonly Entry[]): Answer<Entry> =>
  records.length > 0 ? { type: 'records', records } : { type: 'nothing', isKnownName: true };

function toFailure(error: unknown): Answer<never> {
  const code = errorCode(error) ?? String(error);
  if (code === 'ENODATA') return { type: 'nothing', isKnownName: true };
  if (code === 'ENOTFOUND') return { type: 'nothing', isKnownName: false };
  return { type: 'failed', reason: code };
}

export const describeFailed = (name: string, reason: string): string =>
  `DNS did not answer the query for ${name} (${reason}), and may not answer mail servers either. Try again. If the error remains, ask the operator of that domain's DNS.`;
