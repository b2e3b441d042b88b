// Rejects misspelt sources, because an empty list would look like a failed campaign.
import { campaignOf, readAttribution, shownSource, sourceOf } from '#server/attribution/attribution.ts';
import { newestAttributions } from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { isSourceCounted } from '#server/db/tables/counts.ts';
import type { LeadSelection } from '#desk/people/selection.ts';
import { listedUpTo } from '#desk/printable.ts';
import { byNearness } from '#server/platform/mistakes.ts';

/** Imported people have no origin. */
export async function complainOfSelection(
  db: Db,
  { state, source, campaign }: LeadSelection,
): Promise<string | null> {
  if (state === 'imported') return null;
  const complaint = source === undefined ? null : await complainOfOrigin(db, 'source', source);
  return complaint ?? (campaign === undefined ? null : complainOfOrigin(db, 'campaign', campaign));
}

const NAMES_KEPT = 10_000;
const NAMES_LISTED = 12;

const KINDS = {
  source: { nameOf: sourceOf, are: 'Known sources' },
  campaign: { nameOf: campaignOf, are: 'Known campaigns' },
} as const;

/**
 * Searches leads, requests for codes and views.
 * @returns a sentence that suggests the nearest name; null if the name is known, or if no source is known
 */
export async function complainOfOrigin(
  db: Db,
  kind: keyof typeof KINDS,
  wanted: string,
): Promise<string | null> {
  const { nameOf, are } = KINDS[kind];
  if (kind === 'source' && (await isSourceCounted(db, shownSource(wanted)))) return null;
  const names = new Set<string>();
  for await (const groups of newestAttributions(db)) {
    for (const { attribution } of groups) {
      const name = nameOf(readAttribution(attribution));
      if (name === undefined) continue;
      const shown = shownSource(name);
      if (name === wanted || shown === wanted) return null;
      // A link can contain an e-mail address, and this sentence may be shared.
      if (shown === name && names.size < NAMES_KEPT) names.add(name);
    }
  }
  if (names.size === 0) return null;
  const ordered = byNearness(wanted, names);
  return `Nobody came from “${wanted}”. ${are}: ${listedUpTo(NAMES_LISTED, ordered)}.`;
}
