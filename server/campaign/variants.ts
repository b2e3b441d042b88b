// Variants of the page: folders in variants/, each with the words that differ. words-file.ts merges them.
import { statSync } from 'node:fs';
import path from 'node:path';

import { nameOf, namesIn } from '#server/campaign/campaign-folder.ts';
import { type Mistake, nearestName } from '#server/platform/mistakes.ts';

export const OWN_PAGE = 'a';
/** Mails, errors and form questions are the same for all variants. */
export const VARIANT_FILES = ['landing.yaml', 'interface.yaml', 'consent.yaml'] as const;
/** More variants would get too few visitors each to be compared. */
const MOST_VARIANTS = 4;

const NAME = /^[a-z][a-z0-9-]{0,15}$/;

const isHidden = (name: string): boolean => name.startsWith('.') || name.endsWith('~');

const isFolder = (place: string): boolean =>
  statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

export const variantsIn = (folder: string): string[] =>
  namesIn(path.join(folder, 'variants')).filter(
    (name) => !isHidden(name) && isFolder(path.join(folder, 'variants', name)),
  );

export const inVariant = (variant: string, file: string): string => path.join('variants', variant, file);

export function variantMistakes(folder: string): Mistake[] {
  const names = variantsIn(folder);
  const loose = namesIn(path.join(folder, 'variants')).filter(
    (name) => !isHidden(name) && !names.includes(name),
  );
  const place = (name: string) => nameOf(folder, `variants/${name}`);
  return [
    ...loose.map((name) => ({
      file: place(name),
      message: `is in no variant; put it into a folder, such as variants/b/${name}.`,
    })),
    ...names.flatMap((name) => {
      if (name === OWN_PAGE)
        return [
          {
            file: place(name),
            message: `${OWN_PAGE} is the page of the campaign itself; call this folder b.`,
          },
        ];
      return NAME.test(name)
        ? []
        : [
            {
              file: place(name),
              message:
                'a variant has a short name of small letters, digits and hyphens, such as b; call the folder so.',
            },
          ];
    }),
    ...(names.length > MOST_VARIANTS
      ? [
          {
            file: nameOf(folder, 'variants'),
            message: `holds ${names.length} variants, and ${MOST_VARIANTS} are the most; remove some.`,
          },
        ]
      : []),
    ...names.flatMap((name) => fileMistakes(folder, name)),
  ];
}

function fileMistakes(folder: string, variant: string): Mistake[] {
  const files = namesIn(path.join(folder, 'variants', variant)).filter((file) => !isHidden(file));
  if (files.length === 0)
    return [
      {
        file: nameOf(folder, `variants/${variant}`),
        message: 'is empty; put the words that differ into landing.yaml there, or remove the folder.',
      },
    ];
  return files
    .filter((file) => !VARIANT_FILES.some((known) => known === file))
    .map((file) => {
      const name = nearestName(file, VARIANT_FILES);
      const cure =
        name !== null
          ? `did you mean ${name}?`
          : `a variant may have ${VARIANT_FILES.join(', ')}; all others are the same for every variant.`;
      return {
        file: nameOf(folder, inVariant(variant, file)),
        message: `cannot differ in a variant; ${cure}`,
      };
    });
}
