// Which sources people came from: a misspelt one would choose nobody, and look like a campaign that failed.
import { readAttribution, shownSource, sourceOf } from '#server/attribution/source.ts';
import { attributionPages } from '#server/db/across/lead-pages.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { byNearness } from '#server/platform/nearest-name.ts';

/** Strangers can invent sources, so there is a bound. */
const SOURCES_KEPT = 10_000;
const SOURCES_NAMED = 12;

/**
 * Looks for a source among leads and people who asked for a code.
 * @returns null when anyone came from it, or when there is no source at all; else a sentence with those there are, the nearest name first
 */
export async function complainOfSource(db: Db, source: string): Promise<string | null> {
  const names = new Set<string>();
  for await (const attributions of attributionPages(db))
    for (const json of attributions) {
      const name = sourceOf(readAttribution(json));
      if (name === source) return null;
      // A link can hold an address, and this sentence may be passed on.
      if (shownSource(name) === name && names.size < SOURCES_KEPT) names.add(name);
    }
  if (names.size === 0) return null;
  const ordered = byNearness(source, names);
  const further = ordered.length - SOURCES_NAMED;
  return `No one came from “${source}”. These sources are known: ${ordered.slice(0, SOURCES_NAMED).join(', ')}${further > 0 ? ` and ${further} more` : ''}.`;
}
