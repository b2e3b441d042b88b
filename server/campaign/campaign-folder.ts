import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { isFolder, PROJECT_FOLDER } from '#server/platform/files.ts';
import { type Mistake, type Mistakes, mistakesOf } from '#server/platform/mistakes.ts';
import { lineOfForeignCharacter, NOT_UTF_8 } from '#server/platform/text.ts';
import { errorCode } from '#server/platform/system-errors.ts';

/** Returns the path as the operator sees it: relative to the project if the campaign is in it. */
export function displayPath(folder: string, file: string): string {
  const fromProject = path.relative(PROJECT_FOLDER, folder);
  return path.join(fromProject.startsWith('..') ? folder : fromProject, file);
}

/**
 * Accepts any line ends and a byte order mark.
 * @returns lines that end with \n; null if the file is missing
 */
export function readText(folder: string, file: string): { type: 'text'; text: string } | Mistakes | null {
  const name = displayPath(folder, file);
  let content: Buffer;
  try {
    content = readFileSync(path.join(folder, file));
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    if (code === 'ENOENT') return null;
    return mistakesOf({
      file: name,
      message: `cannot be read (${code}). Make sure that it is a file that this user may read.`,
    });
  }
  const text = new TextDecoder().decode(content);
  const line = lineOfForeignCharacter(text);
  if (line === null) return { type: 'text', text: text.replaceAll(/\r\n?/g, '\n') };
  return mistakesOf({ file: name, line, message: NOT_UTF_8 });
}

export const missingFile = (folder: string, file: string): Mistake => ({
  file: displayPath(folder, file),
  message: 'is missing. Restore the file, or copy it from the project’s examples/ folder.',
});

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** Where operators keep files that the page no longer uses. */
const UNUSED = 'unused';
const NOT_CONTENT = /^\.|^Thumbs\.db$|^README(?:.*\.(?:md|txt))?$/i;

/** Returns the campaign's files, without hidden ones, notes and those in unused/. */
export function filesIn(folder: string, within = '', list: (folder: string) => string[] = namesIn): string[] {
  return list(path.join(folder, within))
    .filter((name) => !NOT_CONTENT.test(name) && (within !== '' || name !== UNUSED))
    .flatMap((name) => {
      const file = path.posix.join(within, name);
      return isFolder(path.join(folder, file)) ? filesIn(folder, file, list) : [file];
    });
}

/** @returns null if the file can be read */
export const brokenLink = (file: string): string | null =>
  existsSync(file) ? null : 'is a symbolic link to a missing file. Correct the link, or delete it';

/** Copies neither hidden files nor unused/. Follows links. */
export function copyFiles(from: string, to: string): void {
  const filter = (file: string) => {
    const within = path.relative(from, file);
    return within !== UNUSED && !path.basename(within).startsWith('.');
  };
  cpSync(from, to, { recursive: true, dereference: true, filter });
}

export const OWN_PAGE = 'a';
/** All variants share the mails, error messages and form questions. */
export const VARIANT_FILES = ['landing.yaml', 'interface.yaml', 'consent.yaml'] as const;
/** With more variants, each would get too few visitors for a comparison. */
const MAX_VARIANTS = 4;

const NAME = /^[a-z][a-z0-9-]{0,15}$/;

const isHidden = (name: string): boolean => name.startsWith('.') || name.endsWith('~');

export const variantsIn = (folder: string): string[] =>
  namesIn(path.join(folder, 'variants')).filter(
    (name) => !isHidden(name) && isFolder(path.join(folder, 'variants', name)),
  );

export const inVariant = (variant: string, file: string): string => path.join('variants', variant, file);

export function variantMistakes(folder: string): Mistake[] {
  const mistakeIn = (file: string, message: string) => ({ file: displayPath(folder, file), message });
  const names = variantsIn(folder);
  const mistakes = namesIn(path.join(folder, 'variants'))
    .filter((name) => !isHidden(name) && !(names.includes(name) && NAME.test(name) && name !== OWN_PAGE))
    .map((name) => mistakeIn(`variants/${name}`, INVALID_VARIANT));
  const tooMany = `contains ${names.length} variants, but at most ${MAX_VARIANTS} are allowed. Remove some.`;
  if (names.length > MAX_VARIANTS) mistakes.push(mistakeIn('variants', tooMany));
  for (const name of names) {
    const files = namesIn(path.join(folder, 'variants', name)).filter((file) => !isHidden(file));
    if (files.length === 0) mistakes.push(mistakeIn(`variants/${name}`, `is empty. ${MAY_CONTAIN}`));
    for (const file of files)
      if (!VARIANT_FILES.some((known) => known === file))
        mistakes.push(mistakeIn(inVariant(name, file), `is the same for all variants. ${MAY_CONTAIN}`));
  }
  return mistakes;
}

const INVALID_VARIANT = `must be a folder with a short name of lower-case letters, digits and hyphens, such as b. The name ${OWN_PAGE} is reserved for the campaign’s own page.`;
const MAY_CONTAIN = `A variant may only contain ${VARIANT_FILES.join(', ')}.`;
