export type Company = { readonly domain: string; readonly people: number };

export function mergeDomains(pages: readonly { readonly domains: readonly Company[] }[]): readonly Company[] {
  const sums = new Map<string, number>();
  for (const { domains } of pages)
    for (const { domain, people } of domains) sums.set(domain, (sums.get(domain) ?? 0) + people);
  return Array.from(sums, ([domain, people]) => ({ domain, people })).toSorted(
    (one, other) => other.people - one.people || one.domain.localeCompare(other.domain),
  );
}
