// Tabler icons that a campaign may name in addition to the page's own (docs/decisions/0032). The package is
// needed only for the build.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { errorCode } from '#server/platform/system-errors.ts';
import { byNearness, nearestName } from '#server/platform/mistakes.ts';
import { DRAWN_ICONS } from '#shared/campaign-schema.ts';

type IconSet = {
  readonly icons: Readonly<Record<string, { readonly body: string }>>;
  readonly aliases: Readonly<Record<string, { readonly parent: string }>>;
};

/** Every outline icon begins with this. Filled icons are excluded: they do not match the page's own. */
const LINES =
  /^<(?<tag>g|path) fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2"/;

type Drawings = ReadonlyMap<string, string>;

let drawings: Drawings | null | undefined;

/** Read when a campaign first names an icon of the set; null if the package is not installed. */
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

/** @returns SVG markup on a grid of 24 by 24; undefined for an icon of the page */
export function iconDrawing(name: string): string | undefined {
  if (isDrawnHere(name)) return undefined;
  if (drawings === undefined) drawings = readDrawings();
  return drawings?.get(name);
}

/** @returns a phrase with the nearest name; null if the name is right or the set is not installed */
export function iconMistake(name: string): string | null {
  if (isDrawnHere(name)) return null;
  if (drawings === undefined) drawings = readDrawings();
  if (drawings === null || drawings.has(name)) return null;
  const meant = meantBy(name.toLowerCase().replaceAll(/[\s_]+/g, '-'), [...DRAWN_ICONS, ...drawings.keys()]);
  return `there is no icon ${name}; did you mean ${meant}? All names: ${DRAWN_ICONS.join(', ')}, and those of tabler.io/icons (outline)`;
}

const shortest = (names: readonly string[]): string | undefined =>
  names.reduce<string | undefined>(
    (best, name) => (best === undefined || name.length < best.length ? name : best),
    undefined,
  );

/** A misspelt name, a longer one (chart-bar for chart), or a shorter one (bulb for lightbulb). */
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
