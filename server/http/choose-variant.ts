import type { IncomingMessage } from 'node:http';

import type { Resource } from '#server/http/send-resource.ts';
import { variantAskedFor } from '#shared/funnel.ts';

/**
 * Chooses a variant at random. The browser keeps its variant without a cookie: the entity tag in its cache begins with the
 * variant's name. For a URL without a cached copy, the page itself requests its variant (web/keep-variant.ts).
 * @param pages at least two, by variant name
 */
export function createChooseVariant(
  pages: ReadonlyMap<string, Resource>,
  random: () => number,
): (request: Pick<IncomingMessage, 'url' | 'headers'>) => Resource {
  const all = [...pages.values()];
  return ({ url = '', headers }) => {
    const asked = pages.get(variantAskedFor(url) ?? '');
    if (asked !== undefined) return asked;
    for (const [, name = ''] of (headers['if-none-match'] ?? '').slice(0, 500).matchAll(/"([a-z0-9-]+)\./g)) {
      const kept = pages.get(name);
      if (kept !== undefined) return kept;
    }
    return all[Math.floor(random() * all.length)]!;
  };
}
