// Rejects misspelt sources, because an empty list would look like a failed campaign.
import {
  campaignOf,
  isCalled,
  mayBeShown,
  readAttribution,
  shownSource,
  sourceOf,
} from '#server/attribution/attribution.ts';
import { newestAttributions } from '#server/db/queries/report-figures.ts';
import type { Db } from '#server/db/engine/connect.ts';
import { isSourceCounted } from '#server/db/tables/counts.ts';
import type { LeadSelection } from '#desk/people/selection.ts';
import { listedUpTo } from '#desk/printable.ts';
import { byNearness } from '#server/platform/mistakes.ts';

/** Imported people have no origin. */
export async function explainUnknownOrigins(
  db: Db,
  { state, source, campaign }: LeadSelection,
): Promise<string | null> {
  if (state === 'imported') return null;
  const unknownOrigin = source === undefined ? null : await explainUnknownOrigin(db, 'source', source);
  return unknownOrigin ?? (campaign === undefined ? null : explainUnknownOrigin(db, 'campaign', campaign));
}

const MAX_NAMES = 10_000;
const NAMES_LISTED = 12;

const KINDS = {
  source: { nameOf: sourceOf, label: 'Known sources' },
  campaign: { nameOf: campaignOf, label: 'Known campaigns' },
} as const;

/**
 * Searches leads, requests for codes and views.
 * @returns a sentence that suggests the nearest name; null if the name is known, or if no source is known
 */
export async function explainUnknownOrigin(
  db: Db,
  kind: keyof typeof KINDS,
  wanted: string,
): Promise<string | null> {
  const { nameOf, label } = KINDS[kind];
  if (kind === 'source' && (await isSourceCounted(db, shownSource(wanted)))) return null;
  const knownNames = new Set<string>();
  for await (const groups of newestAttributions(db)) {
    for (const { attribution } of groups) {
      const name = nameOf(readAttribution(attribution));
      if (name === undefined) continue;
      if (isCalled(name, wanted)) return null;
      // A link can contain an e-mail address, and this sentence may be shared.
      if (mayBeShown(name) && knownNames.size < MAX_NAMES) knownNames.add(name);
    }
  }
  if (knownNames.size === 0) return null;
  const ordered = byNearness(wanted, knownNames);
  return `Nobody came from “${wanted}”. ${label}: ${listedUpTo(NAMES_LISTED, ordered)}.`;
}
