// The icons that a campaign may name beside those that the page draws itself: Tabler's, drawn like ours on a grid of 24 with one
// line (docs/decisions/0032). The package belongs to the build: an image that holds a built site does without it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { errorCode } from '#server/platform/error-code.ts';
import { byNearness, nearestName } from '#server/platform/nearest-name.ts';
import { DRAWN_ICONS } from '#shared/campaign-schema.ts';

/** What is read here of Iconify's format: markup by name, and other names of the same icons. */
type IconSet = {
  readonly icons: Readonly<Record<string, { readonly body: string }>>;
  readonly aliases: Readonly<Record<string, { readonly parent: string }>>;
};

/** How an icon of lines begins; the page says for all of them how lines are drawn. Others are filled, and not of one family. */
const LINES =
  /^<(?<tag>g|path) fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"/;

/** The markup of each icon of lines, by name. */
type Drawings = ReadonlyMap<string, string>;

let drawings: Drawings | null | undefined;

/** Read once, when a campaign first names an icon of the set; null where the package is not installed. */
function readDrawings(): Drawings | null {
  let set: IconSet;
  try {
    const file = fileURLToPath(import.meta.resolve('@iconify-json/tabler/icons.json'));
    set = JSON.parse(readFileSync(file, 'utf8')) as IconSet;
  } catch (error) {
    if (errorCode(error) === 'ERR_MODULE_NOT_FOUND' || errorCode(error) === 'ENOENT') return null;
    throw error;
  }
  const names = [
    ...Object.keys(set.icons).map((name) => [name, name] as const),
    ...Object.entries(set.aliases).map(([name, { parent }]) => [name, parent] as const),
  ];
  return new Map(
    names.flatMap(([name, of]) => {
      const body = set.icons[of]?.body ?? '';
      return LINES.test(body)
        ? [[name, body.replace(LINES, '<$<tag>').replace(/^<g>(.*)<\/g>$/s, '$1')]]
        : [];
    }),
  );
}

const isDrawnHere = (name: string): boolean => (DRAWN_ICONS as readonly string[]).includes(name);

/**
 * The lines of an icon of the set, as markup for an SVG on a grid of 24 by 24.
 * @returns undefined for one that the page draws itself
 */
export function iconDrawing(name: string): string | undefined {
  if (isDrawnHere(name)) return undefined;
  if (drawings === undefined) drawings = readDrawings();
  return drawings?.get(name);
}

/**
 * What is wrong with the name of an icon.
 * @returns a phrase that gives the nearest name; null when nothing is, or when the set is not installed
 */
export function iconMistake(name: string): string | null {
  if (isDrawnHere(name)) return null;
  if (drawings === undefined) drawings = readDrawings();
  if (drawings === null || drawings.has(name)) return null;
  const meant = meantBy(name.toLowerCase().replaceAll(/[\s_]+/g, '-'), [...DRAWN_ICONS, ...drawings.keys()]);
  return `there is no icon ${name}; did you mean ${meant}? All names: ${DRAWN_ICONS.join(', ')}, and those of tabler.io/icons (outline)`;
}

/** The shortest of names; of two, the first. */
const shortest = (names: readonly string[]): string | undefined =>
  names.reduce<string | undefined>(
    (best, name) => (best === undefined || name.length < best.length ? name : best),
    undefined,
  );

/** The name that was meant: a misspelt one, one with that word in it (chart-bar for chart), or a part of it (bulb for lightbulb). */
function meantBy(written: string, names: readonly string[]): string {
  const misspelt = nearestName(written, names, Math.max(1, Math.ceil(written.length / 4) - 1));
  if (misspelt !== null) return misspelt;
  const longer = shortest(names.filter((one) => written.length > 2 && one.split('-').includes(written)));
  const shorter = names
    .filter((one) => one.length > 3 && written.includes(one))
    .toSorted((one, other) => other.length - one.length);
  return (
    longer ??
    shorter[0] ??
    shortest(names.filter((one) => one.includes(written))) ??
    byNearness(written, names)[0] ??
    ''
  );
}
