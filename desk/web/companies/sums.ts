// The server counts a part of all leads at a time: what companies have is the sum of all its answers.

export type Company = { readonly domain: string; readonly people: number };

/** The sums by domain, the largest first; of the same size by name. */
export function sumsOf(answers: readonly { readonly domains: readonly Company[] }[]): readonly Company[] {
  const sums = new Map<string, number>();
  for (const { domains } of answers)
    for (const { domain, people } of domains) sums.set(domain, (sums.get(domain) ?? 0) + people);
  return Array.from(sums, ([domain, people]) => ({ domain, people })).toSorted(
    (one, other) => other.people - one.people || one.domain.localeCompare(other.domain),
  );
}
