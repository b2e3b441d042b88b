// The variants of the page: folders in variants/ of the campaign, each with the words that differ. The page of the campaign itself is
// variant "a". What a variant may hold is said here; how its words are laid over the others, in missing-and-wrong-words.ts.
import { statSync } from 'node:fs';
import path from 'node:path';

import { nameOf, namesIn } from '#server/campaign/pictures-and-films.ts';
import { nearestName } from '#server/platform/nearest-name.ts';

/** The name of the campaign's own page, where it has variants. */
export const OWN_PAGE = 'a';
/** The files of words that a variant may have. Those of the server (mails, errors, questions of the form) are the same for all. */
export const VARIANT_FILES = ['landing.yaml', 'interface.yaml', 'consent.yaml'] as const;
/** More would each get too few visitors to be judged. */
const MOST_VARIANTS = 4;

const NAME = /^[a-z][a-z0-9-]{0,15}$/;

/** Editors and systems leave such files behind. */
const isHidden = (name: string): boolean => name.startsWith('.') || name.endsWith('~');

const isFolder = (place: string): boolean =>
  statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

/** The names of a campaign's variants beside its own page, in order; none where it has no variants/. */
export const variantsIn = (folder: string): string[] =>
  namesIn(path.join(folder, 'variants')).filter(
    (name) => !isHidden(name) && isFolder(path.join(folder, 'variants', name)),
  );

/** Where a file of a variant stands within the campaign folder. */
export const inVariant = (variant: string, file: string): string => path.join('variants', variant, file);

/** @returns what is wrong with the folders and files of variants/, whatever stands in them: one sentence each */
export function variantMistakes(folder: string): string[] {
  const names = variantsIn(folder);
  const loose = namesIn(path.join(folder, 'variants')).filter(
    (name) => !isHidden(name) && !names.includes(name),
  );
  return [
    ...loose.map(
      (name) =>
        `${nameOf(folder, `variants/${name}`)}: is in no variant; put it into a folder, such as variants/b/${name}.`,
    ),
    ...names.flatMap((name) => nameMistakes(folder, name)),
    ...(names.length > MOST_VARIANTS
      ? [
          `${nameOf(folder, 'variants')}: holds ${names.length} variants, and ${MOST_VARIANTS} are the most; take some out.`,
        ]
      : []),
    ...names.flatMap((name) => fileMistakes(folder, name)),
  ];
}

function nameMistakes(folder: string, name: string): string[] {
  const place = nameOf(folder, `variants/${name}`);
  if (name === OWN_PAGE)
    return [`${place}: ${OWN_PAGE} is the page of the campaign itself; call this folder b.`];
  return NAME.test(name)
    ? []
    : [
        `${place}: a variant has a short name of small letters, digits and hyphens, such as b; call the folder so.`,
      ];
}

function fileMistakes(folder: string, variant: string): string[] {
  const files = namesIn(path.join(folder, 'variants', variant)).filter((file) => !isHidden(file));
  const place = (file: string) => nameOf(folder, inVariant(variant, file));
  if (files.length === 0)
    return [
      `${nameOf(folder, `variants/${variant}`)}: is empty; put the words that differ into landing.yaml there, or take the folder away.`,
    ];
  return files
    .filter((file) => !VARIANT_FILES.some((known) => known === file))
    .map((file) => {
      const name = nearestName(file, VARIANT_FILES);
      const cure =
        name !== null
          ? `did you mean ${name}?`
          : `a variant may have ${VARIANT_FILES.join(', ')}; all others are the same for every variant.`;
      return `${place(file)}: cannot differ in a variant; ${cure}`;
    });
}
