// Decides which variant of the page a browser gets.
import type { IncomingMessage } from 'node:http';

import type { Resource } from '#server/http/send-resource.ts';
import { variantAskedFor } from '#shared/funnel.ts';

/** A shared cache would give all its users the same variant. */
export const VARIANT_CACHE_CONTROL = 'private, no-cache';

/**
 * Chooses a variant at random. The browser keeps its variant without a cookie: the entity tag in its cache begins with the
 * variant's name. For a URL without a cached copy, the page itself requests its variant (web/keep-variant.ts).
 * @param pages at least two, by variant name
 */
export function createChooseVariant(pages: ReadonlyMap<string, Resource>) {
  const all = [...pages.values()];
  return ({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): Resource => {
    const tags = (headers['if-none-match'] ?? '').slice(0, 500).matchAll(/"([a-z0-9-]+)\./g);
    const names = [variantAskedFor(url) ?? '', ...Array.from(tags, ([, name = '']) => name)];
    const known = names.find((name) => pages.has(name));
    return known === undefined ? all[Math.floor(Math.random() * all.length)]! : pages.get(known)!;
  };
}
