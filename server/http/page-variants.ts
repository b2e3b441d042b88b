// Which variant of the page a request is answered with. It is drawn at random, and kept without a cookie: a browser that has the page
// says so with its entity tag, which begins with the name of the variant, also after another build. An address that was not opened
// before has no tag; there the page itself asks for the variant it knows (web/keep-variant.ts).
import type { IncomingHttpHeaders } from 'node:http';

import type { Resource } from '#server/http/send-resource.ts';
import { variantAskedFor } from '#shared/variants.ts';

/** For one browser alone: a cache that is shared would give everyone behind it the same variant. Always revalidated. */
export const VARIANT_CACHE_CONTROL = 'private, no-cache';

type Request = { readonly url?: string | undefined; readonly headers: IncomingHttpHeaders };

/**
 * @param pages by the names of their variants, two or more
 * @param random from 0 up to 1
 */
export function createChoosePage(
  pages: ReadonlyMap<string, Resource>,
  random: () => number,
): (request: Request) => Resource {
  const all = [...pages.values()];
  return ({ url = '', headers }) => {
    const asked = pages.get(variantAskedFor(url) ?? '');
    if (asked !== undefined) return asked;
    // Such as W/"b.Kx7…": the copy that this browser would like to use again.
    for (const [, name = ''] of (headers['if-none-match'] ?? '').slice(0, 500).matchAll(/"([a-z0-9-]+)\./g)) {
      const kept = pages.get(name);
      if (kept !== undefined) return kept;
    }
    return all[Math.floor(random() * all.length)]!;
  };
}
